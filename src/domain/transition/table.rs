//! The table of transitions, and what is made of it.
//!
//! From one row come: the capability impls that decide what compiles, the run-time dispatch on [`AnyTask`], who may
//! do it, the sources that errors name, what the history may say, and the lifecycle table in the README.

use super::{
    Action, AnyTask, Approvable, Approved, Archivable, Authority, Cancellable, Cancelled,
    Claimable, Claimed, Completable, Completed, Denial, InProgress, Note, Pending, Refused,
    Reopenable, Returnable, RevisionRequested, Stamp, Startable, State, Status, Submission,
};

macro_rules! transitions {
    (
        moves { $(
            $(#[$meta:meta])*
            $variant:ident $tools:tt by $who:ident,
            $method:ident($($arg:ident: $type:ty),*),
            [$capability:ident] $($from:ident)|+ => $to:ident;
        )* }
        stays { $($stay_tool:literal: $($stay:ident)|+;)* }
        archive { $restore:ident [$archivable:ident] $($over:ident)|+; }
    ) => {
        /// A named move from one status to another.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Transition { $($(#[$meta])* $variant),* }

        impl Transition {
            /// Every transition, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The MCP tools that ask for it, the plainest first.
            pub const fn tools(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &$tools),* }
            }

            /// The transition as the history spells it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($method)),* }
            }

            /// Who may do it.
            pub const fn authority(self) -> Authority {
                match self { $(Self::$variant => Authority::$who),* }
            }

            /// The statuses it starts from.
            pub const fn sources(self) -> &'static [Status] {
                match self { $(Self::$variant => &[$($from::STATUS),+]),* }
            }

            /// The status it ends in.
            pub const fn target(self) -> Status {
                match self { $(Self::$variant => $to::STATUS),* }
            }

            /// The statuses in which a tool works and leaves the status as it is.
            const fn stays() -> &'static [(&'static str, &'static [Status])] {
                &[$(($stay_tool, &[$($stay::STATUS),+])),*]
            }
        }

        impl Status {
            /// The statuses in which nothing is left to be done, so that a task can be put into the archive.
            pub const ARCHIVABLE: &'static [Self] = &[$($over::STATUS),+];
        }

        $($(
            #[diagnostic::do_not_recommend]
            impl $capability for $from {}
        )+)*

        $(
            #[diagnostic::do_not_recommend]
            impl $archivable for $over {}
        )+

        impl AnyTask {
        $(
            #[doc = concat!("[`Task::", stringify!($method), "`](super::super::Task::", stringify!($method), ") where the status and the actor allow it.")]
            ///
            /// # Errors
            ///
            /// [`Refused`], with the task, where they do not.
            pub fn $method(self, stamp: Stamp, $($arg: $type),*) -> Result<Self, Refused> {
                transitions!(
                    @dispatch self, stamp, $variant, $who, $method, ($($arg),*), $($from)+
                )
            }
        )*

            #[doc = concat!("[`Task::", stringify!($restore), "`](super::super::Task::", stringify!($restore), ") where the status allows it.")]
            ///
            /// # Errors
            ///
            /// The task, where it does not: such a one cannot have been in the archive.
            pub fn $restore(self, stamp: Stamp) -> Result<Self, Box<Self>> {
                match self {
                    $(Self::$over(task) => Ok(task.$restore(stamp).into()),)+
                    other => Err(Box::new(other)),
                }
            }
        }
    };
    (
        @dispatch $task:ident, $stamp:ident, $variant:ident, $who:ident, $method:ident, $args:tt,
        $($from:ident)+
    ) => {{
        let refused = |task: AnyTask, denial| {
            Refused { task: Box::new(task), transition: Transition::$variant, denial }
        };
        match $task {
            $(AnyTask::$from(task) => {
                transitions!(@call $who, task, $stamp, refused, $method $args)
            })+
            other => Err(refused(other, Denial::Status)),
        }
    }};
    (@call Anyone, $task:ident, $stamp:ident, $refused:ident, $method:ident($($arg:ident),*)) => {
        Ok($task.$method($stamp, $($arg),*).into())
    };
    (@call Assignee, $task:ident, $stamp:ident, $refused:ident, $method:ident($($arg:ident),*)) => {
        if $stamp.actor == *$task.assignee() {
            Ok($task.$method($stamp.at, $($arg),*).into())
        } else {
            Err($refused($task.into(), Denial::NotAssignee))
        }
    };
    (@call $reviewer:ident, $task:ident, $stamp:ident, $refused:ident, $method:ident($($arg:ident),*)) => {
        match $task.$method($stamp, $($arg),*) {
            Ok(task) => Ok(task.into()),
            Err(own) => Err($refused(own.into_task().into(), Denial::NotReviewer)),
        }
    };
}

transitions! {
    moves {
        /// Somebody takes the task.
        Claim ["claim_task", "claim_next_task"] by Anyone, claim(),
            [Claimable] Pending => Claimed;
        /// Its holder begins.
        Start ["update_progress"] by Assignee, start(),
            [Startable] Claimed | RevisionRequested => InProgress;
        /// Its holder hands it in.
        Complete ["complete_task"] by Assignee, complete(submission: Submission),
            [Completable] Claimed | InProgress | RevisionRequested => Completed;
        /// A reviewer accepts it.
        Approve ["approve_task"] by ReviewerOrOwner, approve(note: Option<Note>),
            [Approvable] Completed => Approved;
        /// A reviewer sends it back.
        RequestRevision ["request_revision"] by Reviewer, request_revision(feedback: Note),
            [Returnable] Completed => RevisionRequested;
        /// Somebody withdraws it.
        Cancel ["cancel_task"] by Anyone, cancel(reason: Option<Note>),
            [Cancellable] Pending | Claimed | InProgress | RevisionRequested => Cancelled;
        /// Somebody puts it back.
        Reopen ["reopen_task"] by Anyone, reopen(reason: Option<Note>),
            [Reopenable] Completed | Approved | Cancelled => Pending;
    }
    stays {
        "update_progress": InProgress;
    }
    archive {
        restore [Archivable] Approved | Cancelled;
    }
}

impl Transition {
    /// The tool that errors and advice name.
    pub const fn tool(self) -> &'static str {
        match self.tools() {
            [tool, ..] => tool,
            [] => self.name(),
        }
    }

    /// The transition from one status to another, if there is one.
    pub fn between(from: Status, to: Status) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|it| it.target() == to && it.sources().contains(&from))
    }

    /// The statuses that a tool takes, in the order of the lifecycle, whether or not it changes them.
    pub fn taken_by(tool: &str) -> Vec<Status> {
        let moves = Self::ALL.iter().filter(|it| it.tools().contains(&tool));
        let moves = moves.flat_map(|it| it.sources());
        let stays = Self::stays()
            .iter()
            .filter(|(it, _)| *it == tool)
            .flat_map(|(_, statuses)| *statuses);
        let taken: Vec<_> = moves.chain(stays).collect();
        Status::ALL
            .into_iter()
            .filter(|it| taken.contains(&it))
            .collect()
    }

    /// The lifecycle as a table for people, in Markdown.
    pub fn markdown() -> String {
        let names = |statuses: &[Status]| {
            statuses
                .iter()
                .map(|it| format!("`{it}`"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let row = |name: &str, tools: &[&str], from: &str, to: &str, who: &str| {
            let tools: Vec<_> = tools.iter().map(|it| format!("`{it}`")).collect();
            format!(
                "| {name} | {} | {from} | {to} | {who} |\n",
                tools.join(", ")
            )
        };
        let head = "| transition | tool | from | to | who |\n|---|---|---|---|---|\n".to_owned();
        let create = row("create", &["create_task"], "–", "`pending`", "anyone");
        let moves = Self::ALL.iter().map(|it| {
            let name = it.name().replace('_', " ");
            row(
                &name,
                it.tools(),
                &names(it.sources()),
                &names(&[it.target()]),
                it.authority().as_str(),
            )
        });
        let stays = Self::stays().iter().map(|(tool, statuses)| {
            row(
                "*(none)*",
                &[tool],
                &names(statuses),
                "unchanged",
                Authority::Assignee.as_str(),
            )
        });
        let restore = row(
            Action::Restore.as_str(),
            &["ai-coord-mcp restore"],
            &names(Status::ARCHIVABLE),
            "unchanged",
            Authority::Anyone.as_str(),
        );
        head + &create + &moves.chain(stays).collect::<String>() + &restore
    }
}

impl Authority {
    /// Who it is, in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anyone => "anyone",
            Self::Assignee => "the assignee",
            Self::Reviewer => "anyone else",
            Self::ReviewerOrOwner => "anyone else; the assignee if it is the creator too",
        }
    }
}
