//! Repositories written by hand, file by file; `git` holds the comparison with git itself.

mod git;
mod head;

use std::{os::unix::fs::symlink, sync::mpsc, thread, time::Duration};

use super::{scene::Scene, *};

fn in_directory(directory: impl Into<PathBuf>) -> Inputs {
    Inputs::new(directory.into())
}

fn directory_of(inputs: &Inputs) -> PathBuf {
    Location::resolve(inputs).unwrap().directory().to_owned()
}

fn found_from(directory: impl Into<PathBuf>) -> PathBuf {
    directory_of(&in_directory(directory))
}

fn refusal(inputs: &Inputs) -> String {
    Location::resolve(inputs).unwrap_err().to_string()
}

/// What `work` returns, if it does so within a time that is far too long for it.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(Duration::from_secs(30)).unwrap()
}

#[test]
fn the_flag_wins_over_everything() {
    let scene = Scene::new();
    scene.git_directory("repo/.git");
    let inputs = in_directory(scene.path("repo"))
        .with_dir_flag(Some(scene.path("flag")))
        .with_coordination_dir(Some(scene.path("variable").into()))
        .with_claude_project_dir(Some(scene.path("repo").into()));
    let location = Location::resolve(&inputs).unwrap();
    assert_eq!(location.directory(), scene.path("flag"));
    assert_eq!(location.reason().to_string(), "--dir");
}

#[test]
fn the_flag_wins_over_the_environment_of_this_process() {
    let inputs = Inputs::from_env(Some("/absent/flag".into())).unwrap();
    assert_eq!(directory_of(&inputs), Path::new("/absent/flag"));
}

#[test]
fn a_relative_flag_is_taken_from_the_working_directory() {
    let scene = Scene::new();
    let inputs = in_directory(scene.directory("work")).with_dir_flag(Some("./a/../b".into()));
    assert_eq!(directory_of(&inputs), scene.path("work/b"));
}

#[test]
fn the_variable_wins_over_the_repository() {
    let scene = Scene::new();
    scene.git_directory("repo/.git");
    let inputs =
        in_directory(scene.path("repo")).with_coordination_dir(Some(scene.path("variable").into()));
    let location = Location::resolve(&inputs).unwrap();
    assert_eq!(location.directory(), scene.path("variable"));
    assert_eq!(location.reason().to_string(), "COORDINATION_DIR");
}

#[test]
fn values_that_would_differ_between_clients_are_refused() {
    let inputs = in_directory("/");
    let variable = |value: &str| refusal(&inputs.clone().with_coordination_dir(Some(value.into())));
    let flag = |value: &str| refusal(&inputs.clone().with_dir_flag(Some(value.into())));
    for (message, parts) in [
        (variable("x/y"), ["COORDINATION_DIR is \"x/y\"", "absolute"]),
        (variable("."), ["COORDINATION_DIR is \".\"", "absolute"]),
        (
            variable("~/x"),
            ["COORDINATION_DIR is \"~/x\"", "expands ~ "],
        ),
        (
            variable("~me/x"),
            ["COORDINATION_DIR is \"~me/x\"", "expands ~ "],
        ),
        (
            variable("${HOME}/x"),
            ["COORDINATION_DIR is \"${HOME}/x\"", "expands $ "],
        ),
        (flag("~/x"), ["--dir is \"~/x\"", "expands ~ "]),
        (flag(""), ["--dir is empty", "leave --dir out"]),
    ] {
        for part in parts {
            assert!(message.contains(part), "no {part:?} in: {message}");
        }
    }
}

#[test]
fn empty_variables_are_as_good_as_none() {
    let scene = Scene::new();
    let inputs = in_directory(scene.root())
        .with_coordination_dir(Some("".into()))
        .with_claude_project_dir(Some("".into()));
    let location = Location::resolve(&inputs).unwrap();
    assert_eq!(location.reason(), &Reason::WorkingDirectory);
    assert_eq!(location.directory(), scene.path(".ai/coordination"));
}

#[test]
fn every_directory_of_a_repository_agrees() {
    let scene = Scene::new();
    scene.git_directory("repo/.git");
    scene.directory("repo/.git/hooks");
    scene.linked_worktree("repo/.git", "side", "elsewhere/side");
    scene.directory("repo/deep/er");
    scene.directory("elsewhere/side/deep");
    symlink(scene.path("repo/deep"), scene.path("shortcut")).unwrap();
    for from in [
        "repo",
        "repo/deep/er",
        "repo/.git",
        "repo/.git/hooks",
        "repo/.git/worktrees/side",
        "elsewhere/side",
        "elsewhere/side/deep",
        "shortcut/er",
    ] {
        assert_eq!(
            found_from(scene.path(from)),
            scene.path("repo/.ai/coordination"),
            "every directory of a repository leads to the same place, also {from}"
        );
    }
}

#[test]
fn a_link_to_the_git_directory_does_not_part_its_worktrees() {
    let scene = Scene::new();
    scene.git_directory("storage/repo.git");
    scene.directory("repo");
    symlink(scene.path("storage/repo.git"), scene.path("repo/.git")).unwrap();
    scene.linked_worktree("storage/repo.git", "side", "side");
    let expected = scene.path("storage/repo.git/.ai/coordination");
    assert_eq!(found_from(scene.path("repo")), expected);
    assert_eq!(found_from(scene.path("side")), expected);
}

#[test]
fn a_submodule_shares_inside_its_own_git_directory() {
    let scene = Scene::new();
    scene.git_directory("super/.git");
    let module = scene.git_directory("super/.git/modules/part");
    scene.file("super/part/.git", "gitdir: ../.git/modules/part\n");
    let sub = scene.directory("super/part/deep");
    assert_eq!(found_from(sub), module.join(".ai/coordination"));
    assert_eq!(
        found_from(scene.path("super")),
        scene.path("super/.ai/coordination")
    );
}

#[test]
fn a_bare_repository_shares_inside_itself_with_its_worktrees() {
    let scene = Scene::new();
    let bare = scene.git_directory("project/.bare");
    scene.file("project/.git", "gitdir: ./.bare\r\n");
    scene.linked_worktree("project/.bare", "main", "project/main");
    for from in ["project", "project/main", "project/.bare"] {
        assert_eq!(
            found_from(scene.path(from)),
            bare.join(".ai/coordination"),
            "{from}"
        );
    }
}

#[test]
fn the_nearest_repository_counts() {
    let scene = Scene::new();
    scene.git_directory("outer/.git");
    scene.git_directory("outer/inner/.git");
    assert_eq!(
        found_from(scene.path("outer/inner")),
        scene.path("outer/inner/.ai/coordination")
    );
}

#[test]
fn a_git_entry_that_never_was_a_repository_is_passed_over() {
    let scene = Scene::new();
    scene.git_directory("repo/.git");
    scene.directory("repo/a/.git");
    scene.file("repo/b/.git/hooks/pre-commit", "");
    scene.directory("repo/c/objects");
    scene.directory("repo/c/refs");
    for from in ["repo/a", "repo/b", "repo/c"] {
        assert_eq!(
            found_from(scene.path(from)),
            scene.path("repo/.ai/coordination"),
            "{from}"
        );
    }
}

#[test]
fn a_broken_repository_is_an_error_and_never_another_directory() {
    let scene = Scene::new();
    scene.git_directory("repo/.git");
    let broken = |name: &str, content: &[u8]| scene.file(&format!("repo/{name}/.git"), content);
    broken("dangling", b"gitdir: /nonexistent/.git/worktrees/x\n");
    broken("prose", b"not a link\n");
    broken("empty", b"");
    broken("nothing", b"gitdir: \n");
    broken("nul", b"gitdir: a\0b\n");
    broken("huge", &vec![b'x'; 70_000]);
    broken("binary", &[0xff, 0xfe, 0x00, 0x80]);
    scene.git_directory("repo/headless/.git");
    scene.file("repo/headless/.git/HEAD", "nonsense\n");
    scene.git_directory("repo/objectless/.git");
    fs::remove_dir(scene.path("repo/objectless/.git/objects")).unwrap();
    scene.directory("repo/link");
    symlink("nowhere", scene.path("repo/link/.git")).unwrap();
    scene.linked_worktree("repo/.git", "orphan", "repo/orphan");
    scene.file("repo/.git/worktrees/orphan/commondir", "../../gone\n");
    for (name, problem) in [
        ("dangling", "/nonexistent/.git/worktrees/x does not exist"),
        ("prose", "expected the one line `gitdir: PATH`"),
        ("empty", "expected the one line `gitdir: PATH`"),
        ("nothing", "expected the one line `gitdir: PATH`"),
        ("nul", "a\\u{0}b does not exist"),
        ("huge", "cannot be read (file too large)"),
        ("binary", "expected the one line `gitdir: PATH`"),
        ("headless", "has no valid HEAD"),
        ("objectless", "has no directory objects"),
        ("link", "does not exist"),
        ("orphan", "../../gone does not exist"),
    ] {
        let directory = scene.path(&format!("repo/{name}"));
        let message = refusal(&in_directory(&directory));
        let start = format!("{}/.git leads to no git repository", directory.display());
        assert!(message.starts_with(&start), "{message}");
        assert!(message.contains(problem), "no {problem:?} in: {message}");
        assert!(message.contains("COORDINATION_DIR"), "{message}");
        assert!(
            Worktree::find(&directory).is_none(),
            "{name} is no worktree"
        );
    }
}

#[test]
fn a_pipe_in_place_of_a_file_is_not_waited_for() {
    let scene = Scene::new();
    scene.git_directory("repo/.git");
    let head = scene.path("repo/.git/HEAD");
    fs::remove_file(&head).unwrap();
    nix::unistd::mkfifo(&head, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let inputs = in_directory(scene.path("repo"));
    assert!(in_time(move || refusal(&inputs)).contains("no valid HEAD"));
}

#[test]
fn the_project_directory_comes_before_the_working_directory() {
    let scene = Scene::new();
    scene.git_directory("project/.git");
    scene.git_directory("work/.git");
    let deep = scene.directory("project/deep");
    let work = in_directory(scene.path("work"));
    let location = Location::resolve(
        &work
            .clone()
            .with_claude_project_dir(Some(deep.clone().into())),
    );
    let location = location.unwrap();
    assert_eq!(location.directory(), scene.path("project/.ai/coordination"));
    let expected = format!(
        "the git repository at {}, found from CLAUDE_PROJECT_DIR {}",
        scene.path("project").display(),
        deep.display()
    );
    assert_eq!(location.reason().to_string(), expected);

    let plain = scene.directory("plain");
    for unusable in [scene.path("absent"), "${CLAUDE_PROJECT_DIR}".into(), plain] {
        let inputs = work.clone().with_claude_project_dir(Some(unusable.into()));
        assert_eq!(directory_of(&inputs), scene.path("work/.ai/coordination"));
        assert_eq!(inputs.worktree().unwrap().root(), scene.path("work"));
    }
    let inputs = work.with_claude_project_dir(Some(deep.into()));
    assert_eq!(inputs.worktree().unwrap().root(), scene.path("project"));
}

#[test]
fn outside_of_repositories_the_working_directory_decides() {
    let scene = Scene::new();
    let project = scene.directory("project");
    let inputs =
        in_directory(scene.directory("work")).with_claude_project_dir(Some(project.into()));
    let location = Location::resolve(&inputs).unwrap();
    assert_eq!(location.directory(), scene.path("work/.ai/coordination"));
    assert_eq!(
        location.reason().to_string(),
        "the working directory, which is in no git repository"
    );
    assert!(!location.is_there());
    scene.directory("work/.ai/coordination");
    assert!(location.is_there());
}

#[test]
fn a_repository_named_by_itself_is_named_once() {
    let scene = Scene::new();
    scene.git_directory("repo/.git");
    let location = Location::resolve(&in_directory(scene.path("repo"))).unwrap();
    let expected = format!(
        "the git repository at {}, found from the working directory",
        scene.path("repo").display()
    );
    assert_eq!(location.reason().to_string(), expected);
}

#[test]
fn two_spellings_of_a_directory_are_one() {
    let scene = Scene::new();
    scene.directory("real/deep");
    symlink(scene.path("real/deep"), scene.path("link")).unwrap();
    symlink("absent", scene.path("dangling")).unwrap();
    for (spelling, expected) in [
        ("real/./deep//x", "real/deep/x"),
        ("link/x/y", "real/deep/x/y"),
        ("link", "real/deep"),
        // As the kernel reads it: the parent of what the link leads to.
        ("link/../x", "real/x"),
        ("link/absent/../x", "real/deep/x"),
        ("absent/../link/x", "real/deep/x"),
        ("absent/also/../../link/../x", "real/x"),
        ("dangling/x", "dangling/x"),
    ] {
        let inputs = in_directory("/").with_coordination_dir(Some(scene.path(spelling).into()));
        assert_eq!(directory_of(&inputs), scene.path(expected), "{spelling}");
    }
    let above = in_directory("/").with_coordination_dir(Some("/../../nonexistent".into()));
    assert_eq!(directory_of(&above), Path::new("/nonexistent"));
}

#[test]
fn a_path_of_any_length_is_taken() {
    let long = "/absent/..".repeat(50_000);
    let inputs = in_directory("/").with_coordination_dir(Some(long.into()));
    assert_eq!(directory_of(&inputs), Path::new("/"));
}

// macOS keeps file names in UTF-8.
#[cfg(target_os = "linux")]
#[test]
fn paths_need_not_be_utf_8() {
    use std::os::unix::ffi::OsStringExt;

    let scene = Scene::new();
    let name = OsString::from_vec(b"caf\xe9".to_vec());
    let repo = scene.root().join(&name);
    scene.git_directory("git");
    fs::create_dir(&repo).unwrap();
    fs::rename(scene.path("git"), repo.join(".git")).unwrap();
    assert_eq!(found_from(&repo), repo.join(".ai/coordination"));

    let mut link = b"gitdir: ".to_vec();
    link.extend(repo.join(".git").into_os_string().into_vec());
    scene.file("linked/.git", link);
    assert_eq!(
        found_from(scene.path("linked")),
        repo.join(".ai/coordination")
    );
}

#[test]
fn control_characters_never_reach_a_terminal() {
    assert_eq!(
        printable(Path::new("/a\u{1b}[2J\nb\u{9b}é x")),
        "/a\\u{1b}[2J\\nb\\u{9b}é x"
    );
}
