//! Two processes' services on one directory, with a clock that stands where a test puts it.

mod attention;
mod waits;
mod work;

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
