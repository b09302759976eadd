//! What is checked out, in repositories written by hand.

use super::*;

const ONE: &str = "1111111111111111111111111111111111111111";
const TWO: &str = "2222222222222222222222222222222222222222";

fn head(scene: &Scene) -> (Option<String>, Option<String>) {
    let head = Worktree::find(&scene.path("repo")).unwrap().head();
    let owned = |text: Option<&str>| text.map(str::to_owned);
    (owned(head.branch()), owned(head.commit()))
}

fn some(branch: &str, commit: &str) -> (Option<String>, Option<String>) {
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    (given(branch), given(commit))
}

#[test]
fn a_branch_is_read_wherever_its_commit_is_kept() {
    let scene = Scene::new();
    scene.git_directory("repo/.git");
    assert_eq!(head(&scene), some("main", ""), "no commit yet");

    let packed = format!(
        "# pack-refs with: peeled\n{TWO} refs/heads/other/main\n{ONE} refs/heads/main\n^{TWO}\n"
    );
    scene.file("repo/.git/packed-refs", packed);
    assert_eq!(head(&scene), some("main", ONE), "packed");

    scene.file("repo/.git/refs/heads/main", format!("{TWO}\n"));
    assert_eq!(head(&scene), some("main", TWO), "loose before packed");

    scene.file("repo/.git/refs/heads/feature/a-b", ONE);
    scene.file("repo/.git/HEAD", "ref:\trefs/heads/feature/a-b  \n");
    assert_eq!(head(&scene), some("feature/a-b", ONE), "with a slash");

    let sha256 = ONE.repeat(2).split_off(80 - 64);
    scene.file("repo/.git/HEAD", format!("{sha256}\n"));
    assert_eq!(head(&scene), some("", &sha256), "detached, SHA-256");
}

#[test]
fn a_linked_worktree_has_its_own_head_and_the_shared_references() {
    let scene = Scene::new();
    scene.git_directory("main/.git");
    scene.linked_worktree("main/.git", "side", "repo");
    scene.file("main/.git/refs/heads/side", ONE);
    assert_eq!(head(&scene), some("side", ONE));

    scene.file("main/.git/worktrees/side/HEAD", "ref: refs/worktree/mine");
    scene.file("main/.git/refs/worktree/mine", ONE);
    scene.file("main/.git/worktrees/side/refs/worktree/mine", TWO);
    assert_eq!(head(&scene), some("", TWO), "a reference of this worktree");
}

#[test]
fn symbolic_references_are_followed_to_the_end_but_not_in_a_circle() {
    let scene = Scene::new();
    scene.git_directory("repo/.git");
    scene.file("repo/.git/refs/heads/main", "ref: refs/heads/trunk\n");
    scene.file("repo/.git/refs/heads/trunk", ONE);
    assert_eq!(head(&scene), some("trunk", ONE));

    scene.file("repo/.git/refs/heads/trunk", "ref: refs/heads/main\n");
    let worktree = Worktree::find(&scene.path("repo")).unwrap();
    assert_eq!(in_time(move || worktree.head()).commit(), None);

    let head_file = scene.path("repo/.git/HEAD");
    fs::remove_file(&head_file).unwrap();
    symlink("refs/heads/linked", head_file).unwrap();
    scene.file("repo/.git/refs/heads/linked", TWO);
    assert_eq!(head(&scene), some("linked", TWO), "HEAD as a link");
}

#[test]
fn hostile_content_says_nothing() {
    let scene = Scene::new();
    scene.git_directory("repo/.git");
    scene.file("repo/secret", ONE);
    for name in [
        "refs/heads/.invalid",
        "refs/heads/../../../secret",
        "refs/heads//x",
        "refs/heads/x.lock",
        "refs/heads/a b",
        "refs/heads/a\u{1b}[2J",
        "refs/heads/",
        "refs/",
    ] {
        scene.file("repo/.git/HEAD", format!("ref: {name}\n"));
        assert_eq!(head(&scene), some("", ""), "{name:?}");
    }

    scene.file("repo/.git/HEAD", "ref: refs/heads/main\n");
    for content in [
        &b""[..],
        b"\n",
        b"\xff\xfe\x00",
        b"0123",
        b"ref: HEAD",
        b"ref: /etc/passwd",
        &[b'1'; 41],
        &vec![b'1'; 70_000],
    ] {
        scene.file("repo/.git/refs/heads/main", content);
        assert_eq!(head(&scene), some("main", ""));
    }

    fs::remove_file(scene.path("repo/.git/refs/heads/main")).unwrap();
    let line = format!("{ONE} refs/heads/main");
    for content in [
        format!("{ONE}refs/heads/main\n"),
        format!("{} refs/heads/main\n", &ONE[1..]),
        format!("{line}2\n"),
        format!("x{line}\n"),
        format!("{}\n{line}\n", "x".repeat(17 * 1024 * 1024)),
    ] {
        scene.file("repo/.git/packed-refs", content);
        assert_eq!(head(&scene), some("main", ""));
    }
}

#[test]
fn there_is_no_worktree_outside_of_one() {
    let scene = Scene::new();
    scene.git_directory("bare.git");
    scene.git_directory("repo/.git");
    scene.directory("plain");
    for from in ["bare.git", "repo/.git", "plain", "absent"] {
        assert!(Worktree::find(&scene.path(from)).is_none(), "{from}");
    }
}
