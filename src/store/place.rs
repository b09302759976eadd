//! Where a document is: its folder and name, and from these its file and its lock.
//!
//! Responsibility: the names on disk, in one place.
//!
//! Limits: pure names. Whether anything is there is for [`Root`](super::root::Root) to say.

use std::path::PathBuf;

/// A folder of the coordination directory that holds documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Folder {
    /// The coordination directory itself.
    Root,
    /// `tasks/`
    Tasks,
    /// `messages/`
    Messages,
    /// `progress/`
    Progress,
    /// `archive/tasks/`
    ArchiveTasks,
    /// `archive/messages/`
    ArchiveMessages,
    /// `archive/progress/`
    ArchiveProgress,
}

impl Folder {
    /// Those with a file for each task.
    pub(crate) const OF_TASKS: [Self; 6] = [
        Self::Tasks,
        Self::Messages,
        Self::Progress,
        Self::ArchiveTasks,
        Self::ArchiveMessages,
        Self::ArchiveProgress,
    ];

    /// The directories to go through from the root, outermost first.
    pub(super) fn components(self) -> &'static [&'static str] {
        match self {
            Self::Root => &[],
            Self::Tasks => &["tasks"],
            Self::Messages => &["messages"],
            Self::Progress => &["progress"],
            Self::ArchiveTasks => &["archive", "tasks"],
            Self::ArchiveMessages => &["archive", "messages"],
            Self::ArchiveProgress => &["archive", "progress"],
        }
    }
}

/// The place of one document: a folder, and a file name without its `.json`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    folder: Folder,
    stem: String,
}

impl Place {
    /// `stem` is a plain name: ids and fixed names are, so this is checked in debug builds only.
    pub(crate) fn new(folder: Folder, stem: impl Into<String>) -> Self {
        let stem = stem.into();
        debug_assert!(
            !stem.is_empty() && !stem.starts_with('.') && !stem.contains(['/', '\0']),
            "`{stem}` can't name a document"
        );
        Self { folder, stem }
    }

    pub(crate) fn folder(&self) -> Folder {
        self.folder
    }

    /// The document's file, e.g. `task-0001.json`.
    pub(crate) fn file_name(&self) -> String {
        format!("{}.json", self.stem)
    }

    /// The document's lock, e.g. `tasks-task-0001.lock`.
    ///
    /// Folder and stem are joined by a hyphen: the folders' names have none and differ, so two
    /// documents never share a lock.
    pub(crate) fn lock_name(&self) -> String {
        let mut parts = self.folder.components().to_vec();
        parts.push(&self.stem);
        format!("{}.lock", parts.join("-"))
    }

    /// The document's path below the coordination directory.
    pub(crate) fn relative_path(&self) -> PathBuf {
        let folder: PathBuf = self.folder.components().iter().collect();
        folder.join(self.file_name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_has_its_own_files_and_locks() {
        let cases = [
            (Folder::Root, "task-0001.json", "task-0001.lock"),
            (
                Folder::Tasks,
                "tasks/task-0001.json",
                "tasks-task-0001.lock",
            ),
            (
                Folder::Messages,
                "messages/task-0001.json",
                "messages-task-0001.lock",
            ),
            (
                Folder::Progress,
                "progress/task-0001.json",
                "progress-task-0001.lock",
            ),
            (
                Folder::ArchiveTasks,
                "archive/tasks/task-0001.json",
                "archive-tasks-task-0001.lock",
            ),
            (
                Folder::ArchiveMessages,
                "archive/messages/task-0001.json",
                "archive-messages-task-0001.lock",
            ),
            (
                Folder::ArchiveProgress,
                "archive/progress/task-0001.json",
                "archive-progress-task-0001.lock",
            ),
        ];
        for (folder, path, lock) in cases {
            let place = Place::new(folder, "task-0001");
            assert_eq!(place.relative_path(), PathBuf::from(path));
            assert_eq!(place.lock_name(), lock);
            assert_eq!(place.folder(), folder);
        }
    }
}
