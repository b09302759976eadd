//! The messages on a task, in the order in which they were posted.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};
use uuid::Uuid;

use super::{AgentName, Content, OutboxEntry, TaskId, Timestamp, objects::Objects};

/// The name of a message or progress entry, given out by whoever makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageId(Uuid);

impl MessageId {
    /// The id with this number.
    pub fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid)
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One message on a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Message {
    /// Names the message.
    pub id: MessageId,
    /// The task it belongs to.
    pub task_id: TaskId,
    /// Who posted it.
    pub author: AgentName,
    /// When. Strictly increases within a thread.
    pub timestamp: Timestamp,
    /// What it says.
    pub content: Content,
}

/// All messages on one task, oldest first, with strictly increasing timestamps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Thread(Vec<Message>);

impl Thread {
    /// The messages, oldest first.
    pub fn messages(&self) -> &[Message] {
        &self.0
    }

    /// The moment at which a message posted now is stamped.
    #[must_use]
    pub fn stamp(&self, now: Timestamp) -> Timestamp {
        now.following(self.0.last().map(|it| it.timestamp))
    }

    /// Adds a message at the end, later by a millisecond than the last one if its own time is not.
    pub fn post(&mut self, mut message: Message) {
        message.timestamp = self.stamp(message.timestamp);
        self.0.push(message);
    }

    /// Adds those messages of a task's outbox that are not here yet; says whether there were any.
    ///
    /// Readers and writers use this one rule, so that both give a message the same timestamp.
    pub fn receive(&mut self, outbox: &[OutboxEntry]) -> bool {
        let missing: Vec<_> = outbox
            .iter()
            .filter_map(OutboxEntry::message)
            .filter(|it| !self.contains(it.id))
            .cloned()
            .collect();
        let any = !missing.is_empty();
        for message in missing {
            self.post(message);
        }
        any
    }

    /// Whether the message is here.
    pub fn contains(&self, id: MessageId) -> bool {
        // From the end, where an entry that is looked for was put.
        self.0.iter().rev().any(|it| it.id == id)
    }

    /// The first message that says it belongs to another task, if one does.
    pub fn stranger(&self, task: TaskId) -> Option<&Message> {
        self.0.iter().find(|it| it.task_id != task)
    }
}

impl<'de> Deserialize<'de> for Thread {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let messages = Vec::deserialize(Objects(deserializer))?;
        Self::try_from(messages).map_err(de::Error::custom)
    }
}

impl TryFrom<Vec<Message>> for Thread {
    type Error = ThreadError;

    fn try_from(messages: Vec<Message>) -> Result<Self, ThreadError> {
        in_order(messages.iter().map(|it| (it.id, it.timestamp)))?;
        Ok(Self(messages))
    }
}

/// Checks what every list of entries keeps: ids that differ, timestamps that increase.
pub(super) fn in_order(
    entries: impl Iterator<Item = (MessageId, Timestamp)>,
) -> Result<(), ThreadError> {
    let mut seen = std::collections::HashSet::new();
    let mut last = None;
    for (id, timestamp) in entries {
        if !seen.insert(id) {
            return Err(ThreadError::Twice { id });
        }
        if last.is_some_and(|last| timestamp <= last) {
            return Err(ThreadError::Order { id });
        }
        last = Some(timestamp);
    }
    Ok(())
}

/// A list of entries that the server cannot have written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThreadError {
    /// Two entries with one id.
    #[error("two entries have the id {id}: remove one or give it another UUID")]
    Twice {
        /// The id.
        id: MessageId,
    },
    /// An entry that is not later than the one before it.
    #[error("the entry {id} is not later than the one before it: timestamps have to increase")]
    Order {
        /// The entry's id.
        id: MessageId,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(number: u128, second: u32) -> Message {
        Message {
            id: MessageId(Uuid::from_u128(number)),
            task_id: TaskId::from_number(1),
            author: AgentName::from_words("claude").unwrap(),
            timestamp: format!("2026-11-30T09:00:{second:02}Z").parse().unwrap(),
            content: Content::try_from("hello".to_owned()).unwrap(),
        }
    }

    #[test]
    fn posting_keeps_timestamps_increasing() {
        let mut thread = Thread::default();
        for second in [5, 5, 3, 9] {
            thread.post(message(
                u128::from(second) + thread.0.len() as u128 * 100,
                second,
            ));
        }
        let stamps: Vec<_> = thread
            .messages()
            .iter()
            .map(|it| it.timestamp.to_string())
            .collect();
        assert_eq!(
            stamps,
            [
                "09:00:05.000Z",
                "09:00:05.001Z",
                "09:00:05.002Z",
                "09:00:09.000Z"
            ]
            .map(|time| format!("2026-11-30T{time}"))
        );
        assert_eq!(Thread::try_from(thread.0.clone()), Ok(thread));
    }

    #[test]
    fn an_outbox_is_received_once_and_stamped_alike_by_all() {
        let outbox = [OutboxEntry::Message(message(7, 1))];
        let mut written = Thread::try_from(vec![message(1, 5)]).unwrap();
        let mut read = written.clone();
        assert!(written.receive(&outbox));
        assert!(read.receive(&outbox));
        assert_eq!(written, read);
        assert!(!written.receive(&outbox), "a message was received twice");
        assert_eq!(written.messages().len(), 2);
    }

    #[test]
    fn what_the_server_cannot_have_written_is_refused() {
        let twice = vec![message(1, 1), message(1, 2)];
        assert!(matches!(
            Thread::try_from(twice),
            Err(ThreadError::Twice { .. })
        ));
        let back = vec![message(1, 2), message(2, 2)];
        assert!(matches!(
            Thread::try_from(back),
            Err(ThreadError::Order { .. })
        ));
        let thread = Thread::try_from(vec![message(1, 1)]).unwrap();
        assert_eq!(thread.stranger(TaskId::from_number(1)), None);
        assert!(thread.stranger(TaskId::from_number(2)).is_some());
    }
}
