//! What happens in one step, in words.
//!
//! Responsibility: to make a trace readable, and to tell the adversary's doing from everybody else's.

use std::fmt;

use super::namespace::{Document, name};

/// What happened in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    CandidateMade,
    TokenCreated,
    TokenRefused,
    Held,
    HoldRefused,
    Published,
    PublishRefused,
    PublishSwept,
    Opened,
    NothingToOpen,
    ListedNothing,
    Spared,
    JudgedDead,
    LivingJudgedDead,
    TakenFromDead,
    TakenFromLiving,
    NothingToTake,
    EmptyRemoved,
    Read,
    Declined,
    Filled,
    Verified,
    VerifyLost,
    Committed,
    CommitLost,
    Cleared,
    TokenDropped,
    DirectoryDropped,
    Crashed,
    TokenSwept,
    CandidateSwept,
    LockSwept,
}

impl Event {
    pub(super) const COUNT: usize = Self::LockSwept as usize + 1;

    /// Whether this is the adversary's doing: nobody may count on it.
    pub(super) fn is_hostile(self) -> bool {
        matches!(
            self,
            Self::Crashed
                | Self::Declined
                | Self::HoldRefused
                | Self::LivingJudgedDead
                | Self::TokenSwept
                | Self::CandidateSwept
                | Self::LockSwept
        )
    }

    fn text(self) -> &'static str {
        match self {
            Self::CandidateMade => "makes a candidate",
            Self::TokenCreated => "creates a token in it",
            Self::TokenRefused => "can't create a token: the candidate was swept",
            Self::Held => "locks its token",
            Self::HoldRefused => "finds a sweeper probing its token, and withdraws",
            Self::Published => "renames its candidate onto the lock: it has the lock",
            Self::PublishRefused => "can't rename its candidate: the lock is held",
            Self::PublishSwept => "can't rename its candidate: it was swept",
            Self::Opened => "opens the lock's directory",
            Self::NothingToOpen => "finds no lock to open",
            Self::ListedNothing => "lists the lock's directory: nothing",
            Self::Spared => "lists the lock's directory: its holder may live",
            Self::JudgedDead => "lists the lock's directory: its holder is dead",
            Self::LivingJudgedDead => "lists the lock's directory: its living holder looks dead",
            Self::TakenFromDead => "unlinks the token of the dead holder",
            Self::TakenFromLiving => "unlinks the token of the living holder",
            Self::NothingToTake => "can't unlink the token that it judged: it is gone",
            Self::EmptyRemoved => "removes the lock's directory, should it be empty",
            Self::Read => "reads the document",
            Self::Declined => "reads the document, and changes nothing",
            Self::Filled => "writes the next version into its token",
            Self::Verified => "sees that its token is there",
            Self::VerifyLost => "sees that its token is gone",
            Self::Committed => "commits",
            Self::CommitLost => "can't commit: its token is gone",
            Self::Cleared => "has committed, and clears up",
            Self::TokenDropped => "unlinks its token by its path",
            Self::DirectoryDropped => "removes the directory of its token, should it be empty",
            Self::Crashed => "crashes",
            Self::TokenSwept => "has its token swept",
            Self::CandidateSwept => "has its empty candidate swept",
            Self::LockSwept => "has its empty lock swept",
        }
    }
}

/// Who, what, and what the document is after that.
#[derive(Clone, Copy)]
pub(super) struct Label {
    pub(super) process: usize,
    pub(super) event: Event,
    pub(super) document: Document,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", name(self.process), self.event.text())?;
        match self.event {
            Event::Read | Event::Committed => write!(f, " [{}]", self.document),
            _ => Ok(()),
        }
    }
}
