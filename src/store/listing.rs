//! All tasks at one moment.
//!
//! A listing of a directory proves that a name is there and never that one isn't: beside renames
//! over existing files, some file systems leave live names out. So every number that has been given
//! out and is not in the listing is looked up by name before it counts as gone.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    path::Path,
    thread,
};

use super::{
    archive::Entry,
    dir::Dir,
    document,
    error::StoreError,
    place::{Folder, Place},
    root::Root,
    sequence,
};
use crate::domain::{AnyTask, Status, TaskId};

/// How many numbers at the most are looked up by name for one listing: more were never given out in a store that is
/// still quick to list.
const LOOKUPS: usize = 50_000;

/// All tasks, by id, which others are in the archive, and the files that could not be read.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The tasks, by id.
    pub(crate) tasks: Vec<AnyTask>,
    /// Those in the archive, with their status there.
    pub(crate) archived: BTreeMap<TaskId, Status>,
    /// What could not be read, by id.
    pub(crate) unreadable: Vec<Unreadable>,
}

/// A task file that could not be read.
#[derive(Debug)]
pub(crate) struct Unreadable {
    /// The id that the file's name gives.
    pub(crate) id: TaskId,
    /// Why.
    pub(crate) error: StoreError,
}

impl Listing {
    /// Reads everything. One bad file is an entry in `unreadable` and no failure.
    pub(super) fn read(root: &Root) -> Result<Self, StoreError> {
        let mut listing = Self::default();
        let Some(folder) = root.folder(Folder::Tasks)? else {
            return Ok(listing);
        };
        let mut saving = Vec::new();
        for id in ids(root, Folder::Tasks)? {
            match read_now(root, &folder, id) {
                Err(StoreError::Corrupt { .. }) => saving.push(id),
                read => listing.take(id, read),
            }
        }
        // Perhaps an editor is in the middle of saving them. All at once: many bad files cost no more than one.
        if !saving.is_empty() {
            thread::sleep(document::SAVING);
        }
        for id in saving {
            listing.take(id, read_now(root, &folder, id));
        }
        listing.tasks.sort_by_key(AnyTask::id);
        listing.unreadable.sort_by_key(|it| it.id);
        Ok(listing)
    }

    fn take(&mut self, id: TaskId, read: Result<Option<Entry>, StoreError>) {
        match read {
            Ok(Some(Entry::Live(task))) => self.tasks.push(*task),
            Ok(Some(Entry::Archived(it))) => {
                self.archived.insert(id, it.status());
            }
            // Removed by hand since it was listed.
            Ok(None) => {}
            Err(error) => self.unreadable.push(Unreadable { id, error }),
        }
    }

    /// Whether there is nothing at all, readable or not.
    pub(crate) fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.archived.is_empty() && self.unreadable.is_empty()
    }

    /// The status of a task, also of one in the archive.
    pub(crate) fn status(&self, id: TaskId) -> Option<Status> {
        let archived = || self.archived.get(&id).copied();
        self.task(id).map(AnyTask::status).or_else(archived)
    }

    /// The task with this id.
    fn task(&self, id: TaskId) -> Option<&AnyTask> {
        let index = self.tasks.binary_search_by_key(&id, AnyTask::id).ok()?;
        self.tasks.get(index)
    }
}

fn read_now(root: &Root, folder: &Dir, id: TaskId) -> Result<Option<Entry>, StoreError> {
    let entry: Option<Entry> = document::read_now(folder, &place(Folder::Tasks, id).file_name())?;
    checked(&root.path_of(&place(Folder::Tasks, id)), id, entry)
}

/// The ids of the files in a folder.
pub(super) fn ids(root: &Root, folder: Folder) -> Result<BTreeSet<TaskId>, StoreError> {
    let listed = listed(root, folder)?;
    complete(root, folder, listed)
}

/// What was listed, and those of the numbers given out that are there though the listing lacks them.
pub(super) fn complete(
    root: &Root,
    folder: Folder,
    mut ids: BTreeSet<TaskId>,
) -> Result<BTreeSet<TaskId>, StoreError> {
    // An unreadable sequence must not hide the tasks; whoever creates the next one is told of it.
    let last = sequence::last(root).ok().flatten().unwrap_or_default();
    let Some(directory) = root.folder(folder)? else {
        return Ok(ids);
    };
    // From the newest down, and not for ever: a person may have written any number into a file.
    let missing = (1..=last)
        .rev()
        .map(TaskId::from_number)
        .take(LOOKUPS + ids.len());
    let missing: Vec<_> = missing
        .filter(|id| !ids.contains(id))
        .take(LOOKUPS)
        .collect();
    for id in missing {
        if directory.stat(place(folder, id).file_name())?.is_some() {
            ids.insert(id);
        }
    }
    Ok(ids)
}

fn listed(root: &Root, folder: Folder) -> Result<BTreeSet<TaskId>, StoreError> {
    let Some(folder) = root.folder(folder)? else {
        return Ok(BTreeSet::new());
    };
    let names = folder.names()?;
    let ids = names
        .iter()
        .filter_map(|name| name.to_str()?.strip_suffix(".json")?.parse().ok());
    Ok(ids.collect())
}

/// The highest number that is visibly in use, 0 if there is none.
pub(super) fn highest(root: &Root) -> Result<u64, StoreError> {
    let mut highest = 0;
    for folder in Folder::OF_TASKS {
        let last = listed(root, folder)?.last().map_or(0, |id| id.number());
        highest = highest.max(last);
    }
    for name in root.quarantined()? {
        highest = highest.max(quarantined(&name).map_or(0, TaskId::number));
    }
    Ok(highest)
}

/// Whether the file of a task with this id was moved aside.
pub(super) fn is_quarantined(root: &Root, id: TaskId) -> Result<bool, StoreError> {
    let names = root.quarantined()?;
    Ok(names.iter().any(|it| quarantined(it) == Some(id)))
}

/// The task whose file was moved aside under this name.
fn quarantined(name: &OsStr) -> Option<TaskId> {
    let (stem, _) = name.to_str()?.strip_prefix("tasks-")?.split_once('.')?;
    stem.parse().ok()
}

pub(super) fn place(folder: Folder, id: TaskId) -> Place {
    Place::new(folder, id.to_string())
}

/// What was read, if it is the one that the file's name promises.
pub(super) fn checked(
    path: &Path,
    id: TaskId,
    entry: Option<Entry>,
) -> Result<Option<Entry>, StoreError> {
    match entry {
        Some(entry) if entry.id() != id => {
            let reason = format!(
                "its id is {}: expected that of the file's name, undo the edit",
                entry.id()
            );
            Err(StoreError::corrupt(path.to_owned(), reason))
        }
        entry => Ok(entry),
    }
}
