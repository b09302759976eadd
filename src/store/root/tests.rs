//! Opening, creating and refusing the coordination directory.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use nix::unistd::{Uid, chown};
use tempfile::TempDir;

use super::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn beside(name: &str) -> (TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join(name);
    (temp, path)
}

#[test]
fn opening_creates_nothing() {
    let (_temp, path) = beside("store");
    assert!(Root::open(&path, Durability::None).unwrap().is_none());
    assert!(!path.exists());
}

#[test]
fn creating_makes_a_private_directory_that_git_ignores() {
    let (temp, _) = beside("");
    let path = temp.path().join(".ai/coordination");
    for durability in [Durability::Full, Durability::None] {
        let root = Root::open_or_create(&path, durability).unwrap();
        assert_eq!(root.dir().path(), path);
    }
    assert_eq!(mode(&path) & 0o077, 0);
    assert_eq!(fs::read(path.join(".gitignore")).unwrap(), b"*\n");
    for (found, left, why) in [
        ("# mine\n", "# mine\n", "an edited file is left alone"),
        ("", "*\n", "a full disk leaves it empty"),
    ] {
        fs::write(path.join(".gitignore"), found).unwrap();
        Root::open_or_create(&path, Durability::None).unwrap();
        let text = fs::read_to_string(path.join(".gitignore")).unwrap();
        assert_eq!(text, left, "{why}");
    }
}

#[test]
fn folders_are_created_when_they_are_needed() {
    let (_temp, path) = beside("store");
    let root = Root::open_or_create(&path, Durability::Full).unwrap();
    for folder in [
        Folder::Tasks,
        Folder::Messages,
        Folder::Progress,
        Folder::ArchiveTasks,
        Folder::ArchiveMessages,
        Folder::ArchiveProgress,
    ] {
        assert!(root.folder(folder).unwrap().is_none(), "{folder:?}");
        let created = root.folder_or_create(folder).unwrap();
        let place = Place::new(folder, "a");
        assert_eq!(created.path_of("a.json"), root.path_of(&place));
        assert_eq!(mode(created.path()) & 0o077, 0);
        assert!(root.folder(folder).unwrap().is_some(), "{folder:?}");
        assert!(!root.contains(&place).unwrap());
        fs::write(root.path_of(&place), "3").unwrap();
        assert!(root.contains(&place).unwrap());
        assert_eq!(root.read(&place).unwrap(), Some(3));
    }
    assert!(root.folder(Folder::Root).unwrap().is_some());
    assert!(root.agents().unwrap().is_none());
    assert_eq!(root.agents_or_create().unwrap().path(), path.join("agents"));
}

#[test]
fn a_removed_directory_is_created_again() {
    let (_temp, path) = beside("store");
    let root = Root::open_or_create(&path, Durability::None).unwrap();
    fs::remove_dir_all(&path).unwrap();
    assert!(
        root.folder_or_create(Folder::Tasks).is_err(),
        "this one is gone"
    );
    let root = Root::open_or_create(&path, Durability::None).unwrap();
    root.folder_or_create(Folder::Tasks).unwrap();
}

#[test]
fn the_root_may_be_a_link_and_what_is_in_it_may_not() {
    let (temp, path) = beside("link");
    fs::create_dir(temp.path().join("real")).unwrap();
    fs::create_dir(temp.path().join("elsewhere")).unwrap();
    symlink("real", &path).unwrap();
    let root = Root::open_or_create(&path, Durability::None).unwrap();
    symlink("../elsewhere", path.join("tasks")).unwrap();
    let error = root.folder_or_create(Folder::Tasks).unwrap_err();
    let expected = "link/tasks: expected a directory, found a symbolic link";
    assert!(error.to_string().ends_with(expected), "{error}");
    assert!(root.folder(Folder::Tasks).is_err());
    let error = root.read::<u64>(&Place::new(Folder::Tasks, "a"));
    assert!(
        matches!(error, Err(StoreError::Storage { .. })),
        "{error:?}"
    );
}

#[test]
fn a_file_in_its_place_is_named() {
    let (_temp, path) = beside("store");
    fs::write(&path, "").unwrap();
    let expected = format!("could not open the directory {}: ", path.display());
    for opened in [
        Root::open(&path, Durability::None).map(|_| ()),
        Root::open_or_create(&path, Durability::None).map(|_| ()),
    ] {
        let error = opened.unwrap_err().to_string();
        assert!(error.starts_with(&expected), "{error}");
    }
}

#[test]
fn a_link_to_nothing_is_named() {
    let (temp, path) = beside("link");
    symlink("nowhere", &path).unwrap();
    for path in [path.clone(), path.join("below")] {
        let error = Root::open_or_create(&path, Durability::None).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("/link is a symbolic link to nothing"),
            "{error}"
        );
        assert!(!error.is_not_found(), "it isn't worth waiting for");
    }
    assert!(!temp.path().join("nowhere").exists());
}

#[test]
fn a_directory_that_everybody_can_write_is_refused() {
    let (_temp, path) = beside("store");
    Root::open_or_create(&path, Durability::None).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
    let error = Root::open(&path, Durability::None).unwrap_err();
    assert!(
        error.to_string().contains("run `chmod o-w` on it"),
        "{error}"
    );
    fs::set_permissions(&path, fs::Permissions::from_mode(0o775)).unwrap();
    Root::open(&path, Durability::None).unwrap().unwrap();
}

#[test]
fn a_directory_of_somebody_else_is_refused() {
    let (_temp, path) = beside("store");
    let (path, owner) = if Uid::effective().is_root() {
        fs::create_dir(&path).unwrap();
        chown(&path, Some(Uid::from_raw(65534)), None).unwrap();
        (path, "65534")
    } else {
        (PathBuf::from("/"), "0")
    };
    for opened in [
        Root::open(&path, Durability::None).map(|_| ()),
        Root::open_or_create(&path, Durability::None).map(|_| ()),
    ] {
        let error = opened.unwrap_err().to_string();
        let expected = format!("it belongs to user {owner}, expected ");
        assert!(error.contains(&expected), "{error}");
    }
}
