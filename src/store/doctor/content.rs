//! What is in the folders: what can be read and what cannot, and what does not fit together.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;

use super::{Findings, locks, reason_of};
use crate::domain::{AnyTask, Status, TaskId};
use crate::domain::{ProgressLog, Thread};
use crate::store::archive::{self, Entry};
use crate::store::error::{StoreError, command_line};
use crate::store::listing::{self, place};
use crate::store::log::Log;
use crate::store::place::Folder;
use crate::store::presence::{self, Holder};
use crate::store::root::{QUARANTINE, Root};
use crate::store::sequence;
use crate::store::tasks::read_log;

/// What is in the directory.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Content {
    /// How many tasks are live.
    pub(crate) tasks: usize,
    /// How many are in the archive.
    pub(crate) archived: usize,
    /// The number last given out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_number: Option<u64>,
    /// Who is here.
    pub(crate) agents: Vec<Agent>,
}

impl Content {
    fn is_nothing(&self) -> bool {
        (self.tasks, self.archived, self.last_number) == (0, 0, None)
    }
}

/// A running process that has a name.
#[derive(Debug, Serialize)]
pub(crate) struct Agent {
    /// The name.
    pub(crate) name: String,
    /// Its process id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pid: Option<u32>,
    /// Where it works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) directory: Option<String>,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) since: Option<String>,
}

/// Looks at all files.
pub(super) fn examine(root: &Root, findings: &mut Findings) -> Content {
    let mut content = Content::default();
    strangers(root, findings);
    match listing::ids(root, Folder::Tasks) {
        Ok(ids) => {
            for id in ids {
                task(root, id, &mut content, findings);
            }
            for folder in Folder::OF_TASKS.into_iter().skip(1) {
                orphans(root, folder, findings);
            }
        }
        // Then nothing is known of what the other files belong to.
        Err(error) => findings.failure(&folder_path(root, Folder::Tasks), &error),
    }
    logs::<Thread>(root, findings);
    logs::<ProgressLog>(root, findings);
    quarantined(root, findings);
    content.last_number = numbers(root, findings);
    if content.is_nothing() {
        let path = root.dir().path();
        let next = "if you expected one, see `where`";
        findings.note("empty", path, "nothing of a queue is in it yet", next);
    }
    content.agents = agents(root, findings);
    content
}

fn task(root: &Root, id: TaskId, content: &mut Content, findings: &mut Findings) {
    match Entry::read(root, id) {
        Ok(Some(Entry::Live(task))) => {
            content.tasks += 1;
            live(root, &task, findings);
        }
        Ok(Some(Entry::Archived(tombstone))) => {
            content.archived += 1;
            archived(root, id, &tombstone, findings);
        }
        Ok(None) => {}
        Err(error) => unreadable(root, Folder::Tasks, id, &error, findings),
    }
}

fn live(root: &Root, task: &AnyTask, findings: &mut Findings) {
    let path = root.path_of(&place(Folder::Tasks, task.id()));
    let after = task.work().after.iter();
    let missing: Vec<_> = after
        .filter(|it| !is_there(root, **it))
        .map(ToString::to_string)
        .collect();
    if task.status() == Status::Pending && !missing.is_empty() {
        findings.problem(
            "blocked",
            &path,
            format!("it waits for {}, which is not there", missing.join(", ")),
            "put that file back, or cancel this task and create it anew",
        );
    }
    if is_pending::<Thread>(root, task) || is_pending::<ProgressLog>(root, task) {
        findings.note(
            "outbox",
            &path,
            "a message or report that it carries is not in its own file yet",
            "everybody sees it, and the next writer puts it there; --fix does it now",
        );
    }
    let copy = root.path_of(&place(Folder::ArchiveTasks, task.id()));
    match archive::conflict(root, task) {
        Ok(None) => {}
        Ok(Some(reason)) => {
            let next = "it cannot be archived until then";
            findings.problem("conflict", &copy, reason, next);
        }
        Err(error) => unreadable(root, Folder::ArchiveTasks, task.id(), &error, findings),
    }
}

/// Whether anything is in the place of a task, readable or not.
fn is_there(root: &Root, id: TaskId) -> bool {
    root.contains(&place(Folder::Tasks, id)).unwrap_or(true)
}

/// Whether the task carries an entry that has not arrived.
fn is_pending<L: Log>(root: &Root, task: &AnyTask) -> bool {
    let log = read_log::<L>(root, L::FOLDER, task.id());
    log.is_ok_and(|mut log| log.receive(task.outbox()))
}

fn archived(root: &Root, id: TaskId, tombstone: &archive::Tombstone, findings: &mut Findings) {
    let place = place(Folder::Tasks, id);
    let path = root.path_of(&place);
    if let Err(error) = tombstone.task(root) {
        let copy = root.path_of(&listing::place(Folder::ArchiveTasks, id));
        let give_up = command(root, &format!("doctor --quarantine {id}"));
        let next = format!("put the archived file right; or give the task up: {give_up}");
        findings.problem("unreadable", &copy, reason_of(&copy, &error), next);
    } else if tombstone.is_restoring() && !locks::is_held(root, &place) {
        let next = format!("end it: {}", command(root, &format!("restore {id}")));
        findings.problem("restoring", &path, "a restore of it was interrupted", next);
    } else if !tombstone.is_restoring() && matches!(archive::has_live_logs(root, id), Ok(true)) {
        findings.note(
            "archiving",
            &path,
            "archiving it was interrupted: its live files are not empty yet",
            "the next `ai-coord-mcp archive` ends it; --fix does it now",
        );
    }
}

/// Files that belong to a task which is not there. Beside running servers that may have been made since, so each is
/// looked up by name.
fn orphans(root: &Root, folder: Folder, findings: &mut Findings) {
    let has_copy = |id| {
        root.contains(&place(Folder::ArchiveTasks, id))
            .unwrap_or(true)
    };
    for id in ids(root, folder, findings) {
        if is_there(root, id) {
            continue;
        }
        let path = root.path_of(&place(folder, id));
        let reason = format!("there is no {id} in tasks/");
        if folder == Folder::ArchiveTasks {
            let next = format!("have it back: {}", command(root, &format!("restore {id}")));
            findings.problem("orphan", &path, reason, next);
        } else if has_copy(id) {
            // It comes back with the task.
        } else if listing::is_quarantined(root, id).unwrap_or_default() {
            // It is of use when that file is mended and put back.
        } else {
            let next = "put the task's file back, or remove this one";
            findings.problem(
                "orphan",
                &path,
                reason + ": its file was removed by hand",
                next,
            );
        }
    }
}

/// Looks at the logs of all tasks, live and archived.
fn logs<L: Log>(root: &Root, findings: &mut Findings) {
    for folder in [L::FOLDER, L::ARCHIVE] {
        for id in ids(root, folder, findings) {
            if let Err(error) = read_log::<L>(root, folder, id) {
                unreadable(root, folder, id, &error, findings);
            }
        }
    }
}

fn unreadable(root: &Root, folder: Folder, id: TaskId, error: &StoreError, to: &mut Findings) {
    let path = root.path_of(&place(folder, id));
    let next = match error {
        StoreError::Corrupt { .. } => {
            let aside = command(root, &format!("doctor --quarantine {id}"));
            let is_archived = matches!(archive::read_copy(root, id), Ok(Some(_)));
            let then = match (folder, is_archived) {
                (Folder::Tasks, true) => "; then `restore` brings back what is in the archive",
                _ => "",
            };
            format!("mend it by hand, or move it aside{then}: {aside}")
        }
        StoreError::UnsupportedFormat { .. } => {
            "restart the clients after upgrading ai-coord-mcp".to_owned()
        }
        _ => "see the reason; the task cannot be used until then".to_owned(),
    };
    to.problem("unreadable", &path, reason_of(&path, error), next);
}

/// What was moved aside waits for somebody to mend it.
fn quarantined(root: &Root, findings: &mut Findings) {
    for name in root.quarantined().unwrap_or_default() {
        let path = root.dir().path_of(QUARANTINE).join(&name);
        let place = name.to_str().and_then(|it| it.split_once("task-"));
        let place = place.and_then(|(folder, id)| {
            let folder = folder.trim_end_matches('-').replace('-', "/");
            Some(format!("{folder}/task-{}.json", id.split_once('.')?.0))
        });
        let back = place.unwrap_or_else(|| "where it belongs".to_owned());
        let next = format!("mend it and move it back to {back}, or remove it");
        findings.note("quarantine", &path, "it was moved aside", next);
    }
}

/// A command that a person may copy.
fn command(root: &Root, words: &str) -> String {
    command_line(root.dir().path(), words)
}

/// The number last given out, compared with those in use.
fn numbers(root: &Root, findings: &mut Findings) -> Option<u64> {
    let path = root.path_of(&sequence::place());
    let highest = match listing::highest(root) {
        Ok(highest) => highest,
        Err(error) => {
            findings.failure(&path, &error);
            return None;
        }
    };
    let last = match sequence::last(root) {
        Ok(last) => last,
        Err(error) => {
            let next = "mend it by hand, or remove it: then --fix makes it anew from the files";
            findings.problem("unreadable", &path, reason_of(&path, &error), next);
            return None;
        }
    };
    let behind = match last {
        None if highest > 0 => {
            Some("it is missing: numbers of deleted tasks may come again".to_owned())
        }
        Some(last) if last < highest => {
            Some(format!("it says {last}, but there is a task {highest}"))
        }
        Some(u64::MAX) => {
            let next = "put the right number into it: no task can be created after the last one";
            findings.problem("sequence", &path, "it is used up", next);
            None
        }
        _ => None,
    };
    if let Some(reason) = behind {
        findings.problem(
            "sequence",
            &path,
            reason,
            "--fix sets it to the highest number in use",
        );
    }
    last
}

/// Who is here. Cards of the dead are normal.
fn agents(root: &Root, findings: &mut Findings) -> Vec<Agent> {
    let names = match root
        .agents()
        .and_then(|it| it.map_or(Ok(Vec::new()), |it| it.names()))
    {
        Ok(names) => names,
        Err(error) => {
            findings.failure(&root.dir().path_of("agents"), &error);
            return Vec::new();
        }
    };
    let mut agents = Vec::new();
    for file in names {
        let Some(name) = file.to_str().and_then(|it| it.strip_suffix(".json")) else {
            continue;
        };
        let path = root.dir().path_of("agents").join(&file);
        match presence::holder(root, name) {
            Ok(Holder::Alive(card)) => agents.push(Agent {
                name: name.to_owned(),
                pid: card.as_ref().map(presence::Card::pid),
                directory: card.as_ref().map(|it| it.directory().to_owned()),
                since: card.as_ref().map(|it| it.since().to_owned()),
            }),
            Ok(_) => {}
            Err(error) => {
                let next = "remove it: nobody can have that name until then";
                findings.problem("unreadable", &path, reason_of(&path, &error), next);
            }
        }
    }
    agents.sort_by(|one, other| one.name.cmp(&other.name));
    agents
}

/// The ids of the files in a folder.
fn ids(root: &Root, folder: Folder, findings: &mut Findings) -> BTreeSet<TaskId> {
    listing::ids(root, folder).unwrap_or_else(|error| {
        findings.failure(&folder_path(root, folder), &error);
        BTreeSet::new()
    })
}

/// Names that no task has: they are nobody's, and in nobody's way.
fn strangers(root: &Root, findings: &mut Findings) {
    for folder in Folder::OF_TASKS {
        let Ok(Some(dir)) = root.folder(folder) else {
            continue;
        };
        for name in dir.names().unwrap_or_default() {
            let id = name.to_str().and_then(|it| it.strip_suffix(".json"));
            if id.is_none_or(|it| it.parse::<TaskId>().is_err()) {
                findings.note(
                    "stranger",
                    &dir.path_of(&name),
                    "no task has such a file",
                    "it is left alone; remove it if you do not need it",
                );
            }
        }
    }
}

fn folder_path(root: &Root, folder: Folder) -> PathBuf {
    let below: PathBuf = folder.components().iter().collect();
    root.dir().path_of(below)
}
