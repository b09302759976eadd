//! What a thread and a progress file have in common: entries that are only ever added.
//!
//! Responsibility: where such a log lies, and how an entry gets into it, from a caller or from the
//! outbox of its task.

use serde::{Serialize, de::DeserializeOwned};

use super::place::Folder;
use crate::domain::{Message, OutboxEntry, ProgressEntry, ProgressLog, TaskId, Thread};

/// A file of entries that belongs to a task.
pub(crate) trait Log: Clone + Default + PartialEq + Serialize + DeserializeOwned {
    /// One entry.
    type Entry: Clone;

    /// Where such files lie.
    const FOLDER: Folder;

    /// Where those of archived tasks lie.
    const ARCHIVE: Folder;

    /// All entries, oldest first.
    fn entries(&self) -> &[Self::Entry];

    /// Adds those entries of another copy of this log that are missing here; says whether there were any.
    fn join(&mut self, other: &Self) -> bool {
        let entries: Vec<_> = other.entries().iter().cloned().map(Self::queued).collect();
        self.receive(&entries)
    }

    /// Adds what is missing of a task's outbox; says whether anything was.
    fn receive(&mut self, outbox: &[OutboxEntry]) -> bool;

    /// Adds an entry.
    fn append(&mut self, entry: Self::Entry);

    /// Whether the outbox entry is one for this log and has arrived.
    fn has(&self, entry: &OutboxEntry) -> bool;

    /// The entry on its way.
    fn queued(entry: Self::Entry) -> OutboxEntry;

    /// Why this cannot be the log of that task, if it cannot.
    fn misplaced(&self, task: TaskId) -> Option<String>;
}

impl Log for Thread {
    type Entry = Message;

    const FOLDER: Folder = Folder::Messages;
    const ARCHIVE: Folder = Folder::ArchiveMessages;

    fn entries(&self) -> &[Message] {
        self.messages()
    }

    fn receive(&mut self, outbox: &[OutboxEntry]) -> bool {
        Self::receive(self, outbox)
    }

    fn append(&mut self, entry: Message) {
        self.post(entry);
    }

    fn has(&self, entry: &OutboxEntry) -> bool {
        entry.message().is_some_and(|it| self.contains(it.id))
    }

    fn queued(entry: Message) -> OutboxEntry {
        OutboxEntry::Message(entry)
    }

    fn misplaced(&self, task: TaskId) -> Option<String> {
        let stranger = self.stranger(task)?;
        let reason = format!(
            "message {} belongs to {}: move it there",
            stranger.id, stranger.task_id
        );
        Some(reason)
    }
}

impl Log for ProgressLog {
    type Entry = ProgressEntry;

    const FOLDER: Folder = Folder::Progress;
    const ARCHIVE: Folder = Folder::ArchiveProgress;

    fn entries(&self) -> &[ProgressEntry] {
        self.history()
    }

    fn receive(&mut self, outbox: &[OutboxEntry]) -> bool {
        Self::receive(self, outbox)
    }

    fn append(&mut self, entry: ProgressEntry) {
        self.record(entry);
    }

    fn has(&self, entry: &OutboxEntry) -> bool {
        entry.progress().is_some_and(|it| self.contains(it.id))
    }

    fn queued(entry: ProgressEntry) -> OutboxEntry {
        OutboxEntry::Progress(entry)
    }

    fn misplaced(&self, _: TaskId) -> Option<String> {
        None
    }
}
