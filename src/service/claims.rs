//! Getting work.

use super::{Claim, Client, Failure, Ref, Service, expect_version};
use crate::{
    domain::{AgentName, AnyTask, ProgressLog, RequestedName, Status, Tag, TaskId, Thread},
    store::Listing,
};

/// How many tasks are named that the caller holds besides, or that wait for others.
const NAMED: usize = 5;

/// What work is wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClaimNext {
    /// A tag that new work has to have.
    pub(crate) tag: Option<Tag>,
    /// The name to claim under.
    pub(crate) agent: Option<RequestedName>,
}

/// Why a task is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Revision,
    Resumed,
    New,
}

impl Source {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Revision => "revision",
            Self::Resumed => "resumed",
            Self::New => "new",
        }
    }
}

impl Service {
    /// Claims a task.
    pub(crate) fn claim(
        &self,
        id: TaskId,
        agent: Option<RequestedName>,
        expected_version: Option<u64>,
        client: &Client,
    ) -> Result<Claim, Failure> {
        let me = self.acting(agent, client)?;
        let names = self.names(client)?;
        let (claimed, ()) = self.store.change(id, |task| {
            let task = task.ok_or_else(|| self.not_found(id))?;
            expect_version(&task, expected_version)?;
            if task.status().is_held() {
                return if task.assignee().is_some_and(|it| names.contains(it)) {
                    Ok((None, ()))
                } else {
                    Err(self.not_assignee(&task, "claim_task"))
                };
            }
            self.claimed(task, &me, &names).map(|task| (Some(task), ()))
        })?;
        let already = claimed.is_none();
        let task = claimed.map_or_else(|| self.task(id), Ok)?;
        self.handed_out(&task);
        Ok(Claim {
            already,
            ..self.claim_of(&task, &names)
        })
    }

    /// Hands out the caller's next task, if there is one now.
    pub(crate) fn claim_next(&self, wanted: &ClaimNext, client: &Client) -> Result<Claim, Failure> {
        let me = self.acting(wanted.agent.clone(), client)?;
        // A subagent's work is its own; the process itself answers for all of its names.
        let names = match wanted.agent {
            Some(_) => vec![me.clone()],
            None => self.names(client)?,
        };
        let listing = self.store.list()?;
        for (source, id) in self.candidates(&listing, &names, wanted.tag.as_ref()) {
            if let Some(task) = self.hand_out(source, id, &me, &names)? {
                let held = held(&listing, &names, Some(id));
                let why = Some(source.as_str());
                return Ok(Claim {
                    why,
                    held,
                    ..self.claim_of(&task, &names)
                });
            }
        }
        let held = held(&listing, &names, None);
        Ok(Claim {
            already: false,
            why: None,
            next: Some(self.why_nothing(&listing, wanted.tag.as_ref(), &held)),
            held,
            progress: None,
            messages: Vec::new(),
            unreadable: Vec::new(),
            task: None,
        })
    }

    /// What could be handed out, in the order in which it is: the listing proposes, the lock decides.
    fn candidates(
        &self,
        listing: &Listing,
        names: &[AgentName],
        tag: Option<&Tag>,
    ) -> Vec<(Source, TaskId)> {
        let is_mine = |task: &AnyTask| task.assignee().is_some_and(|it| names.contains(it));
        let source = |task: &AnyTask| match task.status() {
            Status::RevisionRequested if is_mine(task) => Some(Source::Revision),
            Status::Claimed | Status::InProgress if is_mine(task) && !self.is_handed_out(task) => {
                Some(Source::Resumed)
            }
            Status::Pending
                if tag.is_none_or(|tag| task.work().tags.contains(tag))
                    && self.blocked_by(task, Some(listing)).is_empty() =>
            {
                Some(Source::New)
            }
            _ => None,
        };
        let mut candidates: Vec<_> = listing
            .tasks
            .iter()
            .filter_map(|it| Some((source(it)?, it.id())))
            .collect();
        candidates.sort_by_key(|(source, id)| (*source as u8, *id));
        candidates
    }

    /// Hands a task out, if it still is what it looked like. None: somebody was faster.
    fn hand_out(
        &self,
        source: Source,
        id: TaskId,
        me: &AgentName,
        names: &[AgentName],
    ) -> Result<Option<AnyTask>, Failure> {
        let is_mine = |task: &AnyTask| task.assignee().is_some_and(|it| names.contains(it));
        let (changed, is_handed) = self.store.change(id, |task| {
            let Some(task) = task else {
                return Ok((None, false));
            };
            match (source, task.status()) {
                (Source::Revision, Status::RevisionRequested) if is_mine(&task) => {
                    let holder = task.assignee().cloned().unwrap_or_else(|| me.clone());
                    let started = task.start(self.stamp(holder));
                    started
                        .map(|it| (Some(it), true))
                        .map_err(|it| self.refusal(&it, names))
                }
                (Source::Resumed, Status::Claimed | Status::InProgress) if is_mine(&task) => {
                    Ok((None, true))
                }
                (Source::New, Status::Pending) if self.blocked_by(&task, None).is_empty() => {
                    self.claimed(task, me, names).map(|it| (Some(it), true))
                }
                _ => Ok::<_, Failure>((None, false)),
            }
        })?;
        if !is_handed {
            return Ok(None);
        }
        let task = changed.map_or_else(|| self.task(id), Ok)?;
        self.handed_out(&task);
        Ok(Some(task))
    }

    fn claimed(
        &self,
        task: AnyTask,
        me: &AgentName,
        names: &[AgentName],
    ) -> Result<AnyTask, Failure> {
        let blocked_by = self.blocked_by(&task, None);
        if !blocked_by.is_empty() {
            return Err(self.blocked(&task, &blocked_by));
        }
        task.claim(self.stamp(me.clone()))
            .map_err(|refused| self.refusal(&refused, names))
    }

    /// The claim is made: a thread that cannot be read must not make it look refused, nor look empty.
    fn claim_of(&self, task: &AnyTask, names: &[AgentName]) -> Claim {
        let mut unreadable = Vec::new();
        let thread: Thread = self.log_or_note(task, &mut unreadable);
        let progress: ProgressLog = self.log_or_note(task, &mut unreadable);
        Claim {
            already: false,
            why: None,
            held: Vec::new(),
            next: None,
            progress: progress.latest().map(Into::into),
            messages: self.showing(Self::riding(&thread, names, None)),
            unreadable,
            task: Some(self.work_order(task)),
        }
    }

    fn is_handed_out(&self, task: &AnyTask) -> bool {
        let claim = task.claimed().map_or(0, |it| it.version);
        self.memory().handed_out.contains(&(task.id(), claim))
    }

    fn handed_out(&self, task: &AnyTask) {
        let claim = task.claimed().map_or(0, |it| it.version);
        self.memory().handed_out.insert((task.id(), claim));
    }

    /// Forgets that a task was handed out, because nobody got it.
    pub(crate) fn take_back(&self, claim: &Claim) {
        if let Some(task) = &claim.task {
            self.memory().handed_out.retain(|(id, _)| *id != task.id);
        }
    }

    fn why_nothing(&self, listing: &Listing, tag: Option<&Tag>, held: &[Ref]) -> String {
        if listing.is_empty() {
            return self.nothing_here();
        }
        let pending = listing
            .tasks
            .iter()
            .filter(|it| it.status() == Status::Pending);
        let blocked: Vec<_> = pending
            .filter(|it| tag.is_none_or(|tag| it.work().tags.contains(tag)))
            .map(|it| (it.id(), self.blocked_by(it, Some(listing))))
            .filter(|(_, by)| !by.is_empty())
            .collect();
        if blocked.is_empty() {
            let tagged = tag.map_or_else(String::new, |tag| format!(" with the tag {tag}"));
            return match held {
                [] => format!(
                    "no task{tagged} is pending; call again with wait_seconds to get the next one"
                ),
                // Waiting would leave it undone: it was handed out already, and is not again.
                [first, ..] => format!(
                    "no other task{tagged} is pending; finish {} first (claim_task shows its work order)",
                    first.id
                ),
            };
        }
        let waits =
            |(id, by): &(TaskId, Vec<TaskId>)| format!("{id} waits for {}", self.waits_for(by));
        let named: Vec<_> = blocked.iter().take(NAMED).map(waits).collect();
        let more = match blocked.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        format!(
            "{}{more}; call again with wait_seconds to get the next one",
            named.join("; ")
        )
    }
}

/// Unfinished tasks of the caller besides the one it is given.
fn held(listing: &Listing, names: &[AgentName], but: Option<TaskId>) -> Vec<Ref> {
    let is_mine = |task: &&AnyTask| task.assignee().is_some_and(|it| names.contains(it));
    let held = listing
        .tasks
        .iter()
        .filter(|it| it.status().is_held() && Some(it.id()) != but);
    held.filter(is_mine)
        .take(4 * NAMED)
        .map(Into::into)
        .collect()
}
