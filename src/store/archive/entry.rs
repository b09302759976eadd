//! What a task's file holds: the task, or a tombstone that stands for it while it is in the archive.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::read_copy;
use crate::domain::{AgentName, AnyTask, FormatVersion, Objects, Stamp, Status, TaskId, Timestamp};
use crate::store::document::Document;
use crate::store::error::{StoreError, command_line};
use crate::store::listing::{self, place};
use crate::store::lock::Lock;
use crate::store::place::Folder;
use crate::store::root::Root;

/// What a task's file holds.
#[derive(Debug)]
pub(in crate::store) enum Entry {
    /// The task.
    Live(Box<AnyTask>),
    /// What stands for a task that is in the archive.
    Archived(Tombstone),
}

/// What stands for an archived task where it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::store) struct Tombstone {
    #[serde(default)]
    format_version: FormatVersion,
    archived: Yes,
    id: TaskId,
    status: Status,
    version: u64,
    archived_at: Timestamp,
    archived_by: AgentName,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    restoring: bool,
}

/// `true`, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "bool", into = "bool")]
struct Yes;

impl Entry {
    pub(in crate::store) fn id(&self) -> TaskId {
        match self {
            Self::Live(task) => task.id(),
            Self::Archived(tombstone) => tombstone.id,
        }
    }

    pub(in crate::store) fn status(&self) -> Status {
        match self {
            Self::Live(task) => task.status(),
            Self::Archived(tombstone) => tombstone.status,
        }
    }

    /// Reads what stands for a task. `None`: nothing does.
    pub(in crate::store) fn read(root: &Root, id: TaskId) -> Result<Option<Self>, StoreError> {
        let place = place(Folder::Tasks, id);
        listing::checked(&root.path_of(&place), id, root.read(&place)?)
    }

    /// Reads what stands for a task whose lock is held.
    pub(in crate::store) fn locked(lock: &Lock, id: TaskId) -> Result<Option<Self>, StoreError> {
        listing::checked(&lock.path(), id, lock.read()?)
    }

    /// The task, to be changed: one in the archive is refused.
    pub(in crate::store) fn live(self, root: &Root) -> Result<AnyTask, StoreError> {
        match self {
            Self::Live(task) => Ok(*task),
            Self::Archived(Tombstone { id, .. }) => {
                let command = command_line(root.dir().path(), &format!("restore {id}"));
                Err(StoreError::Archived { id, command })
            }
        }
    }
}

impl Document for Entry {
    fn parse(text: &str) -> serde_json::Result<Self> {
        match serde_json::from_str(text) {
            Ok(task) => Ok(Self::Live(Box::new(task))),
            Err(_) if is_tombstone(text) => serde_json::from_str(text).map(Self::Archived),
            Err(error) => Err(error),
        }
    }

    fn explain(text: &str) -> String {
        if is_tombstone(text) {
            Tombstone::explain(text)
        } else {
            AnyTask::explain(text)
        }
    }
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Live(task) => task.serialize(serializer),
            Self::Archived(tombstone) => tombstone.serialize(serializer),
        }
    }
}

impl Tombstone {
    /// What is to stand for a task that is archived now.
    pub(super) fn of(task: &AnyTask, stamp: &Stamp) -> Self {
        Self {
            format_version: FormatVersion,
            archived: Yes,
            id: task.id(),
            status: task.status(),
            version: task.version(),
            archived_at: stamp.at,
            archived_by: stamp.actor.clone(),
            restoring: false,
        }
    }

    pub(in crate::store) fn status(&self) -> Status {
        self.status
    }

    /// The same, while it is being restored.
    pub(super) fn marked(self) -> Self {
        Self {
            restoring: true,
            ..self
        }
    }

    /// Whether a restore has begun and not ended.
    pub(in crate::store) fn is_restoring(&self) -> bool {
        self.restoring
    }

    /// Reads the task that this stands for.
    pub(in crate::store) fn task(&self, root: &Root) -> Result<AnyTask, StoreError> {
        let place = place(Folder::ArchiveTasks, self.id);
        let corrupt = |reason| StoreError::corrupt(root.path_of(&place), reason);
        let Some(task) = read_copy(root, self.id)? else {
            let reason = format!("it is missing, though {} is in the archive", self.id);
            return Err(corrupt(reason + ": put it back"));
        };
        if (task.version(), task.status()) != (self.version, self.status) {
            let reason = format!(
                "it is at version {} ({}), expected {} ({}): undo the edit",
                task.version(),
                task.status(),
                self.version,
                self.status
            );
            return Err(corrupt(reason));
        }
        Ok(task)
    }
}

impl Serialize for Tombstone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Tombstone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let tombstone = Self::deserialize(Objects(deserializer))?;
        if Status::ARCHIVABLE.contains(&tombstone.status) {
            return Ok(tombstone);
        }
        let wrong = format!(
            "status: no {} task is archived: undo the edit",
            tombstone.status
        );
        Err(de::Error::custom(wrong))
    }
}

impl From<Yes> for bool {
    fn from(_: Yes) -> Self {
        true
    }
}

impl TryFrom<bool> for Yes {
    type Error = &'static str;

    fn try_from(value: bool) -> Result<Self, Self::Error> {
        value
            .then_some(Self)
            .ok_or("expected true: to bring a task back, run `ai-coord-mcp restore`")
    }
}

/// Whether the text says that it stands for an archived task, whatever else is wrong with it.
fn is_tombstone(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Header {
        #[expect(dead_code, reason = "it is there or not")]
        archived: serde::de::IgnoredAny,
    }
    serde_json::from_str::<Header>(text).is_ok()
}
