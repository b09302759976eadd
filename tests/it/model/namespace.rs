//! What the protocol sees of a file system: one document, one lock name, and the directories of the processes.
//!
//! Responsibility: each method is one system call, and atomic, as POSIX has it.
//!
//! A process has one directory at a time, with at most one file in it: its token. Both are called by the number of the
//! process, and not by a fresh name each time. That keeps the number of states finite, and changes nothing: a token's
//! name is made by `create` only, in a candidate that nobody else can name, so that a directory without its token is
//! empty for ever, whatever its name or number.

use std::fmt;

/// How many updates of each process are in the document: two bits a process.
///
/// As every update adds one, no version comes twice.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Document(u8);

impl Document {
    pub(super) const NOTHING: Self = Self(0);

    /// The next version, with one more update of this process.
    pub(super) fn with(self, process: usize) -> Self {
        assert!(self.count(process) < 3, "two bits are enough");
        Self(self.0 + (1 << (2 * process)))
    }

    pub(super) fn count(self, process: usize) -> u8 {
        self.0 >> (2 * process) & 3
    }
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("nothing");
        }
        let counts = (0..4).filter(|&process| self.count(process) > 0);
        for (number, process) in counts.enumerate() {
            let separator = if number == 0 { "" } else { " " };
            let name = name(process);
            write!(f, "{separator}{name}{}", self.count(process))?;
        }
        Ok(())
    }
}

/// What people call a process.
pub(super) fn name(process: usize) -> char {
    ['A', 'B', 'C', 'D'][process]
}

/// The directory that a process made last, and the token in it.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Directory {
    name: Name,
    has_token: bool,
    /// What has been written to the token, by the handle that its owner has even when the name is gone.
    content: Option<Document>,
}

/// The name that a directory has now.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
enum Name {
    /// Removed, or another directory was renamed onto it.
    #[default]
    Gone,
    Candidate,
    Lock,
}

/// What became of a rename onto the lock's name.
pub(super) enum Arrival {
    Done,
    NotEmpty,
    NotFound,
}

/// The coordination directory of up to four processes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Namespace<const N: usize> {
    document: Document,
    directories: [Directory; N],
}

impl<const N: usize> Namespace<N> {
    pub(super) fn new() -> Self {
        Self {
            document: Document::default(),
            directories: [Directory::default(); N],
        }
    }

    pub(super) fn document(&self) -> Document {
        self.document
    }

    /// Whose directory has the lock's name.
    pub(super) fn lock(&self) -> Option<usize> {
        let is_lock = |directory: &Directory| directory.name == Name::Lock;
        self.directories.iter().position(is_lock)
    }

    /// Whose token is in the directory that has the lock's name.
    pub(super) fn locked_by(&self) -> Option<usize> {
        self.lock().filter(|&owner| self.has_token(owner))
    }

    pub(super) fn is_candidate(&self, owner: usize) -> bool {
        self.directories[owner].name == Name::Candidate
    }

    pub(super) fn has_token(&self, owner: usize) -> bool {
        self.directories[owner].has_token
    }

    fn content(&self, owner: usize) -> Option<Document> {
        self.directories[owner].content
    }

    /// `mkdir` of the candidate.
    pub(super) fn make_candidate(&mut self, owner: usize) {
        let name = self.directories[owner].name;
        assert!(name == Name::Gone, "one directory a process is enough");
        self.directories[owner].name = Name::Candidate;
    }

    /// `open` with `O_CREAT` of a token in the candidate. `false`: `ENOENT`.
    pub(super) fn create_token(&mut self, owner: usize) -> bool {
        let is_there = self.is_candidate(owner);
        self.directories[owner].has_token = is_there;
        is_there
    }

    /// `rename` of the candidate onto the lock's name.
    pub(super) fn rename_to_lock(&mut self, owner: usize) -> Arrival {
        if !self.is_candidate(owner) {
            return Arrival::NotFound;
        }
        if self.locked_by().is_some() {
            return Arrival::NotEmpty;
        }
        self.remove_lock();
        self.directories[owner].name = Name::Lock;
        Arrival::Done
    }

    /// `unlink` of a token, by its directory's handle or a path that leads there.
    pub(super) fn unlink(&mut self, owner: usize) {
        self.directories[owner].has_token = false;
    }

    /// `rmdir` of the lock, which fails if there is a token in it.
    pub(super) fn remove_lock(&mut self) {
        if let Some(owner) = self.lock()
            && !self.has_token(owner)
        {
            self.directories[owner].name = Name::Gone;
        }
    }

    /// `rmdir` of a candidate, which fails if there is a token in it.
    pub(super) fn remove_candidate(&mut self, owner: usize) {
        if self.is_candidate(owner) && !self.has_token(owner) {
            self.directories[owner].name = Name::Gone;
        }
    }

    /// `write` to the token, through the handle from its creation.
    pub(super) fn write(&mut self, owner: usize, content: Document) {
        self.directories[owner].content = Some(content);
    }

    /// `rename` of a token onto the document. An empty file makes an empty document.
    pub(super) fn rename_to_document(&mut self, owner: usize) {
        self.document = self.content(owner).unwrap_or_default();
        self.unlink(owner);
    }

    /// Writes what is in a token to the document, by the document's path, as only broken designs do.
    pub(super) fn overwrite_document(&mut self, owner: usize) {
        self.document = self.content(owner).unwrap_or_default();
    }

    /// Closes the handle to the token: nobody can tell any more what was in one without a name.
    pub(super) fn close(&mut self, owner: usize) {
        if !self.has_token(owner) {
            self.directories[owner].content = None;
        }
    }

    /// Leaves out a candidate that no process will come back to, and which only a sweeper looks at.
    pub(super) fn forget_candidate(&mut self, owner: usize) {
        if self.is_candidate(owner) {
            self.directories[owner] = Directory::default();
        }
    }
}
