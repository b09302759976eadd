//! What must come before what: the promise of each level, as a check on a list of events.
//!
//! Responsibility: to say which promise a list of events breaks, wherever the list comes from.
//!
//! Limits: a document's next version is known by the lock that it is written in, as `store/lock.rs` describes it.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

/// Something that has happened, in the order of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A directory was made.
    MakeDirectory(PathBuf),
    /// Content was written to a file, or taken from it.
    Write(PathBuf),
    /// A file's content, or a directory's entries, were flushed.
    Flush(PathBuf),
    /// Something got this name.
    Rename(PathBuf),
    /// The caller was told.
    Answer,
}

impl Event {
    /// Not what else a process does, such as waking its threads.
    fn concerns(&self, root: &Path) -> bool {
        match self {
            Self::MakeDirectory(path)
            | Self::Write(path)
            | Self::Flush(path)
            | Self::Rename(path) => path.starts_with(root) || Some(path.as_path()) == root.parent(),
            Self::Answer => true,
        }
    }
}

/// A value of `COORDINATION_DURABILITY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Full,
    Data,
    None,
}

impl Level {
    pub(super) fn setting(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Data => "data",
            Self::None => "none",
        }
    }
}

/// The documents that were written, in this order; or what is wrong.
pub(super) fn check(level: Level, root: &Path, events: &[Event]) -> Result<Vec<PathBuf>, String> {
    let events: Vec<_> = events
        .iter()
        .filter(|it| it.concerns(root))
        .cloned()
        .collect();
    let answer = events.iter().position(|it| *it == Event::Answer);
    let answer = answer.ok_or("no answer")?;
    let (before, after) = events.split_at(answer);
    if let [_, late, ..] = after {
        return Err(format!("{late:?} after the answer"));
    }
    let mut written = Vec::new();
    for (index, event) in before.iter().enumerate() {
        let (earlier, later) = (&before[..index], &before[index + 1..]);
        match event {
            Event::Write(path) if is_document(root, path) => {
                return Err(format!("{} was written in place", path.display()));
            }
            Event::Rename(path) if is_document(root, path) => {
                published(level, root, path, earlier, later)?;
                written.push(
                    path.strip_prefix(root)
                        .expect("it lies there")
                        .to_path_buf(),
                );
            }
            Event::MakeDirectory(path) if level == Level::Full && !is_in_locks(root, path) => {
                flushed(path.parent().expect("it has been made in one"), later)?;
            }
            Event::Flush(path) if level == Level::None => {
                return Err(format!("{} was flushed", path.display()));
            }
            Event::Flush(path) if level == Level::Data && !is_in_locks(root, path) => {
                return Err(format!("the directory {} was flushed", path.display()));
            }
            _ => {}
        }
    }
    Ok(written)
}

/// A document got its next version, with these events around that.
fn published(
    level: Level,
    root: &Path,
    document: &Path,
    earlier: &[Event],
    later: &[Event],
) -> Result<(), String> {
    let lock = lock_of(root, document);
    let is_token = |path: &PathBuf| path.parent() == Some(&lock);
    let filled = earlier
        .iter()
        .rposition(|it| matches!(it, Event::Write(path) if is_token(path)));
    let filled = filled.ok_or(format!("{}: nothing was written", document.display()))?;
    let is_flush = |it: &Event| matches!(it, Event::Flush(path) if is_token(path));
    if level != Level::None && !earlier[filled..].iter().any(is_flush) {
        return Err(format!(
            "{}: renamed before its content was flushed",
            document.display()
        ));
    }
    if level == Level::Full {
        flushed(document.parent().expect("it lies in the directory"), later)?;
    }
    Ok(())
}

/// The directory was flushed after a change in it and before the answer.
fn flushed(directory: &Path, later: &[Event]) -> Result<(), String> {
    let is_flush = |it: &Event| matches!(it, Event::Flush(path) if path == directory);
    if later.iter().any(is_flush) {
        return Ok(());
    }
    Err(format!(
        "answered before {} was flushed",
        directory.display()
    ))
}

/// `tasks/task-0001.json` has `.locks/tasks-task-0001.lock/`.
fn lock_of(root: &Path, document: &Path) -> PathBuf {
    let relative = document.strip_prefix(root).expect("a document lies there");
    let name = relative.with_extension("lock").display().to_string();
    root.join(".locks").join(name.replace('/', "-"))
}

fn is_document(root: &Path, path: &Path) -> bool {
    let is_inside = |it: &Path| !it.starts_with(".locks") && !it.starts_with("agents");
    path.extension() == Some(OsStr::new("json")) && path.strip_prefix(root).is_ok_and(is_inside)
}

fn is_in_locks(root: &Path, path: &Path) -> bool {
    path.strip_prefix(root)
        .is_ok_and(|it| it.starts_with(".locks") && it != Path::new(".locks"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "/c";

    fn write() -> Event {
        Event::Write("/c/.locks/tasks-task-0001.lock/1-a".into())
    }

    fn flush() -> Event {
        Event::Flush("/c/.locks/tasks-task-0001.lock/1-a".into())
    }

    fn rename() -> Event {
        Event::Rename("/c/tasks/task-0001.json".into())
    }

    fn flush_folder() -> Event {
        Event::Flush("/c/tasks".into())
    }

    fn result(level: Level, events: &[Event]) -> Result<Vec<PathBuf>, String> {
        check(level, Path::new(ROOT), events)
    }

    #[track_caller]
    fn assert_wrong(level: Level, events: &[Event], reason: &str) {
        let wrong = result(level, events).expect_err(reason);
        assert!(wrong.contains(reason), "{wrong}");
    }

    #[test]
    fn the_right_order_passes() {
        let document = Ok(vec![PathBuf::from("tasks/task-0001.json")]);
        let answer = Event::Answer;
        let full = [write(), flush(), rename(), flush_folder(), answer.clone()];
        assert_eq!(result(Level::Full, &full), document);
        let data = [write(), flush(), rename(), answer.clone()];
        assert_eq!(result(Level::Data, &data), document);
        let none = [write(), rename(), answer.clone()];
        assert_eq!(result(Level::None, &none), document);
        let elsewhere = Event::Write("anon_inode:[eventfd]".into());
        assert_eq!(result(Level::Full, &[answer, elsewhere]), Ok(vec![]));
    }

    #[test]
    fn content_is_flushed_before_it_is_renamed() {
        let reason = "renamed before its content was flushed";
        for level in [Level::Full, Level::Data] {
            let late = [write(), rename(), flush(), flush_folder(), Event::Answer];
            assert_wrong(level, &late, reason);
            let never = [write(), rename(), flush_folder(), Event::Answer];
            assert_wrong(level, &never, reason);
            let too_early = [flush(), write(), rename(), flush_folder(), Event::Answer];
            assert_wrong(level, &too_early, reason);
            let again = [write(), flush(), write(), rename(), Event::Answer];
            assert_wrong(level, &again, reason);
        }
        let of_another = Event::Flush("/c/.locks/tasks-task-0002.lock/1-a".into());
        let other = [write(), of_another, rename(), flush_folder(), Event::Answer];
        assert_wrong(Level::Full, &other, reason);
    }

    #[test]
    fn the_folder_is_flushed_between_the_rename_and_the_answer() {
        let reason = "answered before /c/tasks was flushed";
        let never = [write(), flush(), rename(), Event::Answer];
        assert_wrong(Level::Full, &never, reason);
        let too_early = [write(), flush(), flush_folder(), rename(), Event::Answer];
        assert_wrong(Level::Full, &too_early, reason);
        let late = [write(), flush(), rename(), Event::Answer, flush_folder()];
        assert_wrong(Level::Full, &late, "after the answer");
        let other = [
            write(),
            flush(),
            rename(),
            Event::Flush("/c".into()),
            Event::Answer,
        ];
        assert_wrong(Level::Full, &other, reason);
    }

    #[test]
    fn new_directories_are_flushed_into_theirs() {
        for (directory, parent) in [("/c", "/"), ("/c/tasks", "/c"), ("/c/.locks", "/c")] {
            let made = Event::MakeDirectory(directory.into());
            let reason = format!("answered before {parent} was flushed");
            assert_wrong(Level::Full, &[made.clone(), Event::Answer], &reason);
            let flush = Event::Flush(parent.into());
            assert_wrong(
                Level::Full,
                &[flush.clone(), made.clone(), Event::Answer],
                &reason,
            );
            assert_eq!(
                result(Level::Full, &[made.clone(), flush, Event::Answer]),
                Ok(vec![])
            );
            assert_eq!(result(Level::Data, &[made, Event::Answer]), Ok(vec![]));
        }
        let candidate = Event::MakeDirectory("/c/.locks/.new-a".into());
        assert_eq!(result(Level::Full, &[candidate, Event::Answer]), Ok(vec![]));
    }

    #[test]
    fn lower_levels_flush_no_more_than_they_say() {
        let full = [write(), flush(), rename(), flush_folder(), Event::Answer];
        assert_wrong(Level::Data, &full, "the directory /c/tasks was flushed");
        let data = [write(), flush(), rename(), Event::Answer];
        assert_wrong(Level::None, &data, "was flushed");
    }

    #[test]
    fn documents_are_replaced_whole() {
        let in_place = Event::Write("/c/tasks/task-0001.json".into());
        for level in [Level::Full, Level::Data, Level::None] {
            assert_wrong(level, &[in_place.clone(), Event::Answer], "in place");
            assert_wrong(level, &[rename(), Event::Answer], "nothing was written");
            assert_wrong(level, &[write(), flush(), rename()], "no answer");
            assert_wrong(level, &[Event::Answer, rename()], "after the answer");
        }
        let card = Event::Write("/c/agents/boss.json".into());
        assert_eq!(result(Level::Full, &[card, Event::Answer]), Ok(vec![]));
    }
}
