//! The lifecycle of a task as types: no clock, no disk, no protocol.
//!
//! A status is a type ([`Pending`], [`Claimed`], …), a task is a [`Task<S>`], and its transitions are the only way
//! from one to the next. [`AnyTask`] is the same task once its status is known only at run time: what a file holds.
//! Everything a caller can send is parsed here into a type that cannot hold a wrong value.

mod agent;
mod any_task;
mod id;
mod message;
mod objects;
mod outbox;
mod present;
mod progress;
mod state;
mod task;
mod text;
mod time;
mod transition;
mod values;

pub use agent::{AgentName, AgentNameError, RequestedName};
pub use any_task::AnyTask;
pub use id::{ParseTaskIdError, TaskId};
pub use message::{Message, MessageId, Thread, ThreadError};
pub use outbox::OutboxEntry;
pub use progress::{Percent, PercentError, ProgressEntry, ProgressError, ProgressLog, Report};
pub use state::{
    Approved, Assigned, Cancelled, Claimed, Completed, Facts, InProgress, Pending,
    RevisionRequested, Rework, State, Status, Submitted,
};
pub use task::{HistoryEntry, NewTask, RecordError, Stamp, Task, Work};
pub use text::{
    Content, Description, DirectoryPath, ExpectedOutput, FilePath, Note, Reference, Tag, TextError,
    Title,
};
pub use time::{ParseTimestampError, Timestamp};
pub use transition::{
    Action, Approvable, Archivable, Authority, Cancellable, Claimable, Completable, Denial,
    OwnWork, Refused, Reopenable, Returnable, Startable, Transition, UnknownAction,
};
pub use values::{Bounded, BoundedError, FormatVersion, Metadata, MetadataError, Submission};

pub(crate) use objects::Objects;
