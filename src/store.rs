//! The store: documents in a directory that several processes share.
//!
//! Responsibility: everything that touches the file system on behalf of the task queue. One
//! document is one JSON file, guarded by one lock, replaced by one rename; see `lock` for the
//! protocol and why no update is ever lost. [`Store`] is the narrow, typed seam over it that the
//! layer above sees: load, update, create, append, list, watch.
//!
//! Limits: the store blocks the calling thread, at most for the patience of its settings; call it
//! where blocking is allowed. It knows tasks as values and not what may be done to them.

mod archive;
mod dir;
mod doctor;
mod document;
mod durability;
mod engine;
mod error;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod listing;
pub(crate) mod location;
mod lock;
mod log;
mod place;
mod presence;
mod root;
pub(crate) mod scratch;
mod sequence;
mod tasks;
#[cfg(test)]
mod testing;
mod watch;

pub(crate) use archive::{Archiving, Restoring};
pub(crate) use doctor::{Content, Finding, Ground, Report, Treatment};
pub(crate) use durability::{Durability, UnknownDurability};
pub(crate) use engine::Settings;
pub(crate) use error::{StoreError, one_line};
pub(crate) use listing::{Listing, Unreadable};
pub(crate) use log::Log;
pub(crate) use presence::{Card, Holder, Presence, Taken};
pub(crate) use tasks::{Appended, Found, Store};
