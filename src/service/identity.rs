//! Who this process is: names that it holds for as long as it lives.
//!
//! A name is taken at the first call that needs one, never at the start, and given back by the
//! kernel however the process ends. So a restarted assistant regains its name and with it its
//! tasks, and two that run at the same time never share one.

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{Clock, Code, Failure};
use crate::{
    domain::AgentName,
    store::{Card, Holder, Presence, Store, Taken},
};

/// How many processes of one name are told apart before something else must be wrong.
const MOST: u32 = 1_000;

/// The client that started this process, as it introduced itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Client {
    /// Its name, e.g. `claude-code`.
    pub(crate) name: Option<String>,
    /// Its version.
    pub(crate) version: Option<String>,
}

/// One process that had a name, told apart from others by its id and beginning; unknown without a card.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Life(Option<(u32, String)>);

/// The names of this process.
#[derive(Debug)]
pub(crate) struct Identity {
    chosen: Option<AgentName>,
    place: PathBuf,
    held: Mutex<Vec<Held>>,
}

#[derive(Debug)]
struct Held {
    name: AgentName,
    card: Card,
    presence: Presence,
    /// Asked for beside the process's own.
    is_further: bool,
}

impl Identity {
    /// No name yet. `chosen` is a person's wish, `place` the worktree.
    pub(super) fn new(chosen: Option<AgentName>, place: PathBuf) -> Self {
        Self {
            chosen,
            place,
            held: Mutex::default(),
        }
    }

    /// Under which name a person acts: the one chosen for this process, taken or not.
    pub(super) fn person(&self) -> AgentName {
        let anonymous = || AgentName::from_words("person").expect("a word is a name");
        self.chosen.clone().unwrap_or_else(anonymous)
    }

    /// What somebody without any name is called.
    pub(super) fn nameless() -> AgentName {
        AgentName::from_words("agent").expect("a word is a name")
    }

    /// The names that were taken so far, the process's own first.
    pub(super) fn taken(&self) -> Vec<AgentName> {
        self.held().iter().map(|it| it.name.clone()).collect()
    }

    /// Takes the names again whose cards were removed or replaced, so that nobody takes this process for gone while it
    /// has nothing to do.
    ///
    /// Where the whole directory is gone, somebody wanted it gone: it is for the next call to make it again.
    pub(super) fn keep(&self, store: &Store) -> Result<(), Failure> {
        if !store.is_there()? {
            return Ok(());
        }
        renew(&mut self.held(), store)
    }

    /// The names of this process, its own first; taken now if it has none.
    pub(super) fn names(
        &self,
        store: &Store,
        clock: &Clock,
        client: &Client,
    ) -> Result<Vec<AgentName>, Failure> {
        let mut held = self.held();
        renew(&mut held, store)?;
        if held.first().is_none_or(|it| it.is_further) {
            let base = self.base(client);
            let free = self.first_free(&base, store, clock, client)?;
            held.insert(0, free);
        }
        Ok(held.iter().map(|it| it.name.clone()).collect())
    }

    /// Takes a further name, for a subagent or by a person's choice.
    pub(super) fn further(
        &self,
        name: AgentName,
        store: &Store,
        clock: &Clock,
        client: &Client,
    ) -> Result<AgentName, Failure> {
        // Its own name first: it is the one it acts under where no other is given.
        self.names(store, clock, client)?;
        // Held throughout: of two calls at once the second would meet the first one's lock, and take this very process
        // for another one.
        let mut held = self.held();
        if held.iter().any(|it| it.name == name) {
            return Ok(name);
        }
        match self.take(name.clone(), store, clock, client)? {
            Ok(taken) => held.push(Held {
                is_further: true,
                ..taken
            }),
            Err(card) => return Err(name_taken(&name, card.as_ref())),
        }
        Ok(name)
    }

    /// The life that a name's holder has ended, if it is known to be gone; nobody is where that can't be known. Two
    /// processes that had the name one after the other are two lives.
    pub(super) fn ended(&self, name: &AgentName, store: &Store) -> Option<Life> {
        if self.held().iter().any(|it| it.name == *name) {
            return None;
        }
        match store.holder(name) {
            Ok(Holder::Gone(card)) => Some(Life(card.map(|it| (it.pid(), it.since().to_owned())))),
            _ => None,
        }
    }

    fn base(&self, client: &Client) -> AgentName {
        let of_client = || {
            let place = self
                .place
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let client = client
                .name
                .as_deref()
                .filter(|it| !it.trim().is_empty())
                .unwrap_or("agent");
            AgentName::from_words(&format!("{client}@{place}"))
        };
        self.chosen
            .clone()
            .or_else(of_client)
            .unwrap_or_else(Self::nameless)
    }

    fn first_free(
        &self,
        base: &AgentName,
        store: &Store,
        clock: &Clock,
        client: &Client,
    ) -> Result<Held, Failure> {
        for number in 1..=MOST {
            let name = if number == 1 {
                base.clone()
            } else {
                base.numbered(number)
            };
            if let Ok(held) = self.take(name, store, clock, client)? {
                return Ok(held);
            }
        }
        Err(name_taken(base, None))
    }

    /// The name, or the card of the one who has it.
    fn take(
        &self,
        name: AgentName,
        store: &Store,
        clock: &Clock,
        client: &Client,
    ) -> Result<Result<Held, Option<Card>>, Failure> {
        let place = self.place.display().to_string();
        let card = Card::new(name.as_str(), place, clock.now().to_string())
            .with_client(client.name.clone(), client.version.clone());
        Ok(match store.take_name(&name, &card)? {
            Taken::Held(presence) => Ok(Held {
                name,
                card,
                presence,
                is_further: false,
            }),
            Taken::InUse(card) => Err(card),
        })
    }

    fn held(&self) -> MutexGuard<'_, Vec<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the names again whose files were removed (`git clean -fdx` happens); one that somebody else
/// has taken meanwhile is lost.
fn renew(held: &mut Vec<Held>, store: &Store) -> Result<(), Failure> {
    let mut lost = Vec::new();
    for it in held.iter_mut() {
        if store.keeps_name(&it.presence)? {
            continue;
        }
        match store.take_name(&it.name, &it.card)? {
            Taken::Held(presence) => it.presence = presence,
            Taken::InUse(_) => lost.push(it.name.clone()),
        }
    }
    held.retain(|it| !lost.contains(&it.name));
    Ok(())
}

fn name_taken(name: &AgentName, card: Option<&Card>) -> Failure {
    let whose = card.map_or_else(String::new, |card| {
        let client = card.client().unwrap_or("an unknown client");
        let version = card.version().unwrap_or_default();
        let (pid, directory, since) = (card.pid(), card.directory(), card.since());
        format!(" ({client} {version}, pid {pid}, in {directory}, since {since})")
    });
    let text = format!(
        "the name {name} belongs to another running process{whose}: choose another one, or leave `agent` out"
    );
    Failure::new(Code::NameTaken, text)
}
