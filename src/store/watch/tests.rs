//! The watcher as its users see it, whatever it is made of.

use std::{
    fs,
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

use tempfile::TempDir;
use tokio::time::timeout;

use super::*;

/// Far longer than anything here takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A store with its four directories.
fn store() -> TempDir {
    let store = TempDir::new().unwrap();
    for name in DOCUMENTS.into_iter().chain([AGENTS]) {
        fs::create_dir(store.path().join(name)).unwrap();
    }
    store
}

fn both(root: &Path) -> [(&'static str, Watch); 2] {
    [
        ("events", Watch::new(root.to_owned())),
        ("polling", Watch::polling(root.to_owned())),
    ]
}

/// Makes a change, and waits for the count to grow.
async fn assert_grows(receiver: &mut Receiver<u64>, after: &str, change: impl FnOnce()) {
    let before = *receiver.borrow();
    change();
    let grown = timeout(PATIENCE, receiver.wait_for(|&count| count > before)).await;
    let grown = grown.unwrap_or_else(|_| panic!("the count grows after {after}"));
    assert!(grown.is_ok(), "the watcher is alive after {after}");
}

/// Another process replaces a file as the store does.
fn replace_by_other_process(file: &Path) {
    let script = r#"printf '{}' > "$0.new" && mv "$0.new" "$0""#;
    let status = Command::new("sh").args(["-c", script]).arg(file).status();
    assert!(status.unwrap().success());
}

#[tokio::test]
async fn counts_what_another_process_replaces() {
    let store = store();
    for (method, watch) in both(store.path()) {
        let mut receiver = watch.subscribe();
        for name in DOCUMENTS.into_iter().chain([AGENTS]) {
            let file = store.path().join(name).join("a.json");
            let after = format!("a rename in {name} ({method})");
            assert_grows(&mut receiver, &after, || replace_by_other_process(&file)).await;
        }
    }
}

#[tokio::test]
async fn counts_for_all_subscribers() {
    let store = store();
    let watch = Watch::new(store.path().to_owned());
    let (mut one, mut two) = (watch.subscribe(), watch.subscribe());
    let edit = || fs::write(store.path().join("tasks/a.json"), "{}").unwrap();
    assert_grows(&mut one, "an edit", edit).await;
    assert_grows(&mut two, "another edit", edit).await;
}

#[tokio::test]
async fn directories_may_come_and_go() {
    let parent = TempDir::new().unwrap();
    let root = parent.path().join("not/yet/there");
    let make = || fs::create_dir_all(root.join("tasks")).unwrap();
    let write = || fs::write(root.join("tasks/a.json"), "{}").unwrap();
    let delete = || fs::remove_dir_all(parent.path().join("not")).unwrap();
    for (method, watch) in both(&root) {
        let mut receiver = watch.subscribe();
        for round in 0..2 {
            let after = |what: &str| format!("{what} (round {round}, {method})");
            assert_grows(&mut receiver, &after("directories appear"), make).await;
            assert_grows(&mut receiver, &after("a file is written"), write).await;
            assert_grows(&mut receiver, &after("all is deleted"), delete).await;
        }
    }
}

#[tokio::test]
async fn falls_back_to_polling() {
    let store = store();
    let no_events = |root: &Path| Method::instead_of_events(root, Errno::EMFILE);
    let watch = Watch::with_method(store.path().to_owned(), no_events);
    let mut receiver = watch.subscribe();
    let file = store.path().join("tasks/a.json");
    assert_grows(&mut receiver, "a rename", || {
        replace_by_other_process(&file);
    })
    .await;
}

#[tokio::test]
async fn polling_counts_every_second_for_what_it_cannot_see() {
    let store = store();
    let watch = Watch::polling(store.path().to_owned());
    let mut receiver = watch.subscribe();
    assert_grows(&mut receiver, "a second", || {}).await;
    assert_grows(&mut receiver, "another second", || {}).await;
}

/// Only Linux reports enough to be silent in between.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn is_silent_while_nothing_changes() {
    let store = store();
    fs::write(store.path().join("tasks/a.json"), "{}").unwrap();
    let watch = Watch::new(store.path().to_owned());
    let mut receiver = watch.subscribe();
    let begun = Instant::now();
    // What the lines above did may still be on its way, for a second.
    let mut is_silent = false;
    while !is_silent && begun.elapsed() < PATIENCE {
        receiver.borrow_and_update();
        fs::read(store.path().join("tasks/a.json")).unwrap();
        fs::read_dir(store.path().join("tasks")).unwrap().count();
        fs::write(store.path().join("sequence.json"), "{}").unwrap();
        let longer_than_a_tick = SAFETY_INTERVAL.mul_f64(2.5);
        is_silent = timeout(longer_than_a_tick, receiver.changed())
            .await
            .is_err();
    }
    assert!(is_silent, "reading a store is no change of it");
}

#[tokio::test]
async fn opens_once_and_not_before_it_is_asked() {
    static OPENED: AtomicUsize = AtomicUsize::new(0);
    let store = store();
    let watch = Watch::with_method(store.path().to_owned(), |root| {
        OPENED.fetch_add(1, Ordering::SeqCst);
        Method::events(root)
    });
    assert_eq!(OPENED.load(Ordering::SeqCst), 0);
    let _receivers = [watch.subscribe(), watch.subscribe()];
    assert_eq!(OPENED.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn waiting_fails_once_the_watch_is_gone() {
    let store = store();
    let watch = Watch::new(store.path().to_owned());
    let mut receiver = watch.subscribe();
    drop(watch);
    let outcome = timeout(PATIENCE, receiver.wait_for(|_| false)).await;
    assert!(outcome.expect("waiting ends").is_err());
}

#[test]
fn the_thread_ends_once_the_watch_is_gone() {
    let store = store();
    for method in [Method::events, Method::polling] {
        let root = store.path().to_owned();
        let sender = Arc::new(Sender::new(0));
        let generation = Arc::downgrade(&sender);
        let thread = thread::spawn(move || count_changes(&root, method(&root), &generation));
        drop(sender);
        let begun = Instant::now();
        while !thread.is_finished() {
            assert!(begun.elapsed() < PATIENCE, "the thread ends");
            thread::sleep(Duration::from_millis(10));
        }
    }
}
