//! What doesn't belong there, and what may not be written.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::time::Duration;

use nix::unistd::{Gid, Uid, chown};

use super::{hasty, hold, impatient, leave_token};
use crate::store::document;
use crate::store::error::StoreError;
use crate::store::testing::{Desk, Role, increment, names, quick};

#[test]
fn a_stray_file_in_a_lock_is_respected_for_a_while_and_then_removed() {
    let desk = Desk::new();
    fs::create_dir_all(desk.lock()).unwrap();
    fs::write(desk.lock().join("notes.txt"), "mine").unwrap();
    let error = increment(&desk.engine(impatient())).unwrap_err();
    assert!(
        error.to_string().contains("tasks-counter.lock/notes.txt"),
        "{error}"
    );
    assert_eq!(increment(&desk.engine(hasty())).unwrap(), 1);
    assert!(desk.left_in_locks().is_empty());
}

#[test]
fn a_directory_in_a_lock_is_named_and_never_removed() {
    let desk = Desk::new();
    fs::create_dir_all(desk.lock().join("sub")).unwrap();
    leave_token(&desk.lock());
    let settings = hasty().patience(Duration::from_millis(400));
    let error = increment(&desk.engine(settings)).unwrap_err();
    assert!(matches!(error, StoreError::Busy { .. }));
    assert!(
        error.to_string().contains("tasks-counter.lock/sub"),
        "{error}"
    );
    assert_eq!(names(&desk.lock()), ["sub"], "the token beside it is gone");
    assert_eq!(
        desk.left_in_locks(),
        ["tasks-counter.lock"],
        "no candidate is left"
    );
}

#[test]
fn anything_but_a_directory_at_the_lock_is_an_error_that_names_it() {
    for make in [
        |path: &Path| fs::write(path, "").unwrap(),
        |path: &Path| symlink("/tmp", path).unwrap(),
    ] {
        let desk = Desk::new();
        fs::create_dir_all(desk.locks()).unwrap();
        make(&desk.lock());
        let error = increment(&desk.engine(quick())).unwrap_err();
        assert_eq!(error.kind(), Some(ErrorKind::NotADirectory), "{error}");
        let path = desk.lock().display().to_string();
        assert!(error.to_string().contains(&path), "{error}");
        assert_eq!(
            desk.left_in_locks(),
            ["tasks-counter.lock"],
            "no candidate is left"
        );
    }
}

#[test]
fn a_document_beyond_the_read_bound_is_refused_and_the_lock_released() {
    let desk = Desk::new();
    increment(&desk.engine(quick())).unwrap();
    let size = usize::try_from(document::SIZE_LIMIT).unwrap() + 1;
    let error = hold(&desk).commit(&vec![b' '; size]).unwrap_err();
    assert!(matches!(error, StoreError::TooLarge { .. }), "{error}");
    assert_eq!(desk.count(), 1);
    assert!(desk.left_in_locks().is_empty());
}

#[test]
fn a_commit_that_fails_leaves_nothing_behind() {
    let desk = Desk::new();
    let lock = hold(&desk);
    fs::create_dir(desk.document()).unwrap();
    let error = lock.commit(b"{}\n").unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::IsADirectory), "{error}");
    assert!(error.to_string().contains("tasks/counter.json"), "{error}");
    assert!(desk.left_in_locks().is_empty());
}

#[test]
fn a_corrupt_document_is_named_and_kept() {
    let desk = Desk::new();
    increment(&desk.engine(quick())).unwrap();
    fs::write(desk.document(), "{\n  \"count\": true\n}\n").unwrap();
    let error = increment(&desk.engine(quick())).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }));
    assert!(
        error.to_string().contains("line 2, count: invalid type"),
        "{error}"
    );
    assert!(
        fs::read_to_string(desk.document())
            .unwrap()
            .contains("true")
    );
    assert!(desk.left_in_locks().is_empty());
}

/// The super-user may write everywhere, so a process of somebody else has to try.
#[test]
fn a_directory_that_may_not_be_written_is_an_error_that_names_it() {
    const NOBODY: u32 = 65534;
    let desk = Desk::new();
    increment(&desk.engine(quick())).unwrap();
    let cases = [
        (desk.locks(), "create the directory"),
        (desk.store().join("tasks"), "rename"),
    ];
    for (directory, action) in cases {
        let _ = fs::remove_file(desk.path().join("outcome"));
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o500)).unwrap();
        let child = if Uid::effective().is_root() {
            give_to(desk.path(), NOBODY);
            let program = desk.path().join("program");
            fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
            desk.start_program_as(&program, Role::Attempt, |command| {
                command.uid(NOBODY).gid(NOBODY).current_dir(desk.path());
            })
        } else {
            desk.start(Role::Attempt)
        };
        let outcome = desk.wait_for("outcome");
        child.succeed();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
        assert!(
            outcome.contains(&format!("could not {action}")),
            "{outcome}"
        );
        assert!(outcome.contains("Permission denied"), "{outcome}");
        assert!(
            outcome.contains(&directory.display().to_string()),
            "{outcome}"
        );
    }
    assert!(desk.left_in_locks().is_empty());
    assert!(
        fs::read_to_string(desk.document())
            .unwrap()
            .contains("\"count\": 1")
    );
}

fn give_to(path: &Path, user: u32) {
    chown(path, Some(Uid::from_raw(user)), Some(Gid::from_raw(user))).unwrap();
    if path.is_dir() {
        for name in names(path) {
            give_to(&path.join(name), user);
        }
    }
}
