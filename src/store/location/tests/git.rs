//! Comparison with git itself, on repositories that git made. Skipped, saying so, where there is no git.

use std::process::{Command, Output};

use super::*;

/// Runs git in `directory`, away from the configuration of whoever runs the tests.
fn run(directory: &Path, arguments: &[&str]) -> Output {
    let mut git = Command::new("git");
    for (name, _) in env::vars_os() {
        if name.as_bytes().starts_with(b"GIT_") {
            git.env_remove(name);
        }
    }
    git.current_dir(directory)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .args(["-c", "init.defaultBranch=main", "-c", "user.name=tester"])
        .args(["-c", "user.email=tester@example.org"])
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments)
        .output()
        .unwrap()
}

fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = run(directory, arguments);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "git {arguments:?}: {complaint}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// What git says, if it has an answer.
fn ask(directory: &Path, arguments: &[&str]) -> Option<String> {
    let output = run(directory, arguments);
    let answer = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    output.status.success().then_some(answer)
}

fn is_git_missing() -> bool {
    let missing = Command::new("git").arg("--version").output().is_err();
    if missing {
        eprintln!("SKIPPED: there is no git to compare with");
    }
    missing
}

/// A repository with one commit on `main`.
fn repository(scene: &Scene, relative: &str) -> PathBuf {
    let path = scene.directory(relative);
    git(&path, &["init", "--quiet"]);
    git(
        &path,
        &["commit", "--quiet", "--allow-empty", "-m", "First"],
    );
    path
}

/// Holds what we find from `directory` against what git says there, and returns the coordination directory.
fn agree(directory: &Path) -> PathBuf {
    let at = directory.display();
    let common_dir = git(directory, &["rev-parse", "--git-common-dir"]);
    let common_dir = fs::canonicalize(directory.join(common_dir)).unwrap();
    let home = match common_dir.parent() {
        Some(parent) if common_dir.ends_with(".git") => parent,
        _ => &common_dir,
    };
    let found = found_from(directory);
    assert_eq!(found, home.join(".ai/coordination"), "common dir of {at}");

    let worktree = Worktree::find(directory);
    let top = ask(directory, &["rev-parse", "--show-toplevel"]);
    let root = worktree.as_ref().map(|worktree| worktree.root().to_owned());
    assert_eq!(root, top.map(PathBuf::from), "top level of {at}");

    let head = worktree.map(|worktree| worktree.head()).unwrap_or_default();
    if root.is_some() {
        let commit = ask(directory, &["rev-parse", "--verify", "--quiet", "HEAD"]);
        assert_eq!(head.commit(), commit.as_deref(), "commit at {at}");
        let branch = ask(directory, &["symbolic-ref", "--quiet", "--short", "HEAD"]);
        assert_eq!(head.branch(), branch.as_deref(), "branch at {at}");
        if commit.is_some() {
            let name = git(directory, &["rev-parse", "--abbrev-ref", "HEAD"]);
            assert_eq!(head.branch().unwrap_or("HEAD"), name, "name at {at}");
        }
    }
    found
}

#[test]
fn plain_repositories() {
    if is_git_missing() {
        return;
    }
    let scene = Scene::new();
    let repo = repository(&scene, "repo");
    let deep = scene.directory("repo/deep/er");
    assert_eq!(agree(&repo), agree(&deep));
    agree(&scene.path("repo/.git/refs/heads"));

    git(&repo, &["checkout", "--quiet", "-b", "feature/a-b"]);
    git(&repo, &["commit", "--quiet", "--allow-empty", "-m", "Next"]);
    agree(&deep);
    git(&repo, &["pack-refs", "--all", "--prune"]);
    assert!(!scene.path("repo/.git/refs/heads/feature/a-b").exists());
    agree(&repo);
    git(&repo, &["checkout", "--quiet", "--detach"]);
    agree(&repo);
    git(&repo, &["checkout", "--quiet", "--orphan", "unborn"]);
    agree(&repo);
}

#[test]
fn an_object_format_other_than_sha_1() {
    if is_git_missing() {
        return;
    }
    let scene = Scene::new();
    let repo = scene.directory("repo");
    if ask(&repo, &["init", "--quiet", "--object-format=sha256"]).is_none() {
        eprintln!("SKIPPED: this git knows no SHA-256");
        return;
    }
    git(&repo, &["commit", "--quiet", "--allow-empty", "-m", "1"]);
    agree(&repo);
}

#[test]
fn a_reftable_says_nothing() {
    if is_git_missing() {
        return;
    }
    let scene = Scene::new();
    let repo = scene.directory("repo");
    if ask(&repo, &["init", "--quiet", "--ref-format=reftable"]).is_none() {
        eprintln!("SKIPPED: this git knows no reftable");
        return;
    }
    git(&repo, &["commit", "--quiet", "--allow-empty", "-m", "1"]);
    assert_eq!(found_from(&repo), repo.join(".ai/coordination"));
    assert_eq!(Worktree::find(&repo).unwrap().head(), Head::default());
}

#[test]
fn linked_worktrees() {
    if is_git_missing() {
        return;
    }
    let scene = Scene::new();
    let repo = repository(&scene, "repo");
    git(&repo, &["worktree", "add", "--quiet", "../side"]);
    git(
        &repo,
        &["worktree", "add", "--quiet", "--detach", "in/side"],
    );
    let expected = agree(&repo);
    for worktree in ["side", "repo/in/side"] {
        assert_eq!(agree(&scene.path(worktree)), expected);
    }
    git(&repo, &["pack-refs", "--all", "--prune"]);
    agree(&scene.path("side"));
    agree(&scene.path("repo/.git/worktrees/side"));

    fs::rename(&repo, scene.path("moved")).unwrap();
    assert!(ask(&scene.path("side"), &["rev-parse", "--git-dir"]).is_none());
    assert!(refusal(&in_directory(scene.path("side"))).contains("git worktree repair"));
    git(&scene.path("moved"), &["worktree", "repair", "../side"]);
    agree(&scene.path("side"));
}

#[test]
fn bare_repositories_and_their_worktrees() {
    if is_git_missing() {
        return;
    }
    let scene = Scene::new();
    repository(&scene, "repo");
    for bare in ["project/.bare", "other/name.git", "hidden/.git"] {
        git(scene.root(), &["clone", "--quiet", "--bare", "repo", bare]);
        let bare = scene.path(bare);
        git(&bare, &["worktree", "add", "--quiet", "../wt", "main"]);
        assert_eq!(agree(&bare), agree(&bare.with_file_name("wt")));
    }
    scene.file("project/.git", "gitdir: ./.bare\n");
    let project = scene.path("project");
    assert_eq!(found_from(&project), agree(&scene.path("project/wt")));
}

#[test]
fn submodules() {
    if is_git_missing() {
        return;
    }
    let scene = Scene::new();
    repository(&scene, "library");
    let outer = repository(&scene, "outer");
    git(
        &outer,
        &["submodule", "--quiet", "add", "../library", "lib/part"],
    );
    let inner = scene.path("outer/lib/part");
    assert_ne!(agree(&outer), agree(&inner));
    git(&inner, &["worktree", "add", "--quiet", "../../../side"]);
    assert_eq!(agree(&scene.path("side")), agree(&inner));
}

#[test]
fn a_separate_git_directory() {
    if is_git_missing() {
        return;
    }
    let scene = Scene::new();
    let repo = scene.directory("repo");
    git(
        &repo,
        &["init", "--quiet", "--separate-git-dir", "../store"],
    );
    git(&repo, &["commit", "--quiet", "--allow-empty", "-m", "1"]);
    git(&repo, &["worktree", "add", "--quiet", "../side"]);
    assert_eq!(agree(&repo), agree(&scene.path("side")));
}
