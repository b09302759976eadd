//! Two processes' services on one directory, with a clock that stands where a test puts it.

use std::{
    path::Path,
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use futures::FutureExt;
use tempfile::TempDir;

use super::*;
use crate::{
    domain::{
        Bounded, Content, Description, Metadata, Note, Percent, Report, RequestedName, Status,
        Title, Work,
    },
    store::{Durability, Settings},
};

/// A directory, a clock, and the assistants that share both.
struct Scene {
    directory: TempDir,
    millis: Arc<AtomicI64>,
}

/// One assistant's process.
struct Agent {
    service: Arc<Service>,
    client: Client,
}

impl Scene {
    fn new() -> Self {
        let millis = Arc::new(AtomicI64::new(1_000_000_000_000));
        Self {
            directory: tempfile::tempdir().unwrap(),
            millis,
        }
    }

    fn pass(&self, seconds: i64) {
        self.millis.fetch_add(seconds * 1_000, Ordering::SeqCst);
    }

    fn agent(&self, name: &str) -> Agent {
        let millis = self.millis.clone();
        let settings = Settings::default().durability(Durability::None);
        let service = Service::new(Setting {
            store: Store::new(&self.directory.path().join("coordination"), settings),
            clock: Clock::new(move || Timestamp::from_millis(millis.load(Ordering::SeqCst))),
            agent: None,
            worktree: None,
            working_directory: Path::new("/home/somebody/project").to_owned(),
            ceiling: Ceiling::default(),
        });
        Agent {
            service,
            client: Client {
                name: Some(name.to_owned()),
                version: None,
            },
        }
    }
}

impl Agent {
    fn create(&self, title: &str, after: &[TaskId]) -> TaskId {
        let work = Work {
            title: Title::try_from(title.to_owned()).unwrap(),
            description: Description::try_from("as it says".to_owned()).unwrap(),
            expected_output: None,
            after: Bounded::try_from(after.to_vec()).unwrap(),
            tags: Bounded::default(),
            files: Bounded::default(),
            working_directory: None,
            metadata: Metadata::default(),
        };
        self.service
            .create(&work, None, &self.client)
            .unwrap()
            .task
            .id
    }

    fn claim_next(&self) -> Claim {
        self.service
            .claim_next(&ClaimNext::default(), &self.client)
            .unwrap()
    }

    fn report(&self, id: TaskId, percent: Option<u64>) -> Result<Reported, Failure> {
        let percent = percent.map(|it| Percent::try_from(it).unwrap());
        self.service.report(
            id,
            &Report {
                percent,
                ..Report::default()
            },
            None,
            &self.client,
        )
    }

    fn complete(&self, id: TaskId) -> Result<Changed, Failure> {
        self.service
            .complete(id, &HandIn::default(), None, &self.client)
    }

    fn approve(&self, id: TaskId) -> Result<Changed, Failure> {
        self.service.approve(id, None, None, &self.client)
    }

    fn send_back(&self, id: TaskId) -> Result<SentBack, Failure> {
        self.service
            .request_revision(id, &note("again"), None, &self.client)
    }

    fn cancel(&self, id: TaskId) {
        self.service
            .cancel(id, Some(&note("no need")), None, &self.client)
            .unwrap();
    }

    fn say(&self, task_id: TaskId, content: &str) -> Message {
        let content = Content::try_from(content.to_owned()).unwrap();
        let post = Post {
            task_id,
            content,
            agent: None,
            expected_version: None,
        };
        self.service.post(&post, &self.client).unwrap()
    }

    fn attention(&self, since: Option<Timestamp>) -> Vec<(u64, Why)> {
        let (attention, _) = self.service.attention(since, &self.client).unwrap();
        attention
            .iter()
            .map(|it| (it.task.id.number(), it.why))
            .collect()
    }

    fn summary(&self, id: TaskId) -> TaskView {
        self.service.summary(&self.service.task(id).unwrap(), None)
    }

    fn patience(&self, seconds: u64) -> Patience {
        Patience::new(
            self.client.clone(),
            Some(seconds),
            futures::future::pending().boxed(),
            None,
        )
    }
}

use crate::domain::Message;

fn note(text: &str) -> Note {
    Note::try_from(text.to_owned()).unwrap()
}

#[test]
fn work_comes_in_the_order_revision_resumed_new() {
    let scene = Scene::new();
    let (boss, worker) = (scene.agent("boss"), scene.agent("worker"));
    let ids: Vec<_> = (1..=4)
        .map(|it| boss.create(&format!("task {it}"), &[]))
        .collect();
    assert_eq!(worker.claim_next().why, Some("new"));
    assert_eq!(
        worker.claim_next().task.unwrap().id,
        ids[1],
        "the lowest one that is left"
    );
    worker.complete(ids[1]).unwrap();
    boss.send_back(ids[1]).unwrap();
    drop(worker);

    let worker = scene.agent("worker");
    let first = worker.claim_next();
    let given = first.task.unwrap();
    assert_eq!(
        (first.why, given.id, given.status),
        (Some("revision"), ids[1], Status::InProgress)
    );
    assert_eq!(given.feedback, Some(note("again")));
    assert_eq!(
        first.held.iter().map(|it| it.id).collect::<Vec<_>>(),
        [ids[0]]
    );
    let second = worker.claim_next();
    assert_eq!(
        (second.why, second.task.unwrap().id),
        (Some("resumed"), ids[0])
    );
    let third = worker.claim_next();
    assert_eq!((third.why, third.task.unwrap().id), (Some("new"), ids[2]));
}

#[test]
fn a_task_waits_for_those_before_it() {
    let scene = Scene::new();
    let (boss, worker) = (scene.agent("boss"), scene.agent("worker"));
    let first = boss.create("first", &[]);
    let second = boss.create("second", &[first]);
    assert_eq!(boss.summary(second).blocked_by, [first]);
    let refused = worker
        .service
        .claim(second, None, None, &worker.client)
        .unwrap_err();
    assert_eq!(refused.code(), Code::Blocked);
    assert!(refused.text().contains("task-0001 (pending)"), "{refused}");
    assert_eq!(worker.claim_next().task.unwrap().id, first);
    let nothing = worker.claim_next();
    assert!(nothing.task.is_none());
    assert!(
        nothing
            .next
            .unwrap()
            .contains("task-0002 waits for task-0001 (claimed)")
    );
    worker.complete(first).unwrap();
    assert!(
        worker.claim_next().task.is_none(),
        "completed is not approved"
    );
    boss.approve(first).unwrap();
    assert_eq!(worker.claim_next().task.unwrap().id, second);
}

#[test]
fn the_percentage_holds_within_one_claim() {
    let scene = Scene::new();
    let (boss, worker) = (scene.agent("boss"), scene.agent("worker"));
    let id = boss.create("task", &[]);
    worker.claim_next();
    assert_eq!(
        worker.report(id, Some(40)).unwrap().task.version,
        3,
        "the first report starts it"
    );
    assert_eq!(
        worker.report(id, None).unwrap().task.version,
        3,
        "the next ones change nothing"
    );
    assert_eq!(boss.summary(id).percent.map(u64::from), Some(40));
    boss.cancel(id);
    boss.service.reopen(id, None, None, &boss.client).unwrap();
    worker.claim_next();
    assert_eq!(boss.summary(id).percent, None);
}

#[test]
fn being_idle_counts_from_the_last_sign_of_life() {
    let scene = Scene::new();
    let (boss, worker) = (scene.agent("boss"), scene.agent("worker"));
    let id = boss.create("task", &[]);
    worker.claim_next();
    scene.pass(100);
    assert_eq!(
        boss.summary(id).idle_seconds,
        99,
        "100 s since the clock stood, less the millisecond between two changes"
    );
    worker.report(id, None).unwrap();
    scene.pass(7);
    assert_eq!(boss.summary(id).idle_seconds, 7);
}

#[test]
fn messages_ride_on_reports_until_they_are_seen() {
    let scene = Scene::new();
    let (boss, worker) = (scene.agent("boss"), scene.agent("worker"));
    let id = boss.create("task", &[]);
    boss.say(id, "before the claim");
    scene.pass(1);
    assert_eq!(worker.claim_next().messages.len(), 1);
    scene.pass(1);
    assert!(
        worker.report(id, None).unwrap().messages.is_empty(),
        "seen with the claim"
    );
    scene.pass(1);
    for number in 1..=9 {
        boss.say(id, &format!("{number}"));
    }
    scene.pass(1);
    let riding = worker.report(id, None).unwrap().messages;
    let texts: Vec<_> = riding.iter().map(|it| it.content.as_str()).collect();
    assert_eq!(
        texts,
        ["5", "6", "7", "8", "9"],
        "the newest five, oldest first"
    );
    scene.pass(1);
    assert!(worker.report(id, None).unwrap().messages.is_empty());
}

#[test]
fn attention_is_told_again_until_since_hides_it() {
    let scene = Scene::new();
    let (boss, worker) = (scene.agent("boss"), scene.agent("worker"));
    let id = boss.create("task", &[]);
    worker.claim_next();
    worker.complete(id).unwrap();
    let (_, now) = boss.service.attention(None, &boss.client).unwrap();
    drop(boss);
    let boss = scene.agent("boss");
    assert_eq!(
        boss.attention(Some(now)),
        [(1, Why::Review)],
        "just as old, but never told"
    );
    assert_eq!(boss.attention(None), [(1, Why::Review)], "told again");
    assert_eq!(
        boss.attention(Some(now)),
        [],
        "told, and older than asked for"
    );
    scene.pass(1);
    worker.say(id, "by the way");
    assert_eq!(
        boss.attention(Some(now)),
        [(1, Why::Review)],
        "news of the same task"
    );
    boss.send_back(id).unwrap();
    assert_eq!(boss.attention(None), []);
    assert_eq!(worker.attention(None), [(1, Why::Revision)]);
    boss.cancel(id);
    assert_eq!(worker.attention(None), [(1, Why::Cancelled)]);
    assert_eq!(
        boss.attention(None),
        [],
        "nobody is told what it did itself"
    );
}

#[test]
fn an_event_stamped_long_before_since_is_old_even_if_it_was_never_told() {
    let scene = Scene::new();
    let (boss, worker) = (scene.agent("boss"), scene.agent("worker"));
    let id = boss.create("task", &[]);
    worker.claim_next();
    worker.complete(id).unwrap();
    scene.pass(60);
    assert_eq!(boss.attention(Some(boss.service.now())), []);
}

#[test]
fn a_holder_that_ended_is_gone_and_comes_back() {
    let scene = Scene::new();
    let (boss, worker) = (scene.agent("boss"), scene.agent("worker"));
    let id = boss.create("task", &[]);
    worker.claim_next();
    assert!(!boss.summary(id).holder_gone);
    assert_eq!(boss.attention(None), []);
    drop(worker);
    assert!(boss.summary(id).holder_gone);
    assert_eq!(boss.attention(None), [(1, Why::HolderGone)]);
    let advice = boss.complete(id).unwrap_err();
    assert_eq!(advice.code(), Code::NotAssignee);
    assert!(advice.text().contains("is not running"), "{advice}");
    let worker = scene.agent("worker");
    assert_eq!(worker.claim_next().why, Some("resumed"));
    assert!(!boss.summary(id).holder_gone);
}

#[test]
fn names_are_one_living_process_each() {
    let scene = Scene::new();
    let (first, second) = (scene.agent("claude"), scene.agent("claude"));
    let names = |agent: &Agent| agent.service.names(&agent.client).unwrap()[0].to_string();
    assert_eq!(names(&first), "claude@project");
    assert_eq!(names(&second), "claude@project#2");
    let wanted = RequestedName::try_from("claude@project".to_owned()).unwrap();
    let taken = second
        .service
        .acting(Some(wanted), &second.client)
        .unwrap_err();
    assert_eq!(taken.code(), Code::NameTaken);
    assert!(taken.text().contains("pid"), "{taken}");
    drop(first);
    assert_eq!(
        names(&scene.agent("claude")),
        "claude@project",
        "free again"
    );
}

#[test]
fn a_name_survives_the_removal_of_the_directory() {
    let scene = Scene::new();
    let (boss, worker) = (scene.agent("boss"), scene.agent("worker"));
    boss.create("task", &[]);
    worker.claim_next();
    std::fs::remove_dir_all(scene.directory.path().join("coordination")).unwrap();
    let id = boss.create("task", &[]);
    assert_eq!(worker.claim_next().task.unwrap().id, id);
    assert!(!boss.summary(id).holder_gone, "its name is held anew");
}

#[test]
fn advice_depends_on_who_asks() {
    let scene = Scene::new();
    let (boss, worker) = (scene.agent("boss"), scene.agent("worker"));
    let id = boss.create("task", &[]);
    let text = |failure: Failure| failure.to_string();
    assert!(text(worker.complete(id).unwrap_err()).contains("claim it with claim_task first"));
    worker.claim_next();
    assert!(text(boss.approve(id).unwrap_err()).contains("not been handed in yet"));
    worker.complete(id).unwrap();
    let waits = text(worker.complete(id).unwrap_err());
    assert!(
        waits.contains("waits for review by boss@project"),
        "{waits}"
    );
    assert!(
        !waits.contains("approve_task") && !waits.contains("reopen_task"),
        "{waits}"
    );
    assert!(text(worker.approve(id).unwrap_err()).starts_with("not_reviewer"));
    boss.send_back(id).unwrap();
    boss.cancel(id);
    let stop = text(worker.report(id, None).unwrap_err());
    assert!(stop.starts_with("invalid_transition"), "{stop}");
    assert!(
        stop.contains("cancelled by boss@project") && stop.contains("no need"),
        "{stop}"
    );
    assert!(
        stop.contains("call claim_next_task") && !stop.contains("reopen_task"),
        "{stop}"
    );
}

#[test]
fn a_stale_version_is_a_conflict_before_anything_else() {
    let scene = Scene::new();
    let boss = scene.agent("boss");
    let id = boss.create("task", &[]);
    let conflict = boss
        .service
        .approve(id, None, Some(9), &boss.client)
        .unwrap_err();
    assert_eq!(conflict.code(), Code::Conflict);
    assert!(
        conflict.text().contains("version 1 (pending), not 9"),
        "{conflict}"
    );
}

#[tokio::test]
async fn a_wait_for_work_ends_when_there_is_some() {
    let scene = Scene::new();
    let (boss, worker) = (scene.agent("boss"), scene.agent("worker"));
    let waiting = worker
        .service
        .clone()
        .wait_and_claim(ClaimNext::default(), worker.patience(30));
    let waiting = tokio::spawn(waiting);
    tokio::time::sleep(Duration::from_millis(20)).await;
    let id = boss.create("task", &[]);
    let claim = waiting.await.unwrap().unwrap();
    assert_eq!(claim.task.unwrap().id, id);
}

#[tokio::test]
async fn a_question_waits_for_its_answer() {
    let scene = Scene::new();
    let (boss, worker) = (scene.agent("boss"), scene.agent("worker"));
    let id = boss.create("task", &[]);
    boss.say(id, "an old message is no answer");
    let content = Content::try_from("which way?".to_owned()).unwrap();
    let post = Post {
        task_id: id,
        content,
        agent: None,
        expected_version: None,
    };
    let waiting = tokio::spawn(
        worker
            .service
            .clone()
            .post_and_wait(post, worker.patience(30)),
    );
    let is_posted = || boss.service.messages(id, None, 50).unwrap().total == 2;
    while !is_posted() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    boss.say(id, "left");
    let result = waiting.await.unwrap().unwrap();
    assert_eq!(result.timed_out, Some(false));
    assert_eq!(result.reply.unwrap().content.as_str(), "left");
}

#[tokio::test]
async fn a_wait_that_is_over_is_an_answer() {
    let scene = Scene::new();
    let boss = scene.agent("boss");
    let id = boss.create("task", &[]);
    let wait = boss
        .service
        .clone()
        .wait_for_task(id, None, None, boss.patience(0))
        .await
        .unwrap();
    assert!(wait.timed_out);
    assert_eq!(wait.task.status, Status::Pending);
    let known = Some(Status::Claimed);
    let differs = boss
        .service
        .clone()
        .wait_for_task(id, known, None, boss.patience(30))
        .await
        .unwrap();
    assert!(!differs.timed_out, "the status differs from the known one");
}

#[tokio::test]
async fn an_interrupted_wait_claims_nothing() {
    let scene = Scene::new();
    let (boss, worker) = (scene.agent("boss"), scene.agent("worker"));
    let gone = Patience::new(
        worker.client.clone(),
        Some(30),
        futures::future::ready(()).boxed(),
        None,
    );
    let waited = worker
        .service
        .clone()
        .wait_and_claim(ClaimNext::default(), gone)
        .await;
    assert!(waited.is_err());
    let id = boss.create("task", &[]);
    assert_eq!(boss.summary(id).status, Status::Pending);
}
