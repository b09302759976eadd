//! What can go wrong in the store, in words for the person or model that reads it.
//!
//! Responsibility: one variant for each thing a caller can do about it. Paths are full: the reader
//! has to find the file.
//!
//! Limits: the codes of the protocol (`corrupt`, `busy`, ..) are put in front by the layer above.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use super::location::printable;
use crate::domain::TaskId;

/// A failure of the store. Unless it is [`NotDurable`](Self::NotDurable), nothing has changed.
#[derive(Debug, Error)]
pub(crate) enum StoreError {
    /// The file is there, but is no document of this format. It is never replaced or deleted.
    #[error("{path} is not a valid document: {reason}")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, with the line where there is one.
        reason: String,
    },

    /// The document states a format version that this program doesn't know.
    #[error(
        "{path} has format version {found}, expected 1: it was written by a newer version; \
         restart this client after upgrading"
    )]
    UnsupportedFormat {
        /// The file.
        path: PathBuf,
        /// The version it states, as written there.
        found: String,
    },

    /// The document's lock could not be had in time.
    #[error("{path} is locked by {holder}; gave up after {:.1} s, try again", waited.as_secs_f64())]
    Busy {
        /// The document (not its lock).
        path: PathBuf,
        /// Who holds the lock, and for how long that has been seen.
        holder: String,
        /// How long the caller has waited.
        waited: Duration,
    },

    /// The task is in the archive, where nothing changes.
    #[error("{id} is in the archive; `{command}` brings it back")]
    Archived {
        /// The task.
        id: TaskId,
        /// The command that brings it back.
        command: String,
    },

    /// The document would become larger than what is read back.
    #[error(
        "{path} would take {size} bytes, the limit is {limit}; put long text in a file of the \
         repository and name that file instead"
    )]
    TooLarge {
        /// The document.
        path: PathBuf,
        /// The bytes it would take.
        size: u64,
        /// The bytes it may take.
        limit: u64,
    },

    /// The file system refused.
    #[error("could not {action} {path}: {source}")]
    Storage {
        /// What was attempted, as a verb phrase.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },

    /// The change has been made and is visible, but could not be flushed to the disk.
    #[error("the change to {path} is in place but may not survive a power cut: {source}")]
    NotDurable {
        /// The document.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// A command of this program for a person to copy, on the directory that is meant and no other.
pub(crate) fn command_line(directory: &Path, words: &str) -> String {
    let directory = printable(directory);
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "/._@%+=:,-".contains(it);
    if directory.chars().all(is_plain) {
        format!("ai-coord-mcp --dir {directory} {words}")
    } else {
        let quoted = directory.replace('\'', r"'\''");
        format!("ai-coord-mcp --dir '{quoted}' {words}")
    }
}

/// The text on one line, with nothing in it that a terminal would obey: what a file says is shown, not trusted.
pub(crate) fn one_line(text: &str) -> String {
    let is_odd = |it: char| {
        it.is_control() || matches!(it, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if is_odd(character) {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

impl StoreError {
    pub(super) fn corrupt(path: PathBuf, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self::Corrupt { path, reason }
    }

    pub(super) fn storage(
        action: &'static str,
        path: impl AsRef<Path>,
        source: impl Into<io::Error>,
    ) -> Self {
        Self::Storage {
            action,
            path: path.as_ref().to_path_buf(),
            source: source.into(),
        }
    }

    /// The same of a step that is only the first of several: what was asked for is not in place, and not refused for
    /// nothing either.
    pub(super) fn of_a_step(self) -> Self {
        match self {
            Self::NotDurable { path, source } => Self::Storage {
                action: "flush the directory of",
                path,
                source,
            },
            error => error,
        }
    }

    /// The file or directory that it is about.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::Corrupt { path, .. }
            | Self::UnsupportedFormat { path, .. }
            | Self::Busy { path, .. }
            | Self::TooLarge { path, .. }
            | Self::Storage { path, .. }
            | Self::NotDurable { path, .. } => Some(path),
            Self::Archived { .. } => None,
        }
    }

    /// The file system's kind of refusal: protocol steps decide by it.
    pub(super) fn kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::Storage { source, .. } => Some(source.kind()),
            _ => None,
        }
    }

    pub(super) fn is_not_found(&self) -> bool {
        self.kind() == Some(io::ErrorKind::NotFound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_its_directory_as_a_shell_takes_it() {
        for (directory, expected) in [
            ("/c/d-1", "ai-coord-mcp --dir /c/d-1 where"),
            ("/a b", "ai-coord-mcp --dir '/a b' where"),
            ("/it's", r"ai-coord-mcp --dir '/it'\''s' where"),
        ] {
            assert_eq!(command_line(Path::new(directory), "where"), expected);
        }
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown_instead() {
        let text = "a\u{1b}[31m\nNothing is wrong.\u{7}\u{9b}1m\u{202e}";
        assert_eq!(
            one_line(text),
            r"a\u{1b}[31m\nNothing is wrong.\u{7}\u{9b}1m\u{202e}"
        );
        assert_eq!(one_line("ä → 日本"), "ä → 日本");
    }

    #[test]
    fn messages_name_the_thing_and_the_next_step() {
        let path = PathBuf::from("/c/tasks/task-0001.json");
        let busy = StoreError::Busy {
            path: path.clone(),
            holder: "process 42".to_owned(),
            waited: Duration::from_millis(15_040),
        };
        assert_eq!(
            busy.to_string(),
            "/c/tasks/task-0001.json is locked by process 42; gave up after 15.0 s, try again"
        );
        let storage = StoreError::storage("write", &path, io::Error::other("disk on fire"));
        assert_eq!(
            storage.to_string(),
            "could not write /c/tasks/task-0001.json: disk on fire"
        );
        assert_eq!(
            StoreError::corrupt(path, "line 4: missing field `title`").to_string(),
            "/c/tasks/task-0001.json is not a valid document: line 4: missing field `title`"
        );
    }
}
