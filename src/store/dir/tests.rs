//! What a directory handle does with what it may meet.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use nix::unistd::mkfifo;
use tempfile::TempDir;

use super::*;

fn opened() -> (TempDir, Dir) {
    let temp = tempfile::tempdir().unwrap();
    let dir = Dir::open(temp.path()).unwrap().unwrap();
    (temp, dir)
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn what_is_not_there_is_none() {
    let (temp, dir) = opened();
    assert!(Dir::open(&temp.path().join("absent")).unwrap().is_none());
    assert!(dir.open_child("absent").unwrap().is_none());
    assert!(dir.open_file("absent").unwrap().is_none());
    assert!(dir.stat("absent").unwrap().is_none());
}

#[test]
fn what_is_created_is_private() {
    let (temp, dir) = opened();
    dir.create_child("child").unwrap();
    dir.create_file("file").unwrap();
    dir.open_or_create_file("card").unwrap();
    dir.open_or_create_child("folder", Durability::Full)
        .unwrap();
    for (name, expected) in [
        ("child", 0o700),
        ("file", 0o600),
        ("card", 0o600),
        ("folder", 0o700),
    ] {
        let mode = mode(&temp.path().join(name));
        assert_eq!(mode & !expected, 0, "{name} has {mode:o}");
    }
    let mut names = dir.names().unwrap();
    names.sort();
    assert_eq!(names, ["card", "child", "file", "folder"]);
}

#[test]
fn missing_directories_above_are_created_with_the_usual_mode() {
    let (temp, _) = opened();
    let path = temp.path().join("a/b/c");
    for _ in 0..2 {
        Dir::create(&path, Durability::Full).unwrap();
    }
    assert_eq!(mode(&path) & 0o077, 0, "the directory itself is private");
    fs::create_dir(temp.path().join("usual")).unwrap();
    let usual = mode(&temp.path().join("usual"));
    assert_eq!(mode(&temp.path().join("a/b")), usual);
}

#[test]
fn a_new_file_never_replaces_one() {
    let (temp, dir) = opened();
    fs::write(temp.path().join("file"), "mine").unwrap();
    symlink("nowhere", temp.path().join("link")).unwrap();
    for name in ["file", "link"] {
        let error = dir.create_file(name).unwrap_err();
        assert_eq!(error.kind(), Some(ErrorKind::AlreadyExists), "{error}");
    }
    assert_eq!(fs::read(temp.path().join("file")).unwrap(), b"mine");
    assert!(!temp.path().join("nowhere").exists());
}

#[test]
fn a_file_is_emptied_and_written_in_place() {
    let (temp, dir) = opened();
    fs::write(temp.path().join("card"), "long before").unwrap();
    let (file, before) = dir.open_or_create_file("card").unwrap();
    dir.truncate("card", &file).unwrap();
    dir.write("card", &file, b"short").unwrap();
    dir.sync_file("card", &file, Durability::Data).unwrap();
    assert_eq!(fs::read(temp.path().join("card")).unwrap(), b"short");
    assert!(dir.stat("card").unwrap().unwrap().is_same_file(&before));
    let (unwritable, _) = dir.open_file("card").unwrap().unwrap();
    let error = dir.write("card", &unwritable, b"x").unwrap_err();
    let expected = format!("could not write {}: ", temp.path().join("card").display());
    assert!(error.to_string().starts_with(&expected), "{error}");
}

#[test]
fn only_a_regular_file_is_opened_as_a_file() {
    let (temp, dir) = opened();
    let path = |name: &str| temp.path().join(name);
    fs::write(path("target"), "{}").unwrap();
    symlink("target", path("link")).unwrap();
    symlink("nowhere", path("dangling")).unwrap();
    fs::create_dir(path("folder")).unwrap();
    mkfifo(&path("pipe"), Mode::S_IRWXU).unwrap();
    let _socket = UnixListener::bind(path("socket")).unwrap();
    for (name, kind) in [
        ("link", "a symbolic link"),
        ("dangling", "a symbolic link"),
        ("folder", "a directory"),
        ("pipe", "a FIFO"),
        ("socket", "a socket"),
    ] {
        let read = dir.open_file(name).map(|_| ()).unwrap_err();
        let written = dir.open_or_create_file(name).map(|_| ()).unwrap_err();
        let expected = format!(
            "{} is not a valid document: expected a regular file, found {kind}; move it away",
            path(name).display()
        );
        assert_eq!(read.to_string(), expected);
        assert_eq!(written.to_string(), expected);
    }
    assert!(!path("nowhere").exists(), "no link is followed");
}

#[test]
fn only_a_directory_is_opened_as_a_child() {
    let (temp, dir) = opened();
    fs::create_dir(temp.path().join("target")).unwrap();
    symlink("target", temp.path().join("link")).unwrap();
    fs::write(temp.path().join("file"), "").unwrap();
    for (name, kind) in [("link", "a symbolic link"), ("file", "a regular file")] {
        let expected = format!(
            "could not open the directory {}: expected a directory, found {kind}",
            temp.path().join(name).display()
        );
        let opened = dir.open_child(name).unwrap_err();
        assert_eq!(opened.to_string(), expected);
        let created = dir.open_or_create_child(name, Durability::None);
        assert_eq!(created.unwrap_err().to_string(), expected);
    }
}

#[test]
fn renames_reach_another_directory_and_replace_only_what_is_empty() {
    let (temp, dir) = opened();
    let target = dir
        .open_or_create_child("target", Durability::None)
        .unwrap();
    for name in ["from", "held"] {
        dir.create_child(name).unwrap();
        fs::write(temp.path().join(name).join("token"), name).unwrap();
    }
    target.create_child("empty").unwrap();
    dir.rename("from", &target, "empty").unwrap();
    assert!(temp.path().join("target/empty/token").exists());
    let error = dir.rename("held", &target, "empty").unwrap_err();
    let refused = [ErrorKind::DirectoryNotEmpty, ErrorKind::AlreadyExists];
    assert!(refused.contains(&error.kind().unwrap()), "{error}");
    let path = temp.path().join("target/empty").display().to_string();
    assert!(error.to_string().contains(&path), "{error}");
}

#[test]
fn a_removed_directory_is_empty_and_takes_nothing() {
    let (temp, dir) = opened();
    dir.create_child("child").unwrap();
    let child = dir.open_child("child").unwrap().unwrap();
    dir.remove_child("child").unwrap();
    assert!(child.names().unwrap().is_empty());
    assert!(child.create_file("file").unwrap_err().is_not_found());
    assert!(child.create_child("child").unwrap_err().is_not_found());
    assert!(child.stat("file").unwrap().is_none());
    assert_eq!(child.path(), temp.path().join("child"));
}

#[test]
fn a_listing_starts_at_the_beginning_each_time() {
    let (_temp, dir) = opened();
    dir.create_file("a").unwrap();
    let clone = dir.try_clone().unwrap();
    for _ in 0..2 {
        assert_eq!(dir.names().unwrap(), ["a"]);
        assert_eq!(clone.names().unwrap(), ["a"]);
    }
}

#[test]
fn listings_of_one_directory_do_not_disturb_each_other() {
    let (temp, dir) = opened();
    for number in 0..300 {
        fs::write(temp.path().join(format!("file-{number}")), "").unwrap();
    }
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..100 {
                    assert_eq!(dir.names().unwrap().len(), 300);
                }
            });
        }
    });
}

#[test]
fn a_file_is_the_same_until_it_is_replaced() {
    let (temp, dir) = opened();
    fs::write(temp.path().join("file"), "1").unwrap();
    let stat = || dir.stat("file").unwrap().unwrap();
    let (_, opened) = dir.open_file("file").unwrap().unwrap();
    assert!(stat().is_same_file(&opened));
    assert_eq!(stat().signature(), opened.signature());
    fs::write(temp.path().join("other"), "2").unwrap();
    dir.rename("other", &dir, "file").unwrap();
    assert!(!stat().is_same_file(&opened));
    assert_ne!(stat().signature(), opened.signature());
    dir.unlink("file").unwrap();
    assert!(dir.stat("file").unwrap().is_none());
}

#[test]
fn a_signature_tells_edits_in_place_and_when() {
    let (temp, dir) = opened();
    let path = temp.path().join("file");
    fs::write(&path, "1").unwrap();
    let signature = || dir.stat("file").unwrap().unwrap().signature();
    let before = signature();
    fs::write(&path, "22").unwrap();
    assert_ne!(signature(), before, "the size differs");
    let before = signature();
    let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_hours(10);
    let file = File::options().write(true).open(&path).unwrap();
    file.set_modified(long_ago).unwrap();
    assert_ne!(signature(), before, "the time differs");
    assert_eq!(dir.stat("file").unwrap().unwrap().modified(), long_ago);
    let age = signature().changed().elapsed().unwrap_or_default();
    assert!(age.as_secs() < 3600, "nobody can set that one");
}

#[test]
fn a_temporary_directory_is_local_and_the_processes_are_not() {
    if cfg!(target_os = "linux") {
        let processes = Dir::open(Path::new("/proc")).unwrap().unwrap();
        assert!(!processes.is_local(), "not on the list");
    }
    let (_temp, dir) = opened();
    assert!(dir.is_local(), "these tests need a file system on the list");
}
