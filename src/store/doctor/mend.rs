//! What can be done about what is wrong: only what cannot lose data.
//!
//! A corrupt file is moved aside only when its task is named. The move is no commit: whoever was stopped before it may
//! come to it late. So what was moved is looked at again, and put back if it is not what was judged.

use super::{Finding, Treatment};
use crate::domain::{AnyTask, ProgressLog, TaskId, Thread};
use crate::store::archive::Entry;
use crate::store::dir::{Dir, Stat};
use crate::store::document;
use crate::store::error::StoreError;
use crate::store::listing::{self, place};
use crate::store::lock::{self, Lock};
use crate::store::log::Log;
use crate::store::place::{Folder, Place};
use crate::store::root::{QUARANTINE, Root};
use crate::store::sequence;
use crate::store::tasks::Store;

/// What was done, and what could not be.
pub(super) fn treat(store: &Store, treatment: &Treatment) -> (Vec<String>, Vec<Finding>) {
    let mut done = Vec::new();
    let mut failed = Vec::new();
    let mut note = |outcome: Result<Vec<String>, StoreError>| match outcome {
        Ok(lines) => done.extend(lines),
        Err(error) => {
            let next = "see the reason, then run doctor again";
            failed.push(Finding::new(
                "treatment",
                store.directory(),
                error.to_string(),
                next,
            ));
        }
    };
    for id in &treatment.quarantine {
        note(quarantine(store, *id));
    }
    if treatment.fix {
        note(sweep(store));
        note(count(store));
        note(deliver(store));
    }
    (done, failed)
}

fn sweep(store: &Store) -> Result<Vec<String>, StoreError> {
    let Some(locks) = existing(store)?.and_then(|root| root.existing_locks().transpose()) else {
        return Ok(Vec::new());
    };
    let locks = locks?;
    let before = locks.names()?.len();
    lock::sweep(&locks);
    let swept = before.saturating_sub(locks.names()?.len());
    Ok(match swept {
        0 => Vec::new(),
        1 => vec!["removed 1 leftover from .locks".to_owned()],
        many => vec![format!("removed {many} leftovers from .locks")],
    })
}

fn count(store: &Store) -> Result<Vec<String>, StoreError> {
    let Some(root) = existing(store)? else {
        return Ok(Vec::new());
    };
    let highest = listing::highest(&root)?;
    match sequence::last(&root) {
        Ok(last) if last.unwrap_or_default() < highest => {
            let last = sequence::raise(store.engine(), highest)?;
            Ok(vec![format!("set the number last given out to {last}")])
        }
        // What cannot be read is for a person to judge; it is reported as it is.
        Ok(_) | Err(_) => Ok(Vec::new()),
    }
}

/// Brings what is on its way to where it belongs.
fn deliver(store: &Store) -> Result<Vec<String>, StoreError> {
    let mut done = Vec::new();
    let listing = store.list()?;
    for task in listing.tasks.iter().filter(|it| !it.outbox().is_empty()) {
        let id = task.id();
        if deliver_to::<Thread>(store, id)? || deliver_to::<ProgressLog>(store, id)? {
            done.push(format!("delivered what {id} had in its outbox"));
        }
    }
    for id in listing.archived.into_keys() {
        if store.finish_archiving(id)? {
            done.push(format!("ended the archiving of {id}"));
        }
    }
    Ok(done)
}

fn deliver_to<L: Log>(store: &Store, id: TaskId) -> Result<bool, StoreError> {
    let deliver = |root: &Root, log: Option<L>| {
        let mut log = log.unwrap_or_default();
        // As it is now, under the log's lock: it may have been reopened and worked on since it was listed.
        let any = match Entry::read(root, id)? {
            Some(Entry::Live(task)) => log.receive(task.outbox()),
            _ => false,
        };
        Ok((any.then_some(log), any))
    };
    store.engine().update(&place(L::FOLDER, id), deliver)
}

/// Moves the corrupt ones of a task's files aside; all of them, if the task itself is corrupt.
fn quarantine(store: &Store, id: TaskId) -> Result<Vec<String>, StoreError> {
    let mut done = Vec::new();
    let is_task_corrupt = aside::<Entry>(store, Folder::Tasks, id, false, &mut done)?;
    aside::<Thread>(store, Folder::Messages, id, is_task_corrupt, &mut done)?;
    aside::<ProgressLog>(store, Folder::Progress, id, is_task_corrupt, &mut done)?;
    aside::<AnyTask>(store, Folder::ArchiveTasks, id, false, &mut done)?;
    aside::<Thread>(store, Folder::ArchiveMessages, id, false, &mut done)?;
    aside::<ProgressLog>(store, Folder::ArchiveProgress, id, false, &mut done)?;
    if done.is_empty() {
        done.push(format!("moved nothing aside: no file of {id} is corrupt"));
    }
    Ok(done)
}

/// Moves a file aside if it is corrupt, or if `anyway`; says whether it was corrupt.
fn aside<D: document::Document>(
    store: &Store,
    folder: Folder,
    id: TaskId,
    anyway: bool,
    done: &mut Vec<String>,
) -> Result<bool, StoreError> {
    let place = place(folder, id);
    match existing(store)? {
        Some(root) if root.contains(&place)? => {}
        _ => return Ok(false),
    }
    let lock = Lock::acquire(store.engine(), &place)?;
    let folder = lock.root().folder_or_create(folder)?;
    let Some(judged) = folder.stat(place.file_name())? else {
        return Ok(false);
    };
    let is_corrupt = matches!(lock.read::<D>(), Err(StoreError::Corrupt { .. }));
    if is_corrupt || anyway {
        let name = move_aside(lock.root(), &folder, &place, judged)?;
        let from = place.relative_path();
        done.push(format!("moved {} to {QUARANTINE}/{name}", from.display()));
    }
    Ok(is_corrupt)
}

/// Moves a document aside that was judged when it looked like this; its name there.
pub(super) fn move_aside(
    root: &Root,
    folder: &Dir,
    place: &Place,
    judged: Stat,
) -> Result<String, StoreError> {
    let quarantine = root.quarantine_or_create()?;
    let name = free_name(&quarantine, place)?;
    folder.rename(place.file_name(), &quarantine, &name)?;
    let moved = quarantine.stat(&name)?;
    if moved.is_some_and(|it| it.is_same_content(&judged)) {
        return Ok(name);
    }
    // Somebody has mended it in the meantime. A link, because it must not replace what may be there by now.
    quarantine.link(&name, folder, place.file_name())?;
    quarantine.unlink(&name)?;
    Err(StoreError::corrupt(
        root.path_of(place),
        "it has just been changed, and was left where it is; run doctor again",
    ))
}

/// The first of `tasks-task-0007.json`, `tasks-task-0007.1.json`, .. that is free.
fn free_name(quarantine: &Dir, place: &Place) -> Result<String, StoreError> {
    let stem = place.lock_name();
    let stem = stem.strip_suffix(".lock").unwrap_or(&stem);
    let mut number = 0_u64;
    loop {
        let name = match number {
            0 => format!("{stem}.json"),
            number => format!("{stem}.{number}.json"),
        };
        if quarantine.stat(&name)?.is_none() {
            return Ok(name);
        }
        number += 1;
    }
}

fn existing(store: &Store) -> Result<Option<Root>, StoreError> {
    store.engine().open()
}
