//! Who is here, who is gone, and what needs whom.

use super::*;

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
fn what_an_earlier_process_of_the_name_was_told_is_old() {
    let scene = Scene::new();
    let (boss, worker) = (scene.agent("boss"), scene.agent("worker"));
    let id = boss.create("task", &[]);
    worker.claim_next();
    worker.complete(id).unwrap();
    scene.pass(60);
    let (_, now) = boss.service.attention(None, &boss.client).unwrap();
    drop(boss);
    scene.pass(1);
    assert_eq!(scene.agent("boss").attention(Some(now)), []);
}

#[test]
fn what_was_never_told_is_never_hidden() {
    let scene = Scene::new();
    let (boss, worker) = (scene.agent("boss"), scene.agent("worker"));
    for number in 0..60 {
        let id = boss.create(&format!("{number} {}", "x".repeat(150)), &[]);
        worker.claim_next();
        worker.complete(id).unwrap();
    }
    scene.pass(60);
    let mut told = Vec::new();
    let mut since = None;
    loop {
        let (attention, now) = boss.service.attention(since, &boss.client).unwrap();
        if attention.is_empty() {
            break;
        }
        told.extend(attention.iter().map(|it| it.task.id.number()));
        since = Some(now);
        scene.pass(30);
    }
    assert_eq!(
        told,
        (1..=60).collect::<Vec<_>>(),
        "a page that was cut hides nothing"
    );
}

#[test]
fn handing_in_reads_no_message() {
    let scene = Scene::new();
    let (boss, worker) = (scene.agent("boss"), scene.agent("worker"));
    let id = boss.create("task", &[]);
    worker.claim_next();
    scene.pass(1);
    boss.say(id, "wait, one more thing");
    scene.pass(1);
    worker.complete(id).unwrap();
    assert_eq!(
        worker.attention(None),
        [(1, Why::Message)],
        "complete_task shows no messages"
    );
    assert_eq!(
        worker.attention(None),
        [],
        "it has been told of it since, and has acted"
    );
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
fn a_holder_that_dies_again_is_told_again_also_to_whoever_hides_what_is_older() {
    let scene = Scene::new();
    let (boss, worker) = (scene.agent("boss"), scene.agent("worker"));
    boss.create("task", &[]);
    worker.claim_next();
    drop(worker);
    let (attention, now) = boss.service.attention(None, &boss.client).unwrap();
    assert_eq!(attention[0].why, Why::HolderGone);
    assert_eq!(boss.attention(Some(now)), [], "told already");
    scene.pass(2);
    let worker = scene.agent("worker");
    assert_eq!(worker.claim_next().why, Some("resumed"));
    assert_eq!(boss.attention(Some(now)), [], "it is back");
    scene.pass(2);
    let (_, now) = boss.service.attention(None, &boss.client).unwrap();
    drop(worker);
    scene.pass(1);
    assert_eq!(boss.attention(Some(now)), [(1, Why::HolderGone)]);
    // Nobody looked while it was back.
    let (_, now) = boss.service.attention(None, &boss.client).unwrap();
    scene.pass(2);
    let worker = scene.agent("worker");
    worker.claim_next();
    drop(worker);
    assert_eq!(boss.attention(Some(now)), [(1, Why::HolderGone)]);
}

#[test]
fn a_name_that_two_calls_ask_for_at_once_is_this_process_s_for_both() {
    let scene = Scene::new();
    let boss = scene.agent("boss");
    for number in 0..20 {
        std::thread::scope(|scope| {
            let calls: Vec<_> = (0..4)
                .map(|_| {
                    let name = RequestedName::try_from(format!("sub{number}")).unwrap();
                    scope.spawn(|| boss.service.acting(Some(name), &boss.client).unwrap())
                })
                .collect();
            for call in calls {
                assert_eq!(call.join().unwrap().as_str(), format!("sub{number}"));
            }
        });
    }
}

#[tokio::test]
async fn an_idle_process_keeps_its_name_though_its_card_is_removed() {
    let scene = Scene::new();
    let (boss, worker) = (scene.agent("boss"), scene.agent("worker"));
    let id = boss.create("task", &[]);
    worker.claim_next();
    std::fs::remove_dir_all(scene.directory.path().join("coordination/agents")).unwrap();
    assert!(
        boss.summary(id).holder_gone,
        "nothing shows that it is there"
    );
    let keeping = tokio::spawn(worker.service.clone().keep_names());
    while boss.summary(id).holder_gone {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    keeping.abort();
}
