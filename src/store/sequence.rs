//! The number last given out: `sequence.json`.
//!
//! Responsibility: numbers that are never given out twice. A number is on the disk before it is
//! used, so a crash leaves a gap and never a second owner.
//!
//! Limits: when the file is lost, the numbers that are visible somewhere are what is left to go by;
//! finding the highest is the caller's part, because only it knows where documents lie.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::engine::Engine;
use super::error::StoreError;
use super::place::{Folder, Place};
use super::root::Root;
use crate::domain::{FormatVersion, Objects};

const STEM: &str = "sequence";

#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Sequence {
    #[serde(default)]
    format_version: FormatVersion,
    last: u64,
}

impl Serialize for Sequence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Sequence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(Objects(deserializer))
    }
}

/// Gives out the next number above `floor`.
///
/// `highest` is asked only when there is no `sequence.json`: the highest number that is in use or has
/// visibly been, 0 if there is none.
pub(crate) fn reserve(
    engine: &Engine,
    floor: u64,
    mut highest: impl FnMut(&Root) -> Result<u64, StoreError>,
) -> Result<u64, StoreError> {
    engine.update(&place(), |root, current: Option<Sequence>| {
        let last = match current {
            Some(sequence) => sequence.last,
            None => highest(root)?,
        };
        let used_up = || StoreError::corrupt(root.path_of(&place()), "its number is the last one");
        let next = last.max(floor).checked_add(1).ok_or_else(used_up)?;
        let sequence = Sequence {
            format_version: FormatVersion,
            last: next,
        };
        Ok((Some(sequence), next))
    })
}

/// The number last given out. `None`: there is no `sequence.json`.
pub(crate) fn last(root: &Root) -> Result<Option<u64>, StoreError> {
    let sequence: Option<Sequence> = root.read(&place())?;
    Ok(sequence.map(|sequence| sequence.last))
}

/// Makes sure that no number up to `floor` is given out; the number last given out from now on.
pub(crate) fn raise(engine: &Engine, floor: u64) -> Result<u64, StoreError> {
    engine.update(&place(), |_, current: Option<Sequence>| {
        let last = current.map_or(0, |it| it.last).max(floor);
        let sequence = Sequence {
            format_version: FormatVersion,
            last,
        };
        Ok((Some(sequence), last))
    })
}

/// Where the number is.
pub(crate) fn place() -> Place {
    Place::new(Folder::Root, STEM)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;
    use std::thread;

    use super::*;
    use crate::store::durability::Durability;
    use crate::store::engine::Settings;

    fn engine(path: &Path) -> Engine {
        Engine::new(path, Settings::default().durability(Durability::None))
    }

    fn never(_: &Root) -> Result<u64, StoreError> {
        panic!("the highest number is not looked for while there is a sequence")
    }

    #[test]
    fn numbers_start_after_the_highest_and_go_on_from_the_file() {
        let temp = tempfile::tempdir().unwrap();
        let engine = engine(temp.path());
        assert_eq!(reserve(&engine, 0, |_| Ok(41)).unwrap(), 42);
        assert_eq!(reserve(&engine, 0, never).unwrap(), 43);
        let text = fs::read_to_string(temp.path().join("sequence.json")).unwrap();
        assert_eq!(text, "{\n  \"formatVersion\": 1,\n  \"last\": 43\n}\n");
        let root = engine.open().unwrap().unwrap();
        assert_eq!(last(&root).unwrap(), Some(43));
    }

    #[test]
    fn a_lost_file_falls_back_to_the_highest() {
        let temp = tempfile::tempdir().unwrap();
        let engine = engine(temp.path());
        assert_eq!(reserve(&engine, 0, |_| Ok(0)).unwrap(), 1);
        fs::remove_file(temp.path().join("sequence.json")).unwrap();
        assert_eq!(last(&engine.open().unwrap().unwrap()).unwrap(), None);
        assert_eq!(reserve(&engine, 0, |_| Ok(7)).unwrap(), 8);
    }

    #[test]
    fn a_failing_search_reserves_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let engine = engine(temp.path());
        let failing = |_: &Root| Err(StoreError::corrupt("x".into(), "unreadable"));
        assert!(matches!(
            reserve(&engine, 0, failing),
            Err(StoreError::Corrupt { .. })
        ));
        assert!(!temp.path().join("sequence.json").exists());
        let locks = fs::read_dir(temp.path().join(".locks")).unwrap();
        assert_eq!(locks.count(), 0, "the lock is released on an error");
    }

    #[test]
    fn concurrent_callers_get_different_numbers_without_gaps() {
        let temp = tempfile::tempdir().unwrap();
        let take = || {
            let engine = engine(temp.path());
            (0..25)
                .map(|_| reserve(&engine, 0, |_| Ok(0)).unwrap())
                .collect::<Vec<_>>()
        };
        let numbers: Vec<u64> = thread::scope(|scope| {
            let takers: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
            let taken = takers.into_iter().map(|taker| taker.join().unwrap());
            taken.flatten().collect()
        });
        let different: BTreeSet<u64> = numbers.iter().copied().collect();
        assert_eq!(numbers.len(), 100);
        assert_eq!(
            different,
            (1..=100).collect(),
            "no number twice, none left out"
        );
    }

    #[test]
    fn a_damaged_or_exhausted_sequence_is_refused_and_kept() {
        let cases = [
            ("{\"last\": -1}", "line 1, last: invalid value"),
            ("{}", "missing field `last`"),
            ("[1, 41]", "line 1: invalid type: sequence"),
            (
                "{\"last\": 18446744073709551615}",
                "its number is the last one",
            ),
            (
                "{\"formatVersion\": 2, \"last\": 1}",
                "has format version 2",
            ),
        ];
        for (text, reason) in cases {
            let temp = tempfile::tempdir().unwrap();
            fs::write(temp.path().join("sequence.json"), text).unwrap();
            let error = reserve(&engine(temp.path()), 0, never).unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
            let kept = fs::read_to_string(temp.path().join("sequence.json")).unwrap();
            assert_eq!(kept, text);
        }
    }
}
