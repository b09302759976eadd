//! A task whose status is known only at run time, as it comes out of a file.

use super::{
    AgentName, Approved, Cancelled, Claimed, Completed, Facts, HistoryEntry, InProgress,
    OutboxEntry, Pending, RevisionRequested, State, Status, Task, TaskId, Timestamp, Transition,
    Work, task::Common, transition::Action,
};

macro_rules! any_task {
    ($($state:ident)*) => {
        /// A task in whichever status it was stored in.
        #[derive(Debug)]
        #[must_use = "a transition does nothing until the task that it returns is stored"]
        pub enum AnyTask {
            $(#[doc = concat!("A [`", stringify!($state), "`] task.")] $state(Task<$state>)),*
        }

        $(impl From<Task<$state>> for AnyTask {
            fn from(task: Task<$state>) -> Self {
                Self::$state(task)
            }
        })*

        impl AnyTask {
            /// The status, as a value.
            pub fn status(&self) -> Status {
                match self { $(Self::$state(_) => $state::STATUS),* }
            }

            /// The data of the state.
            pub fn facts(&self) -> Facts<'_> {
                match self { $(Self::$state(task) => task.state().facts()),* }
            }

            pub(super) fn common(&self) -> &Common {
                match self { $(Self::$state(task) => &task.common),* }
            }

            fn common_mut(&mut self) -> &mut Common {
                match self { $(Self::$state(task) => &mut task.common),* }
            }
        }
    };
}

any_task! { Pending Claimed InProgress Completed Approved RevisionRequested Cancelled }

impl AnyTask {
    /// The task's id.
    pub fn id(&self) -> TaskId {
        self.common().id()
    }

    /// Who created it.
    pub fn creator(&self) -> &AgentName {
        self.common().creator()
    }

    /// Who holds it, or held it when it was withdrawn.
    pub fn assignee(&self) -> Option<&AgentName> {
        self.facts().assignee
    }

    /// What is to be done.
    pub fn work(&self) -> &Work {
        self.common().work()
    }

    /// How often it has changed, from 1.
    pub fn version(&self) -> u64 {
        self.common().version()
    }

    /// The audit trail, oldest first, never empty.
    pub fn history(&self) -> &[HistoryEntry] {
        self.common().history()
    }

    /// The newest line of the audit trail that gave the task its status: coming back from the archive does not.
    pub fn last_change(&self) -> &HistoryEntry {
        let newest = self.history().iter().rev();
        let mut changes = newest.filter(|it| it.action != Action::Restore);
        changes.next().unwrap_or_else(|| self.common().first())
    }

    /// When it was created.
    pub fn created_at(&self) -> Timestamp {
        self.common().first().timestamp
    }

    /// When it last changed.
    pub fn updated_at(&self) -> Timestamp {
        self.common().last().timestamp
    }

    /// The claim under which the task is, or was, worked on; none since it was reopened.
    pub fn claimed(&self) -> Option<&HistoryEntry> {
        let resets = [
            Action::from(Transition::Claim),
            Action::from(Transition::Reopen),
        ];
        let newest = self
            .history()
            .iter()
            .rev()
            .find(|it| resets.contains(&it.action));
        newest.filter(|it| it.action == Transition::Claim.into())
    }

    /// Entries that may not be in their own file yet.
    pub fn outbox(&self) -> &[OutboxEntry] {
        self.common().outbox()
    }

    /// Puts an entry on its way. It leaves with the next commit of this task.
    pub fn enqueue(&mut self, entry: OutboxEntry) {
        self.common_mut().outbox_mut().push(entry);
    }

    /// Forgets the entries that have arrived.
    pub fn settle(&mut self, arrived: impl Fn(&OutboxEntry) -> bool) {
        self.common_mut()
            .outbox_mut()
            .retain(|entry| !arrived(entry));
    }
}
