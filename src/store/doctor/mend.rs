//! What can be done about what is wrong: only what cannot lose data.
//!
//! A corrupt file is moved aside only when its task is named. A log leaves an empty one in its place, by a commit: whoever
//! was stopped before it finds its lock gone. A task leaves nothing; so what was moved is looked at again, and put back if
//! it is not what was judged.

use std::path::PathBuf;

use super::{Finding, Treatment, reason_of};
use crate::domain::{ProgressLog, TaskId, Thread};
use crate::store::archive::{self, Entry};
use crate::store::dir::{Dir, Stat};
use crate::store::document;
use crate::store::error::StoreError;
use crate::store::listing::{self, place};
use crate::store::lock::{self, Commit, Lock};
use crate::store::log::Log;
use crate::store::place::{Folder, Place};
use crate::store::root::{QUARANTINE, Root};
use crate::store::sequence;
use crate::store::tasks::{self, Store};

/// How often a log is judged anew that was changed meanwhile.
const ATTEMPTS: u32 = 3;

/// What was done, and what could not be.
pub(super) fn treat(store: &Store, treatment: &Treatment) -> (Vec<String>, Vec<Finding>) {
    let mut done = Vec::new();
    let mut failed = Vec::new();
    let mut note = |outcome: Result<Vec<String>, StoreError>| match outcome {
        Ok(lines) => done.extend(lines),
        Err(error) => {
            let path = error.path().unwrap_or(store.directory()).to_owned();
            let next = "see the reason, then run doctor again";
            let reason = reason_of(&path, &error);
            failed.push(Finding::new("treatment", &path, reason, next));
        }
    };
    for id in &treatment.quarantine {
        quarantine(store, *id, &mut note);
    }
    if treatment.fix {
        note(sweep(store));
        note(count(store));
        deliver(store, &mut note);
    }
    (done, failed)
}

fn sweep(store: &Store) -> Result<Vec<String>, StoreError> {
    let Some(locks) = store
        .engine()
        .open()?
        .and_then(|root| root.existing_locks().transpose())
    else {
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
    let Some(root) = store.engine().open()? else {
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

/// Brings what is on its way to where it belongs. One that cannot be brought keeps no other from it.
fn deliver(store: &Store, note: &mut impl FnMut(Result<Vec<String>, StoreError>)) {
    let listing = match store.list() {
        Ok(listing) => listing,
        Err(error) => return note(Err(error)),
    };
    let told = |done: bool, what: String| if done { vec![what] } else { Vec::new() };
    for task in listing.tasks.iter().filter(|it| !it.outbox().is_empty()) {
        let id = task.id();
        let what = |entry: &str| format!("delivered the {entry} that {id} had in its outbox");
        note(deliver_to::<Thread>(store, id).map(|done| told(done, what("message"))));
        note(deliver_to::<ProgressLog>(store, id).map(|done| told(done, what("report"))));
    }
    for id in listing.archived.into_keys() {
        let what = format!("ended the archiving of {id}");
        note(store.finish_archiving(id).map(|done| told(done, what)));
    }
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

/// Moves the corrupt ones of a task's files aside.
fn quarantine(store: &Store, id: TaskId, note: &mut impl FnMut(Result<Vec<String>, StoreError>)) {
    let outcomes = [
        task_aside(store, Folder::Tasks, id),
        log_aside::<Thread>(store, Folder::Messages, id),
        log_aside::<ProgressLog>(store, Folder::Progress, id),
        task_aside(store, Folder::ArchiveTasks, id),
        log_aside::<Thread>(store, Folder::ArchiveMessages, id),
        log_aside::<ProgressLog>(store, Folder::ArchiveProgress, id),
    ];
    if outcomes.iter().all(|it| matches!(it, Ok(None))) {
        let what = format!("moved nothing aside: no file of {id} is corrupt");
        note(Ok(vec![what]));
    }
    for outcome in outcomes {
        note(outcome.map(|it| it.into_iter().collect()));
    }
}

/// Replaces a corrupt log by an empty one, and keeps it under another name.
fn log_aside<L: Log>(
    store: &Store,
    folder: Folder,
    id: TaskId,
) -> Result<Option<String>, StoreError> {
    let place = place(folder, id);
    for _ in 0..ATTEMPTS {
        let Some((lock, directory, judged)) = judge(store, &place, |root| {
            tasks::read_log::<L>(root, folder, id).map(|_| ())
        })?
        else {
            return Ok(None);
        };
        let quarantine = lock.root().quarantine_or_create()?;
        let name = free_name(&quarantine, &place)?;
        if !judged.is_file() {
            // It has no second name, and nobody is kept from anything by a log that is not there.
            return move_aside(lock.root(), &directory, &place, judged)
                .map(|name| Some(moved(&place, &name)));
        }
        directory.link(place.file_name(), &quarantine, &name)?;
        let kept = quarantine.stat(&name)?;
        let bytes = document::encode(&lock.path(), &L::default())?;
        if kept.is_some_and(|it| it.is_same_content(&judged))
            && lock.commit(&bytes)? == Commit::Done
        {
            return Ok(Some(moved(&place, &name)));
        }
        quarantine.unlink(&name)?;
    }
    Err(changed(store.directory().join(place.relative_path())))
}

/// Moves a corrupt task aside; its number stays its own.
fn task_aside(store: &Store, folder: Folder, id: TaskId) -> Result<Option<String>, StoreError> {
    let place = place(folder, id);
    let read = |root: &Root| match folder {
        // Without its copy, what stands for an archived task is of no use either.
        Folder::Tasks => match Entry::read(root, id)? {
            Some(Entry::Archived(tombstone)) => tombstone.task(root).map(|_| ()),
            _ => Ok(()),
        },
        _ => archive::read_copy(root, id).map(|_| ()),
    };
    let Some((lock, directory, judged)) = judge(store, &place, read)? else {
        return Ok(None);
    };
    let name = move_aside(lock.root(), &directory, &place, judged)?;
    Ok(Some(moved(&place, &name)))
}

/// The lock, the folder and the look of a document, if it is corrupt.
fn judge(
    store: &Store,
    place: &Place,
    read: impl Fn(&Root) -> Result<(), StoreError>,
) -> Result<Option<(Lock, Dir, Stat)>, StoreError> {
    match store.engine().open()? {
        Some(root) if root.contains(place)? => {}
        _ => return Ok(None),
    }
    let lock = Lock::acquire(store.engine(), place)?;
    let directory = lock.root().folder_or_create(place.folder())?;
    let Some(judged) = directory.stat(place.file_name())? else {
        return Ok(None);
    };
    let is_corrupt = matches!(read(lock.root()), Err(StoreError::Corrupt { .. }));
    Ok(is_corrupt.then_some((lock, directory, judged)))
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
    Err(changed(root.path_of(place)))
}

fn moved(place: &Place, name: &str) -> String {
    let from = place.relative_path();
    format!("moved {} to {QUARANTINE}/{name}", from.display())
}

fn changed(path: PathBuf) -> StoreError {
    let reason = "it has just been changed, and was left where it is; run doctor again";
    StoreError::corrupt(path, reason)
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
