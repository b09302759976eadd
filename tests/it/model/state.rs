//! One moment of the store: the names on disk, and where each process is.
//!
//! Responsibility: [`At`] ties each step of the model to the function that it stands for.

use super::namespace::{Document, Namespace};

/// What a process does next.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum At {
    /// `Token::prepare`: `create_child`.
    Start,
    /// `Token::prepare`: `create_file`.
    CreateToken,
    /// `Token::prepare`: `hold`.
    Hold,
    /// `Token::publish`: `rename`.
    Publish,
    /// `holders::look`: `open_child`.
    Open,
    /// `holders::look`: `names`, and all that leads to a verdict.
    List,
    /// `holders::give_up`: `unlink`.
    TakeAway,
    /// `holders::look`: `remove_child`, where nothing was listed.
    RemoveEmpty,
    /// `Lock::read`, and what `Engine::update` decides.
    Read,
    /// `Token::fill`.
    Fill,
    /// Nothing in the code: `Design::VerifyThenWrite` only.
    Verify,
    /// `Token::move_to`: `rename`.
    Move,
    /// `Token::move_to`: `clear_directory`.
    Clear,
    /// `Drop for Token`: `unlink`.
    DropToken,
    /// `Drop for Token`: `clear_directory`.
    DropDirectory,
    /// Has made all its updates.
    Done,
    /// Has crashed, and let go of all that the kernel knows of.
    Crashed,
}

/// What a process has in its memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub(super) at: At,
    /// Whose directory, with a token in it, it has opened. Without a token it is nobody's any more.
    pub(super) opened: Option<u8>,
    pub(super) read: Document,
    /// Whether the path of its token is that in the lock, and not that in the candidate.
    pub(super) has_published: bool,
    /// How many of its commits were `Commit::Done`.
    pub(super) committed: u8,
}

impl Process {
    pub(super) const NEW: Self = Self {
        at: At::Start,
        opened: None,
        read: Document::NOTHING,
        has_published: false,
        committed: 0,
    };

    /// Forgets all about the last attempt.
    pub(super) fn end_attempt(&mut self) {
        let committed = self.committed;
        *self = Self {
            committed,
            ..Self::NEW
        };
    }
}

/// One moment of the store.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct State<const N: usize> {
    pub(super) names: Namespace<N>,
    pub(super) processes: [Process; N],
    pub(super) crashes_left: u8,
}

impl<const N: usize> State<N> {
    pub(super) fn new(crashes: u8) -> Self {
        Self {
            names: Namespace::new(),
            processes: [Process::NEW; N],
            crashes_left: crashes,
        }
    }

    /// Removes a token: who has its directory open, has an empty one open.
    pub(super) fn unlink(&mut self, owner: usize) {
        self.names.unlink(owner);
        for process in &mut self.processes {
            if process.opened.map(usize::from) == Some(owner) {
                process.opened = None;
            }
        }
    }

    /// What the document is if every commit has added its update, and nothing else has.
    pub(super) fn expected_document(&self) -> Document {
        let mut expected = Document::NOTHING;
        for (number, process) in self.processes.iter().enumerate() {
            for _ in 0..process.committed {
                expected = expected.with(number);
            }
        }
        expected
    }

    pub(super) fn is_alive(&self, process: usize) -> bool {
        self.processes[process].at != At::Crashed
    }
}
