//! Reading a client's file, and replacing it.
//!
//! Responsibility: whoever reads the file sees the old or the new one, never a part; the old one stays as a backup, and
//! a backup is never overwritten.
//! Limits: owner, access lists and other names of the same file (hard links) are not carried over.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use thiserror::Error;
use uuid::Uuid;

/// Symbolic links that lead to each other have no end.
const MOST_LINKS: usize = 40;

/// A file cannot be read or replaced.
#[derive(Debug, Error)]
pub(super) enum FileError {
    #[error("cannot read it: {0}")]
    Read(#[source] io::Error),
    #[error("it is no regular file")]
    NotRegular,
    #[error("it is no UTF-8 text")]
    NotText,
    #[error("it may only be read (chmod u+w, if you mean it to be changed)")]
    ReadOnly,
    #[error("cannot make its directory: {0}")]
    Directory(#[source] io::Error),
    #[error("cannot make a backup beside it: {0}; it is unchanged")]
    Backup(#[source] io::Error),
    #[error("cannot write it: {0}; it is unchanged")]
    Write(#[source] io::Error),
    #[error("somebody else has just changed it: run this again")]
    Changed,
}

/// A file as it was found.
#[derive(Debug)]
pub(super) struct Found {
    /// Where it is, with links followed.
    path: PathBuf,
    text: Option<String>,
}

impl Found {
    /// Reads the file, if there is one.
    pub(super) fn read(path: &Path) -> Result<Self, FileError> {
        let path = followed(path).map_err(FileError::Read)?;
        let text = text(&path)?;
        Ok(Self { path, text })
    }

    /// What it says. Nothing, if there is none.
    pub(super) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Replaces it: the path of the backup, if there was anything to keep.
    pub(super) fn replace(self, new: &str) -> Result<Option<PathBuf>, FileError> {
        let (Some(directory), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return Err(FileError::NotRegular);
        };
        fs::create_dir_all(directory).map_err(FileError::Directory)?;
        let permissions = self.permissions()?;
        let backup = match (&self.text, &permissions) {
            (Some(old), Some(permissions)) => {
                Some(backup(&self.path, old, permissions).map_err(FileError::Backup)?)
            }
            _ => None,
        };
        let temporary = format!(
            ".{}.{}.tmp",
            name.to_string_lossy(),
            Uuid::new_v4().simple()
        );
        let temporary = directory.join(temporary);
        if let Err(error) = create(&temporary, new, permissions.as_ref()) {
            let _ = backup.as_ref().map(fs::remove_file);
            return Err(FileError::Write(error));
        }
        // Clients write these files, too. What one of them wrote since we read would be lost; a window remains between
        // this look and the next line, for no client offers a lock.
        let outcome = match text(&self.path) {
            Ok(now) if now == self.text => {
                fs::rename(&temporary, &self.path).map_err(FileError::Write)
            }
            Ok(_) => Err(FileError::Changed),
            Err(error) => Err(error),
        };
        if outcome.is_err() {
            // The error at hand says more than one about these files would.
            let _ = fs::remove_file(&temporary);
            let _ = backup.as_ref().map(fs::remove_file);
        } else if let Ok(directory) = File::open(directory) {
            // The change stands; this is for a power cut.
            let _ = directory.sync_all();
        }
        outcome.map(|()| backup)
    }

    /// Those of the file that is there.
    fn permissions(&self) -> Result<Option<Permissions>, FileError> {
        if self.text.is_none() {
            return Ok(None);
        }
        let metadata = fs::metadata(&self.path).map_err(FileError::Read)?;
        let permissions = metadata.permissions();
        // A rename would get around it, so it is up to us to heed it.
        if permissions.readonly() {
            return Err(FileError::ReadOnly);
        }
        Ok(Some(permissions))
    }
}

fn text(path: &Path) -> Result<Option<String>, FileError> {
    match fs::metadata(path) {
        // A pipe would keep us waiting.
        Ok(metadata) if !metadata.is_file() => return Err(FileError::NotRegular),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(FileError::Read(error)),
    }
    let bytes = fs::read(path).map_err(FileError::Read)?;
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| FileError::NotText)
}

/// Where the links lead, though there may be nothing yet.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("/")).join(target),
            // It is no link, or there is nothing.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Writes the old text beside the file, under the first name that is free.
fn backup(path: &Path, old: &str, permissions: &Permissions) -> io::Result<PathBuf> {
    let mut number = 0_u32;
    loop {
        let mut name = path.to_owned().into_os_string();
        name.push(".ai-coord-backup");
        if number > 0 {
            name.push(format!(".{number}"));
        }
        let backup = PathBuf::from(name);
        match create(&backup, old, Some(permissions)) {
            Ok(()) => return Ok(backup),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Makes a new file, on the disk when this returns.
fn create(path: &Path, text: &str, permissions: Option<&Permissions>) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    if permissions.is_some() {
        // Nobody else reads it before it has the permissions of the file it stands for.
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| match permissions {
            Some(permissions) => file.set_permissions(permissions.clone()),
            None => Ok(()),
        })
        .and_then(|()| file.sync_all());
    if written.is_err() {
        // As above.
        let _ = fs::remove_file(path);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_wrote_meanwhile_is_not_lost() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("settings.json");
        for (before, meanwhile) in [(Some("old"), "theirs"), (None, "theirs")] {
            let _ = fs::remove_file(&path);
            if let Some(text) = before {
                fs::write(&path, text).unwrap();
            }
            let found = Found::read(&path).unwrap();
            fs::write(&path, meanwhile).unwrap();
            let outcome = found.replace("ours");
            assert!(matches!(outcome, Err(FileError::Changed)), "{outcome:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), meanwhile);
            let files = fs::read_dir(scratch.path()).unwrap().count();
            assert_eq!(files, 1, "neither a copy nor a backup is left");
        }
    }
}
