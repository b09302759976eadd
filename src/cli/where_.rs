//! `where`: which directory this process shares with others, and why.
//!
//! The first line is the directory alone, for scripts. The rest keeps to 80 columns where the paths in it allow; a path
//! is never broken, so that it can be copied.

use std::path::Path;

use super::layout::{entry, unbreakable, wrap};
use crate::store::location::{Head, Location, Reason, Worktree, printable};

/// How many digits of a commit are shown, as git does.
const SHORT_COMMIT: usize = 7;

/// The text that `where` prints.
pub(crate) fn report(location: &Location, worktree: Option<&Worktree>) -> String {
    let exists = if location.is_there() {
        "yes"
    } else {
        "not yet; it is made when it is first needed"
    };
    let mut text = format!("{}\n\n", printable(location.directory()));
    text += &entry("chosen by", &reason(location.reason()));
    text += &entry("exists", exists);
    text += &entry(
        "worktree",
        &worktree.map_or_else(|| "none".to_owned(), describe),
    );
    text.push('\n');
    text += &wrap(
        "Assistants share their tasks if this command prints the same directory for each of them.",
        0,
    );
    text += &wrap(advice(location.reason()), 0);
    text
}

/// The reason, with its paths kept whole.
fn reason(reason: &Reason) -> String {
    let mut text = reason.to_string();
    if let Reason::Repository {
        repository, from, ..
    } = reason
    {
        for path in [repository, from] {
            text = text.replace(&printable(path), &unbreakable(path));
        }
    }
    text
}

fn describe(worktree: &Worktree) -> String {
    let root = unbreakable(worktree.root());
    format!("{root}, {}", checked_out(&worktree.head()))
}

fn checked_out(head: &Head) -> String {
    let commit = head.commit().and_then(|commit| commit.get(..SHORT_COMMIT));
    match (head.branch(), commit) {
        (Some(branch), Some(commit)) => {
            format!("on branch {} at {commit}", unbreakable(Path::new(branch)))
        }
        (Some(branch), None) => format!(
            "on branch {}, no commit yet",
            unbreakable(Path::new(branch))
        ),
        (None, Some(commit)) => format!("detached at {commit}"),
        (None, None) => "branch unknown".to_owned(),
    }
}

fn advice(reason: &Reason) -> &'static str {
    match reason {
        Reason::DirFlag => {
            "To use another one: change --dir, or leave it out to go by COORDINATION_DIR and the repository."
        }
        Reason::CoordinationDir => {
            "To use another one: change COORDINATION_DIR in the configuration of every client, or unset it to go by the \
             repository."
        }
        Reason::Repository { .. } | Reason::WorkingDirectory => {
            "To use another one: set COORDINATION_DIR to an absolute path in the configuration of every client, or pass \
             --dir."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cli::layout::{COLUMNS, UNBREAKABLE},
        store::location::{Inputs, scene::Scene},
    };

    const COMMIT: &str = "0123456789012345678901234567890123456789\n";

    fn report_on(inputs: &Inputs) -> String {
        let location = Location::resolve(inputs).unwrap();
        report(&location, inputs.worktree().as_ref())
    }

    /// `text` on one line, for where it is broken depends on how long the path of a temporary directory is.
    fn unwrapped(scene: &Scene, text: &str) -> String {
        let text = text.replace(scene.root().to_str().unwrap(), "/TMP");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn assert_says(scene: &Scene, text: &str, part: &str) {
        let text = unwrapped(scene, text);
        assert!(text.contains(part), "no {part:?} in: {text}");
    }

    #[test]
    fn a_repository_is_described() {
        let scene = Scene::new();
        scene.git_directory("repo/.git");
        scene.file("repo/.git/HEAD", "ref: refs/heads/feature/x\n");
        scene.file("repo/.git/refs/heads/feature/x", COMMIT);
        scene.directory("repo/.ai/coordination");
        let text = report_on(&Inputs::new(scene.directory("repo/deep")));
        let first = text.lines().next().unwrap();
        assert_eq!(Path::new(first), scene.path("repo/.ai/coordination"));
        let expected = "/TMP/repo/.ai/coordination \
             chosen by the git repository at /TMP/repo, found from the working directory /TMP/repo/deep \
             exists yes \
             worktree /TMP/repo, on branch feature/x at 0123456 \
             Assistants share their tasks if this command prints the same directory for each of them. \
             To use another one: set COORDINATION_DIR to an absolute path in the configuration of every client, or \
             pass --dir.";
        assert_eq!(unwrapped(&scene, &text), expected);
    }

    #[test]
    fn every_reason_says_how_to_choose_another_directory() {
        let scene = Scene::new();
        let plain = Inputs::new(scene.directory("plain"));
        let text = report_on(&plain);
        let chosen = "chosen by the working directory, which is in no git repository";
        for part in [
            chosen,
            "exists not yet",
            "worktree none",
            "set COORDINATION_DIR",
        ] {
            assert_says(&scene, &text, part);
        }
        let text = report_on(&plain.clone().with_dir_flag(Some("x".into())));
        for part in ["/TMP/plain/x chosen by --dir exists", "change --dir"] {
            assert_says(&scene, &text, part);
        }
        let text = report_on(&plain.with_coordination_dir(Some("/absent/x".into())));
        for part in ["/absent/x chosen by COORDINATION_DIR exists", "unset it"] {
            assert_says(&scene, &text, part);
        }
    }

    #[test]
    fn what_is_checked_out_is_told_in_every_case() {
        let scene = Scene::new();
        scene.git_directory("repo/.git");
        for (head, told) in [
            ("ref: refs/heads/main", "on branch main, no commit yet"),
            (COMMIT, "detached at 0123456"),
            ("ref: refs/heads/.invalid", "branch unknown"),
        ] {
            scene.file("repo/.git/HEAD", head);
            let text = report_on(&Inputs::new(scene.path("repo")));
            assert_says(
                &scene,
                &text,
                &format!("worktree /TMP/repo, {told} Assistants"),
            );
        }
    }

    #[test]
    fn lines_keep_to_the_width_and_paths_stay_whole() {
        let scene = Scene::new();
        let name =
            "a name with spaces, far too long to share a line of the report with anything else";
        scene.git_directory(&format!("{name}/.git"));
        let repository = scene.path(name);
        let repository = repository.to_str().unwrap();
        let text = report_on(&Inputs::new(scene.directory(&format!("{name}/deep"))));
        assert!(!text.contains(UNBREAKABLE));
        assert_eq!(text.matches(repository).count(), 4, "{text}");
        for line in text.lines() {
            let is_short = line.chars().count() <= COLUMNS;
            assert!(is_short || line.contains(repository), "{line}");
            assert_eq!(line.trim_end(), line);
        }
    }

    #[test]
    fn a_path_cannot_forge_a_line() {
        let scene = Scene::new();
        let inputs = Inputs::new(scene.root().to_owned());
        let text = report_on(&inputs.with_dir_flag(Some("x\nexists    yes".into())));
        assert!(text.lines().next().unwrap().ends_with("x\\nexists    yes"));
    }
}
