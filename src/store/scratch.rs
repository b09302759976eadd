//! A directory for a moment: what the demonstration runs in.

use std::{
    env, fs, io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use uuid::Uuid;

/// A fresh private directory, removed with all that is in it when this is dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    is_kept: bool,
}

impl Scratch {
    /// Makes one among the system's temporary files.
    pub(crate) fn new() -> io::Result<Self> {
        let path = env::temp_dir().join(format!("ai-coord-demo-{}", Uuid::new_v4().simple()));
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self {
            path,
            is_kept: false,
        })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a directory in it.
    pub(crate) fn folder(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        fs::create_dir(&path)?;
        Ok(path)
    }

    /// Leaves it where it is.
    pub(crate) fn keep(&mut self) {
        self.is_kept = true;
    }

    /// All files in it, by path, with their sizes in bytes.
    pub(crate) fn files(&self) -> io::Result<Vec<(PathBuf, u64)>> {
        let mut files = Vec::new();
        let mut directories = vec![self.path.clone()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory)? {
                let entry = entry?;
                let kind = entry.file_type()?;
                if kind.is_dir() {
                    directories.push(entry.path());
                } else {
                    files.push((entry.path(), entry.metadata()?.len()));
                }
            }
        }
        files.sort();
        Ok(files)
    }

    /// The text of a file in it.
    pub(crate) fn read(&self, name: impl AsRef<Path>) -> io::Result<String> {
        fs::read_to_string(self.path.join(name))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.is_kept {
            // What cannot be removed now is the system's to remove later, as all temporary files.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_private_and_gone_with_its_value_unless_it_is_kept() {
        let mut scratch = Scratch::new().unwrap();
        let path = scratch.path().to_owned();
        fs::create_dir(path.join("in")).unwrap();
        fs::write(path.join("in/a"), "text").unwrap();
        assert_eq!(scratch.files().unwrap(), [(path.join("in/a"), 4)]);
        assert_eq!(scratch.read("in/a").unwrap(), "text");
        scratch.keep();
        drop(scratch);
        assert!(path.exists());
        drop(Scratch {
            path: path.clone(),
            is_kept: false,
        });
        assert!(!path.exists());
    }
}
