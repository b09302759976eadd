//! Waiting.

use super::*;

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

#[tokio::test(start_paused = true)]
async fn whoever_waits_is_told_every_fifteen_seconds_until_the_ceiling() {
    let scene = Scene::new();
    let boss = scene.agent("opencode");
    let id = boss.create("task", &[]);
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    let tell: Tell = {
        let told = told.clone();
        Box::new(move |elapsed| {
            told.lock().unwrap().push(elapsed.as_secs());
            futures::future::ready(()).boxed()
        })
    };
    let asked = Some(40);
    let patience = Patience::new(
        boss.client.clone(),
        asked,
        futures::future::pending().boxed(),
        Some(tell),
    );
    let started = tokio::time::Instant::now();
    let wait = boss
        .service
        .clone()
        .wait_for_task(id, None, None, patience)
        .await
        .unwrap();
    assert!(wait.timed_out);
    assert_eq!(started.elapsed().as_secs(), 40);
    assert_eq!(*told.lock().unwrap(), [15, 30]);

    // Without a way to tell, this client gives up after a minute: a longer wait is cut.
    let started = tokio::time::Instant::now();
    let wait = boss
        .service
        .clone()
        .wait_for_task(id, None, None, boss.patience(3_600))
        .await
        .unwrap();
    assert!(wait.timed_out);
    assert_eq!(started.elapsed().as_secs(), 50);
}
