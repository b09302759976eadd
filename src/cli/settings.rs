//! What the environment says, read once at the start.

use std::{env, ffi::OsString, path::PathBuf, str::FromStr, sync::Arc, time::Duration};

use thiserror::Error;

use crate::{
    domain::AgentName,
    mcp::tools::{Profile, UnknownTools},
    service::{Ceiling, Clock, Service, Setting},
    store::{
        Durability, Settings as StoreSettings, Store, UnknownDurability,
        location::{Inputs, Location, LocationError, Worktree},
    },
};

const AGENT: &str = "COORDINATION_AGENT";
const DURABILITY: &str = "COORDINATION_DURABILITY";
const MAX_WAIT: &str = "COORDINATION_MAX_WAIT_SECONDS";
const TOOLS: &str = "COORDINATION_TOOLS";
const STALE_LOCK: &str = "COORDINATION_STALE_LOCK_SECONDS";

/// The settings of this process.
#[derive(Debug)]
pub(super) struct Settings {
    inputs: Inputs,
    location: Location,
    store: StoreSettings,
    agent: Option<AgentName>,
    ceiling: Ceiling,
    profile: Profile,
}

/// A setting cannot be used.
#[derive(Debug, Error)]
pub(super) enum SettingsError {
    /// There is no telling which directory is meant.
    #[error(transparent)]
    Location(#[from] LocationError),
    /// `COORDINATION_DURABILITY` names no level.
    #[error("{DURABILITY}: {0}")]
    Durability(#[from] UnknownDurability),
    /// `COORDINATION_AGENT` holds nothing that a name can be made of.
    #[error(
        "{AGENT}: {0:?} makes no name: expected 1 to 64 of A-Z a-z 0-9 . _ @ # -, and not \"me\""
    )]
    Agent(OsString),
    /// `COORDINATION_MAX_WAIT_SECONDS` is no number.
    #[error("{MAX_WAIT}: expected a whole number of seconds from 1, got {0:?}")]
    MaxWait(OsString),
    /// `COORDINATION_TOOLS` chooses no tools.
    #[error("{TOOLS}: {0}")]
    Tools(#[from] UnknownTools),
    /// `COORDINATION_STALE_LOCK_SECONDS` is no length of time.
    #[error("{STALE_LOCK}: expected a number of seconds above 0, such as 10 or 0.5, got {0:?}")]
    StaleLock(OsString),
}

impl Settings {
    /// Reads the environment. `dir`, `tools`: what the command line says.
    pub(super) fn from_env(
        dir: Option<PathBuf>,
        tools: Option<Profile>,
    ) -> Result<Self, SettingsError> {
        let inputs = Inputs::from_env(dir)?;
        Ok(Self {
            location: Location::resolve(&inputs)?,
            store: store(variable(DURABILITY), variable(STALE_LOCK))?,
            agent: agent(variable(AGENT))?,
            ceiling: ceiling(variable(MAX_WAIT))?,
            profile: tools.map_or_else(|| profile(variable(TOOLS)), Ok)?,
            inputs,
        })
    }

    /// The shared directory.
    pub(super) fn location(&self) -> &Location {
        &self.location
    }

    /// The tools that are offered.
    pub(super) fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The worktree this process works in.
    pub(super) fn worktree(&self) -> Option<Worktree> {
        self.inputs.worktree()
    }

    /// The shared directory, as tasks.
    pub(super) fn store(&self) -> Store {
        Store::new(self.location.directory(), self.store)
    }

    /// The service that these settings make.
    pub(super) fn service(self) -> Arc<Service> {
        Service::new(Setting {
            store: self.store(),
            clock: Clock::system(),
            agent: self.agent,
            worktree: self.inputs.worktree(),
            working_directory: self.inputs.working_directory().to_owned(),
            ceiling: self.ceiling,
        })
    }
}

/// A variable's value; a blank one is as good as none.
fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|it| !it.to_string_lossy().trim().is_empty())
}

fn store(
    level: Option<OsString>,
    stale_lock: Option<OsString>,
) -> Result<StoreSettings, SettingsError> {
    let settings = StoreSettings::default().durability(durability(level)?);
    let Some(value) = stale_lock else {
        return Ok(settings);
    };
    let seconds = value.to_str().and_then(|it| it.trim().parse().ok());
    let limit = seconds.and_then(|it| Duration::try_from_secs_f64(it).ok());
    match limit.filter(|it| !it.is_zero()) {
        Some(limit) => Ok(settings.give_up_after(limit)),
        None => Err(SettingsError::StaleLock(value)),
    }
}

fn durability(value: Option<OsString>) -> Result<Durability, UnknownDurability> {
    value.map_or(Ok(Durability::default()), |it| {
        Durability::from_str(&it.to_string_lossy())
    })
}

fn profile(value: Option<OsString>) -> Result<Profile, UnknownTools> {
    value.map_or(Ok(Profile::default()), |it| {
        Profile::from_str(&it.to_string_lossy())
    })
}

fn agent(value: Option<OsString>) -> Result<Option<AgentName>, SettingsError> {
    let name = |value: OsString| {
        AgentName::from_words(&value.to_string_lossy()).ok_or(SettingsError::Agent(value))
    };
    value.map(name).transpose()
}

fn ceiling(value: Option<OsString>) -> Result<Ceiling, SettingsError> {
    let Some(value) = value else {
        return Ok(Ceiling::default());
    };
    // At zero every wait would be over at once, and assistants that wait would spin.
    match value.to_str().and_then(|it| it.trim().parse().ok()) {
        Some(seconds @ 1..) => Ok(Ceiling::new(Some(seconds))),
        _ => Err(SettingsError::MaxWait(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_set_has_a_default() {
        assert_eq!(durability(None), Ok(Durability::Full));
        assert_eq!(agent(None).unwrap(), None);
        assert!(ceiling(None).is_ok());
        assert!(store(None, None).is_ok());
        assert!(store(None, Some("0.05".into())).is_ok());
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let tools = SettingsError::from(profile(Some("get_tasks".into())).unwrap_err());
        let durability = SettingsError::from(durability(Some("fast".into())).unwrap_err());
        for (error, name) in [
            (tools, TOOLS),
            (durability, DURABILITY),
            (agent(Some("me".into())).unwrap_err(), AGENT),
            (ceiling(Some("soon".into())).unwrap_err(), MAX_WAIT),
            (ceiling(Some("-1".into())).unwrap_err(), MAX_WAIT),
            (ceiling(Some("0".into())).unwrap_err(), MAX_WAIT),
            (store(None, Some("never".into())).unwrap_err(), STALE_LOCK),
            (store(None, Some("0".into())).unwrap_err(), STALE_LOCK),
            (store(None, Some("-1".into())).unwrap_err(), STALE_LOCK),
        ] {
            assert!(error.to_string().starts_with(name), "{error}");
        }
    }
}
