//! What inotify reports, with the tick put off so that it cannot stand in for a missing event.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    thread,
};

use tempfile::TempDir;

use super::*;

/// Far longer than an event takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

fn store() -> TempDir {
    let store = TempDir::new().unwrap();
    for name in DOCUMENTS.into_iter().chain([AGENTS]) {
        fs::create_dir(store.path().join(name)).unwrap();
    }
    store
}

/// Whether a change is reported before the tick, with everything that is reported along with it.
fn is_reported(events: &mut Events) -> bool {
    let tick = Instant::now() + PATIENCE;
    loop {
        events.tick_due = tick;
        let is_changed = events.wait().unwrap();
        if is_changed || Instant::now() >= tick {
            break;
        }
    }
    let is_in_time = Instant::now() < tick;
    while is_ready(events) {
        events.wait().unwrap();
    }
    is_in_time
}

fn is_ready(events: &Events) -> bool {
    let mut descriptors = [PollFd::new(events.inotify.as_fd(), PollFlags::POLLIN)];
    poll(&mut descriptors, PollTimeout::ZERO).unwrap() > 0
}

/// A process that holds `file` open for writing until it is killed.
fn holder(file: &Path) -> Child {
    let script = r#"exec 9>>"$0"; echo ready; exec sleep 1000 >/dev/null"#;
    let mut child = Command::new("sh")
        .args(["-c", script])
        .arg(file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "ready\n");
    child
}

#[test]
fn every_kind_of_change_is_reported() {
    let store = store();
    let file = store.path().join("tasks/a.json");
    // The root does not see what comes from here, or goes here.
    let elsewhere = store.path().join(".locks");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("new"), "{}").unwrap();
    let mut events = Events::open(store.path()).unwrap();
    File::create(&file).unwrap();
    assert!(is_reported(&mut events), "a new file");
    let open = File::options().write(true).open(&file).unwrap();
    open.set_len(10).unwrap();
    assert!(is_reported(&mut events), "an edit of a file still open");
    drop(open);
    assert!(is_reported(&mut events), "its end");
    fs::hard_link(&file, store.path().join("tasks/b.json")).unwrap();
    assert!(is_reported(&mut events), "a further name");
    fs::rename(elsewhere.join("new"), &file).unwrap();
    assert!(is_reported(&mut events), "a file replaced from elsewhere");
    fs::rename(&file, elsewhere.join("away")).unwrap();
    assert!(is_reported(&mut events), "a file moved away");
    fs::remove_file(store.path().join("tasks/b.json")).unwrap();
    assert!(is_reported(&mut events), "a deleted file");
}

#[test]
fn a_killed_process_is_reported() {
    let store = store();
    let mut child = holder(&store.path().join("agents/one.json"));
    let mut events = Events::open(store.path()).unwrap();
    child.kill().unwrap();
    assert!(is_reported(&mut events), "SIGKILL closes its file");
    child.wait().unwrap();
}

#[test]
fn a_closed_agent_counts_again_when_its_lock_is_gone_for_certain() {
    let store = store();
    let card = File::create(store.path().join("agents/one.json")).unwrap();
    let mut events = Events::open(store.path()).unwrap();
    drop(card);
    assert!(is_reported(&mut events), "the closing");
    for delay in AFTER_CLOSING {
        assert!(is_reported(&mut events), "{delay:?} after it");
    }
    assert!(events.recounts_due.is_empty(), "and then no more");

    fs::write(store.path().join("tasks/a.json"), "{}").unwrap();
    assert!(is_reported(&mut events), "an edit of a task");
    assert!(events.recounts_due.is_empty(), "has no such consequence");
}

#[test]
fn a_directory_made_anew_is_watched() {
    let store = store();
    let tasks = store.path().join("tasks");
    let file = tasks.join("a.json");
    let mut events = Events::open(store.path()).unwrap();
    let mut made_anew = |how: &str| {
        assert!(is_reported(&mut events), "{how}: the directory is gone");
        fs::create_dir(&tasks).unwrap();
        assert!(is_reported(&mut events), "{how}: it is back");
        fs::write(&file, "{}").unwrap();
        assert!(is_reported(&mut events), "{how}: a file in it");
        fs::remove_file(&file).unwrap();
        assert!(is_reported(&mut events), "{how}: a file no longer in it");
    };
    fs::remove_dir(&tasks).unwrap();
    made_anew("deleted");
    fs::rename(&tasks, store.path().join("old")).unwrap();
    made_anew("moved away");
    let _open = File::open(&tasks).unwrap();
    fs::remove_dir(&tasks).unwrap();
    made_anew("deleted while open, so that the directory itself reports nothing");
}

#[test]
fn a_directory_exchanged_in_one_step_is_watched() {
    let store = store();
    let mut events = Events::open(store.path()).unwrap();
    let next = store.path().join("next");
    fs::create_dir(&next).unwrap();
    while is_ready(&events) {
        events.wait().unwrap();
    }
    fs::rename(&next, store.path().join("tasks")).unwrap();
    assert!(is_reported(&mut events), "another directory");
    fs::write(store.path().join("tasks/a.json"), "{}").unwrap();
    assert!(is_reported(&mut events), "a file in it");
}

#[test]
fn a_link_in_place_of_a_directory_is_not_followed() {
    let store = store();
    let elsewhere = TempDir::new().unwrap();
    fs::remove_dir(store.path().join("tasks")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), store.path().join("tasks")).unwrap();
    let mut events = Events::open(store.path()).unwrap();
    fs::write(elsewhere.path().join("a.json"), "{}").unwrap();
    assert!(!is_ready(&events), "nothing is watched there");
    fs::write(store.path().join("messages/a.json"), "[]").unwrap();
    assert!(is_reported(&mut events), "the others are");
}

#[test]
fn an_overflow_counts_and_loses_no_directory() {
    let store = store();
    let tasks = store.path().join("tasks");
    let mut events = Events::open(store.path()).unwrap();
    let limit = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let limit: usize = limit.trim().parse().unwrap();
    // Two names in turn, for two equal events in a row are reported as one.
    for number in 0..limit {
        File::create(store.path().join(format!("messages/{}", number % 2))).unwrap();
    }
    fs::remove_dir(&tasks).unwrap();
    fs::create_dir(&tasks).unwrap();
    let watch_of_tasks = |events: &Events| events.below[0].watch;
    let before = watch_of_tasks(&events);
    assert!(is_reported(&mut events), "the flood");
    assert_ne!(
        watch_of_tasks(&events),
        before,
        "the directory whose end nobody reported is found again"
    );
    fs::write(tasks.join("a.json"), "{}").unwrap();
    assert!(is_reported(&mut events), "a file in it");
}

/// Waits for ticks alone to say that something changed.
fn is_found_by_tick(events: &mut Events) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if events.wait().unwrap() {
            return true;
        }
    }
    false
}

#[test]
fn a_tick_finds_a_store_exchanged_together_with_its_parent() {
    let scene = TempDir::new().unwrap();
    let parent = scene.path().join("parent");
    let tasks = parent.join("store/tasks");
    fs::create_dir_all(&tasks).unwrap();
    let mut events = Events::open(&parent.join("store")).unwrap();
    fs::rename(&parent, scene.path().join("old")).unwrap();
    fs::create_dir_all(&tasks).unwrap();
    assert!(!is_ready(&events), "nothing reports that");
    assert!(is_found_by_tick(&mut events));
    fs::write(tasks.join("a.json"), "{}").unwrap();
    assert!(is_reported(&mut events), "a file in the new store");
}

#[test]
fn a_tick_finds_a_change_that_was_not_reported() {
    let store = store();
    let mut events = Events::open(store.path()).unwrap();
    events.stamps[1] = Stamp::at(store.path());
    assert!(!is_ready(&events), "nothing reports that");
    assert!(is_found_by_tick(&mut events));
}

#[test]
fn a_change_between_subscribing_and_reading_is_read_or_reported() {
    let store = store();
    let file = store.path().join("tasks/a.json");
    for round in 0..200_u32 {
        fs::write(&file, "old").unwrap();
        let writer = {
            let (file, new) = (file.clone(), store.path().join("new"));
            thread::spawn(move || {
                fs::write(&new, "new").unwrap();
                thread::sleep(Duration::from_micros(u64::from(round)));
                fs::rename(&new, &file).unwrap();
            })
        };
        let mut events = Events::open(store.path()).unwrap();
        let is_read = fs::read(&file).unwrap() == b"new";
        assert!(is_read || is_reported(&mut events), "round {round}");
        writer.join().unwrap();
    }
}
