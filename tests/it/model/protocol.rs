//! The protocol, step by step: what each process may do next, and what may happen to it.
//!
//! Responsibility: each step is one system call of `src/store/lock.rs` and the modules below it; [`At`] names the
//! function that makes it. Whoever changes the order of system calls there changes it here.
//!
//! The adversary schedules, lets processes crash, takes living holders for dead and dead ones for living, and
//! sweeps. It is stronger than the code allows: no verdict depends on a clock or a `flock` here.
//!
//! Limits: patience and the number of attempts are left out, as if every caller asked again. So is what a process
//! remembers of locks, which only delays verdicts. A crash is the end of a process: of a power cut, which may undo what
//! has not been flushed, nothing is said.

use super::{
    event::{Event, Label},
    explorer::{Model, Step},
    namespace::{Arrival, Document, name},
    state::{At, Process, State},
};

/// The protocol as it is, and what it would be without one of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Design {
    /// As it is.
    Fused,
    /// The document is overwritten whether or not the token is still there.
    NoFence,
    /// All tokens have one name.
    SharedName,
    /// Looks whether the token is still there, then overwrites the document.
    VerifyThenWrite,
    /// A rename may say "not found" when it has been done, as NFS does when an answer was lost on the way.
    LostAnswer,
    /// Every holder is taken for living.
    NoTakeover,
}

/// So many processes, each with so many updates to make.
#[derive(Clone, Copy, Debug)]
pub(super) struct Protocol<const N: usize> {
    pub(super) design: Design,
    pub(super) updates: u8,
    pub(super) crashes: u8,
    /// Whether somebody sweeps, all the time.
    pub(super) is_swept: bool,
}

impl<const N: usize> Model for Protocol<N> {
    type State = State<N>;
    type Label = Label;

    fn initial(&self) -> State<N> {
        State::new(self.crashes)
    }

    fn steps(&self, state: &State<N>, steps: &mut Vec<Step<Self>>) {
        for process in 0..N {
            let mut turn = Turn {
                protocol: self,
                state,
                process,
                steps,
            };
            turn.crash();
            turn.sweep();
            match state.processes[process].at {
                At::Start | At::CreateToken | At::Hold | At::Publish => turn.compete(),
                At::Open | At::List | At::TakeAway | At::RemoveEmpty => turn.look(),
                At::Read | At::Fill | At::Verify | At::Move => turn.update(),
                At::Clear | At::DropToken | At::DropDirectory => turn.release(),
                At::Done | At::Crashed => {}
            }
        }
    }

    fn is_finished(&self, state: &State<N>) -> bool {
        let mut processes = state.processes.iter();
        processes.all(|process| matches!(process.at, At::Done | At::Crashed))
    }
}

/// One process's choice of steps in one state.
struct Turn<'a, const N: usize> {
    protocol: &'a Protocol<N>,
    state: &'a State<N>,
    process: usize,
    steps: &'a mut Vec<Step<Protocol<N>>>,
}

impl<const N: usize> Turn<'_, N> {
    /// Between any two system calls, but only where there is something to leave behind.
    fn crash(&mut self) {
        let at = self.state.processes[self.process].at;
        if self.state.crashes_left == 0 || matches!(at, At::Start | At::Done | At::Crashed) {
            return;
        }
        let process = self.process;
        self.step(Event::Crashed, At::Crashed, |state| {
            state.crashes_left -= 1;
            state.processes[process].end_attempt();
            state.names.close(process);
            state.names.forget_candidate(process);
        });
    }

    /// `sweep::sweep`, by somebody else.
    ///
    /// A sweeper may have opened a candidate long ago, and so unlink the token when the candidate has become the lock.
    fn sweep(&mut self) {
        if !self.protocol.is_swept {
            return;
        }
        let (owner, at) = (self.process, self.state.processes[self.process].at);
        if self.state.names.has_token(owner) {
            self.step(Event::TokenSwept, at, |state| state.unlink(owner));
        } else if self.state.names.is_candidate(owner) {
            self.step(Event::CandidateSwept, at, |state| {
                state.names.remove_candidate(owner);
            });
        } else if self.state.names.lock() == Some(owner) {
            self.step(Event::LockSwept, at, |state| state.names.remove_lock());
        }
    }

    /// `Lock::compete`.
    fn compete(&mut self) {
        let owner = self.process;
        match self.state.processes[owner].at {
            At::Start => self.step(Event::CandidateMade, At::CreateToken, |state| {
                state.names.make_candidate(owner);
            }),
            At::CreateToken if self.state.names.is_candidate(owner) => {
                self.step(Event::TokenCreated, At::Hold, |state| {
                    state.names.create_token(owner);
                });
            }
            At::CreateToken => self.step(Event::TokenRefused, At::Start, |_| {}),
            At::Hold => {
                self.step(Event::Held, At::Publish, |_| {});
                if self.protocol.is_swept {
                    self.step(Event::HoldRefused, At::DropToken, |_| {});
                }
            }
            _ => self.publish(),
        }
    }

    /// `Token::publish`.
    fn publish(&mut self) {
        let mut next = *self.state;
        let (event, at) = match next.names.rename_to_lock(self.process) {
            Arrival::Done => (Event::Published, At::Read),
            Arrival::NotEmpty => (Event::PublishRefused, At::Open),
            Arrival::NotFound => (Event::PublishSwept, At::DropToken),
        };
        next.processes[self.process].has_published = event == Event::Published;
        self.step(event, at, |state| *state = next);
    }

    /// `holders::look`.
    fn look(&mut self) {
        let Process { at, opened, .. } = self.state.processes[self.process];
        let process = self.process;
        match (at, opened) {
            (At::Open, _) if self.state.names.lock().is_none() => {
                self.step(Event::NothingToOpen, At::Publish, |_| {});
            }
            (At::Open, _) => self.step(Event::Opened, At::List, |state| {
                let owner = state.names.locked_by();
                let owner = owner.map(|owner| u8::try_from(owner).expect("there are few"));
                state.processes[process].opened = owner;
            }),
            (At::List, None) => self.step(Event::ListedNothing, At::RemoveEmpty, |_| {}),
            (At::List, Some(owner)) => self.judge(owner.into()),
            (At::TakeAway, Some(owner)) => self.take_away(owner.into()),
            (At::TakeAway, None) => self.step(Event::NothingToTake, At::Publish, |_| {}),
            _ => self.step(Event::EmptyRemoved, At::Publish, |state| {
                state.names.remove_lock();
            }),
        }
    }

    /// Any verdict may come. So may none: beside renames a listing may miss what is there.
    fn judge(&mut self, owner: usize) {
        let process = self.process;
        self.step(Event::ListedNothing, At::RemoveEmpty, |state| {
            state.processes[process].opened = None;
        });
        self.step(Event::Spared, At::Publish, |state| {
            state.processes[process].opened = None;
        });
        if self.protocol.design == Design::NoTakeover {
            return;
        }
        let event = if self.state.is_alive(owner) {
            Event::LivingJudgedDead
        } else {
            Event::JudgedDead
        };
        self.step(event, At::TakeAway, |_| {});
    }

    /// By the handle to the directory that was listed, whatever has the lock's name by now.
    fn take_away(&mut self, owner: usize) {
        let event = if self.state.is_alive(owner) {
            Event::TakenFromLiving
        } else {
            Event::TakenFromDead
        };
        self.step(event, At::Publish, |state| state.unlink(owner));
    }

    /// `Engine::update`, with the lock.
    fn update(&mut self) {
        let process = self.process;
        let token = self.token();
        match self.state.processes[process].at {
            At::Read => {
                self.step(Event::Read, At::Fill, |state| {
                    state.processes[process].read = state.names.document();
                });
                self.step(Event::Declined, At::DropToken, |_| {});
            }
            At::Fill => {
                let at = match self.protocol.design {
                    Design::VerifyThenWrite => At::Verify,
                    _ => At::Move,
                };
                self.step(Event::Filled, at, |state| {
                    let next = state.processes[process].read.with(process);
                    state.names.write(process, next);
                    state.processes[process].read = Document::NOTHING;
                });
            }
            At::Verify if token.is_some() => self.step(Event::Verified, At::Move, |_| {}),
            At::Verify => self.step(Event::VerifyLost, At::DropToken, |_| {}),
            _ => self.commit(token),
        }
    }

    /// `Token::move_to`: whatever is at the token's path becomes the document.
    fn commit(&mut self, token: Option<usize>) {
        let mut next = *self.state;
        let at = match (self.protocol.design, token) {
            (Design::NoFence | Design::VerifyThenWrite, _) => {
                next.names.overwrite_document(self.process);
                At::DropToken
            }
            (_, None) => return self.step(Event::CommitLost, At::DropToken, |_| {}),
            (_, Some(owner)) => {
                next.names.rename_to_document(owner);
                next.unlink(owner);
                At::Clear
            }
        };
        if self.protocol.design == Design::LostAnswer {
            self.step(Event::CommitLost, At::DropToken, |state| *state = next);
        }
        next.processes[self.process].committed += 1;
        self.step(Event::Committed, at, |state| *state = next);
        if let Some(step) = self.steps.last_mut() {
            step.fault = fault(next.expected_document(), next.names.document());
        }
    }

    /// `Token::clear_directory` and `Drop for Token`: by path.
    fn release(&mut self) {
        let process = self.process;
        match self.state.processes[process].at {
            At::DropToken => {
                let token = self.token();
                self.step(Event::TokenDropped, At::DropDirectory, |state| {
                    if let Some(owner) = token {
                        state.unlink(owner);
                    }
                });
            }
            At::DropDirectory => self.end(Event::DirectoryDropped),
            _ => self.end(Event::Cleared),
        }
    }

    /// Removes the directory, and goes on to what is left to do.
    fn end(&mut self, event: Event) {
        let process = self.process;
        let Process {
            committed,
            has_published,
            ..
        } = self.state.processes[process];
        let at = if committed == self.protocol.updates {
            At::Done
        } else {
            At::Start
        };
        self.step(event, at, |state| {
            if has_published {
                state.names.remove_lock();
            } else {
                state.names.remove_candidate(process);
            }
            state.processes[process].end_attempt();
            state.names.close(process);
        });
    }

    /// Whose token is where the path of this process's token leads.
    fn token(&self) -> Option<usize> {
        let names = &self.state.names;
        if !self.state.processes[self.process].has_published {
            return names.has_token(self.process).then_some(self.process);
        }
        let is_named_so =
            |&owner: &usize| owner == self.process || self.protocol.design == Design::SharedName;
        names.locked_by().filter(is_named_so)
    }

    fn step(&mut self, event: Event, at: At, change: impl FnOnce(&mut State<N>)) {
        let mut next = *self.state;
        change(&mut next);
        next.processes[self.process].at = at;
        self.steps.push(Step {
            label: Label {
                process: self.process,
                event,
                document: next.names.document(),
            },
            next,
            is_hostile: event.is_hostile(),
            fault: None,
        });
    }
}

/// Each commit adds its update to all that there was, and nothing else does. What has happened instead:
fn fault(expected: Document, found: Document) -> Option<String> {
    let of_each = (0..4).map(|process| (process, expected.count(process), found.count(process)));
    let mut wrong = of_each.filter(|(_, expected, found)| expected != found);
    let (process, expected, found) = wrong.next()?;
    let name = name(process);
    Some(if found < expected {
        format!("lost update: update {expected} of {name} isn't in the document")
    } else {
        format!("double update: {name} has committed {expected} and {found} are in the document")
    })
}
