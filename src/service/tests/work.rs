//! Getting work, moving it along, and what is said to those who may not.

use super::*;

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

#[test]
fn a_thread_that_cannot_be_read_does_not_make_a_claim_look_refused() {
    let scene = Scene::new();
    let (boss, worker) = (scene.agent("boss"), scene.agent("worker"));
    let id = boss.create("task", &[]);
    boss.say(id, "hello");
    let thread = scene
        .directory
        .path()
        .join("coordination/messages/task-0001.json");
    std::fs::write(thread, "not a thread").unwrap();
    assert_eq!(worker.claim_next().task.unwrap().id, id);
    worker.report(id, None).unwrap();
    assert_eq!(
        worker.service.messages(id, None, 9).unwrap_err().code(),
        Code::Corrupt
    );
}

#[test]
fn an_assistant_reviews_what_its_subagents_hand_in_and_not_its_own_work() {
    let scene = Scene::new();
    let boss = scene.agent("boss");
    let claim_as = |name: &str| {
        let agent = Some(RequestedName::try_from(name.to_owned()).unwrap());
        boss.service
            .claim_next(&ClaimNext { tag: None, agent }, &boss.client)
            .unwrap()
    };
    let id = boss.create("for a subagent", &[]);
    claim_as("sub");
    boss.complete(id).unwrap();
    boss.send_back(id).unwrap();
    assert_eq!(claim_as("sub").why, Some("revision"));
    boss.complete(id).unwrap();
    boss.approve(id).unwrap();
    let task = boss.service.task(id).unwrap();
    assert_eq!(task.assignee().unwrap().as_str(), "sub");
    assert_eq!(task.last_change().actor.as_str(), "boss@project");
    assert!(!task.last_change().self_approved);

    let other = scene.agent("other");
    let theirs = other.create("somebody else's", &[]);
    claim_as("sub");
    boss.complete(theirs).unwrap();
    assert_eq!(boss.approve(theirs).unwrap_err().code(), Code::NotReviewer);
    other.approve(theirs).unwrap();
}

#[test]
fn whoever_works_alone_is_told_what_is_left_to_do() {
    let scene = Scene::new();
    let loner = scene.agent("loner");
    let id = loner.create("task", &[]);
    loner.claim_next();
    let nothing = loner.claim_next();
    assert!(nothing.task.is_none());
    assert!(nothing.next.unwrap().contains("finish task-0001 first"));
    assert!(
        loner
            .complete(id)
            .unwrap()
            .next
            .unwrap()
            .contains("approve_task")
    );
    let refused = loner.send_back(id).unwrap_err();
    assert_eq!(refused.code(), Code::NotReviewer);
    assert!(
        refused.text().contains("accept it with approve_task"),
        "{refused}"
    );
    loner.approve(id).unwrap();
}

#[test]
fn a_long_message_takes_no_more_room_than_others() {
    let scene = Scene::new();
    let (boss, worker) = (scene.agent("boss"), scene.agent("worker"));
    let id = boss.create("task", &[]);
    boss.say(id, &"\u{1}🦀".repeat(2_000));
    let claim = worker.claim_next();
    assert!(
        page::size_of(&claim.messages) < 2_100,
        "{}",
        page::size_of(&claim.messages)
    );
    assert!(
        claim.messages[0]
            .content
            .as_str()
            .ends_with("get_messages has it whole)")
    );
    assert_eq!(
        worker.service.messages(id, None, 9).unwrap().messages[0]
            .content
            .as_str()
            .chars()
            .count(),
        4_000
    );
}
