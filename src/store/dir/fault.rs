//! Faults on demand: ends or stops this process at a step, makes steps fail, keeps a record of them.
//!
//! Responsibility: to show what a crash, a full disk or a broken one does at *each* step, which no amount of killing at
//! random can. Tests say what they want in the environment of a server that they start:
//!
//! | variable | value | what it does |
//! |---|---|---|
//! | `AI_COORD_FAULT` | `before N` | ends the process, as SIGKILL does, before its Nth step, counted from 1 |
//! | | `after N` | the same right after that step |
//! | | `stop N` | stops the process, as SIGSTOP does, before that step; it takes it when it is continued |
//! | | `stop-each N` | the same before every Nth step |
//! | | `fail N ERRNO` | that step alone is not taken and fails, with an error number of the system |
//! | | `fail-from N ERRNO` | that step and all later ones fail so |
//! | `AI_COORD_UNLISTED` | names, with commas | listings of directories leave these out, as some file systems do |
//! | `AI_COORD_STEPS` | a file | gets a line for each step that was taken: number, step, `ok` or `failed`, path |
//!
//! # Limits
//!
//! Not in release builds: the module is compiled under `debug_assertions` only.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use nix::sys::signal::{Signal, raise};

use super::step::Step;

const FAULT: &str = "AI_COORD_FAULT";
const STEPS: &str = "AI_COORD_STEPS";
const UNLISTED: &str = "AI_COORD_UNLISTED";

/// What is to happen, and at which step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Before(u64),
    After(u64),
    Stop(u64),
    StopEach(u64),
    Fail { at: u64, errno: i32 },
    FailFrom { from: u64, errno: i32 },
}

/// What this process was asked for, and how far it has come.
#[derive(Debug)]
struct Plan {
    fault: Option<Fault>,
    record: Option<File>,
    unlisted: Vec<OsString>,
    taken: AtomicU64,
}

/// Whether a listing has to leave the name out.
pub(super) fn is_unlisted(name: &OsStr) -> bool {
    Plan::of_this_process().unlisted.iter().any(|it| it == name)
}

/// Takes a step as the plan has it.
pub(super) fn around<T>(
    step: Step,
    path: impl Fn() -> PathBuf,
    call: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    let plan = Plan::of_this_process();
    let number = plan.taken.fetch_add(1, Ordering::SeqCst) + 1;
    let fault = plan.fault;
    if fault == Some(Fault::Before(number)) {
        die();
    }
    if fault.is_some_and(|fault| fault.stops_at(number)) {
        raise(Signal::SIGSTOP).expect("a process may stop itself");
    }
    let result = match fault.and_then(|fault| fault.errno(number)) {
        Some(errno) => Err(io::Error::from_raw_os_error(errno)),
        None => call(),
    };
    plan.note(number, step, &path, result.is_ok());
    if fault == Some(Fault::After(number)) {
        die();
    }
    result
}

impl Plan {
    fn of_this_process() -> &'static Self {
        static PLAN: OnceLock<Plan> = OnceLock::new();
        PLAN.get_or_init(Self::from_env)
    }

    fn from_env() -> Self {
        let fault = env::var(FAULT).ok();
        let record = env::var_os(STEPS);
        let unlisted = env::var(UNLISTED).unwrap_or_default();
        let open = |path| OpenOptions::new().append(true).create(true).open(path);
        Self {
            fault: fault.map(|it| it.parse().expect("a test asks for a fault that there is")),
            record: record.map(|it| open(it).expect("a test names a file that it owns")),
            unlisted: unlisted.split(',').map(OsString::from).collect(),
            taken: AtomicU64::new(0),
        }
    }

    /// In one write, so that lines of several threads stay whole.
    fn note(&self, number: u64, step: Step, path: &impl Fn() -> PathBuf, is_ok: bool) {
        if let Some(mut record) = self.record.as_ref() {
            let outcome = if is_ok { "ok" } else { "failed" };
            let line = format!("{number} {step:?} {outcome} {}\n", path().display());
            record
                .write_all(line.as_bytes())
                .expect("a test's own file can be written");
        }
    }
}

impl Fault {
    /// Whether the process is stopped before the step of this number.
    fn stops_at(self, number: u64) -> bool {
        match self {
            Self::Stop(at) => at == number,
            Self::StopEach(every) => number.is_multiple_of(every),
            _ => false,
        }
    }

    /// How the step of this number fails, if it does.
    fn errno(self, number: u64) -> Option<i32> {
        match self {
            Self::Fail { at, errno } if at == number => Some(errno),
            Self::FailFrom { from, errno } if from <= number => Some(errno),
            _ => None,
        }
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || format!("{FAULT}: `{text}` is none of those that there are");
        let words: Vec<_> = text.split(' ').collect();
        let number = |word: &str| word.parse().map_err(|_| unknown());
        let errno = |word: &str| word.parse().map_err(|_| unknown());
        Ok(match *words.as_slice() {
            ["before", at] => Self::Before(number(at)?),
            ["after", at] => Self::After(number(at)?),
            ["stop", at] => Self::Stop(number(at)?),
            ["stop-each", every] => Self::StopEach(number(every)?),
            ["fail", at, code] => Self::Fail {
                at: number(at)?,
                errno: errno(code)?,
            },
            ["fail-from", from, code] => Self::FailFrom {
                from: number(from)?,
                errno: errno(code)?,
            },
            _ => return Err(unknown()),
        })
    }
}

/// Ends the process with nothing tidied up.
fn die() -> ! {
    // Nothing is left to do about a failure, and no signal can be missed.
    let _ = raise(Signal::SIGKILL);
    loop {
        thread::park();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_as_they_are_documented() {
        assert_eq!("before 3".parse(), Ok(Fault::Before(3)));
        assert_eq!("after 3".parse(), Ok(Fault::After(3)));
        assert_eq!("stop 3".parse(), Ok(Fault::Stop(3)));
        assert_eq!("stop-each 3".parse(), Ok(Fault::StopEach(3)));
        assert_eq!("fail 3 28".parse(), Ok(Fault::Fail { at: 3, errno: 28 }));
        assert_eq!(
            "fail-from 3 5".parse(),
            Ok(Fault::FailFrom { from: 3, errno: 5 })
        );
        for wrong in ["", "before", "before x", "stop", "fail 3", "around 3"] {
            assert!(wrong.parse::<Fault>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn one_step_is_stopped_at_or_every_so_many() {
        let stopping = |fault: Fault| [2, 3, 4, 6].map(|number| fault.stops_at(number));
        assert_eq!(stopping(Fault::Stop(3)), [false, true, false, false]);
        assert_eq!(stopping(Fault::StopEach(3)), [false, true, false, true]);
        assert_eq!(stopping(Fault::Before(3)), [false; 4]);
    }

    #[test]
    fn one_step_fails_or_all_from_it_on() {
        let one = Fault::Fail { at: 3, errno: 28 };
        let all = Fault::FailFrom { from: 3, errno: 5 };
        let failing = |fault: Fault| [2, 3, 4].map(|number| fault.errno(number));
        assert_eq!(failing(one), [None, Some(28), None]);
        assert_eq!(failing(all), [None, Some(5), Some(5)]);
        assert_eq!(failing(Fault::Before(3)), [None; 3]);
    }
}
