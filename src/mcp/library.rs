//! What a server offers besides its tools: things to read, and prompts.
//!
//! Responsibility: the protocol's side of both. What there is to read or say is for a [`Library`] to know.
//!
//! Changes are told to whoever has subscribed, by `resources/subscribe` or, since 2026-07-28, by
//! `subscriptions/listen`: one look at each subscribed resource when something has changed, however often, and a
//! notification where it differs from the look before.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::future::BoxFuture;
use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{
        GetPromptResult, JsonObject, Prompt, Resource, ResourceTemplate,
        ResourceUpdatedNotificationParam, SubscriptionFilter,
    },
    service::SubscriptionContext,
};
use serde_json::Value;
use tokio::{sync::watch::Receiver, time::sleep};

use super::caller::Shutdown;

/// Changes that come within this time of each other are looked at together.
const TOGETHER: Duration = Duration::from_millis(5);

/// Changes all the time though nothing has happened.
const NO_CHANGE: &str = "idleSeconds";

/// A page of resources, and the cursor of the next one.
pub(crate) struct Shelf {
    /// The resources.
    pub(crate) resources: Vec<Resource>,
    /// Where the next page begins, if there is one.
    pub(crate) next_cursor: Option<String>,
}

/// What there is to read, and to say.
pub(crate) trait Library: Send + Sync {
    /// A page of what can be read now.
    fn resources(&self, cursor: Option<String>) -> BoxFuture<'_, Result<Shelf, ErrorData>>;

    /// How the names of resources are made.
    fn templates(&self) -> Vec<ResourceTemplate>;

    /// Reads a resource.
    fn read(&self, uri: String) -> BoxFuture<'_, Result<Value, ErrorData>>;

    /// Whether there may be a resource of this name, now or later.
    fn knows(&self, uri: &str) -> bool;

    /// A count that grows with every change.
    fn changes(&self) -> Receiver<u64>;

    /// The prompts.
    fn prompts(&self) -> Vec<Prompt>;

    /// A prompt with these arguments.
    fn prompt(&self, name: &str, arguments: &JsonObject) -> Result<GetPromptResult, ErrorData>;
}

/// What a resource looked like: a hash of its content, or that it could not be read.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Look(Option<u64>);

impl Look {
    async fn at(library: &dyn Library, uri: &str) -> Self {
        let Ok(mut content) = library.read(uri.to_owned()).await else {
            return Self(None);
        };
        forget(&mut content);
        let mut hasher = DefaultHasher::new();
        content.to_string().hash(&mut hasher);
        Self(Some(hasher.finish()))
    }
}

fn forget(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove(NO_CHANGE);
            fields.values_mut().for_each(forget);
        }
        Value::Array(items) => items.iter_mut().for_each(forget),
        _ => {}
    }
}

/// The resources that a client of the revisions before 2026-07-28 has subscribed to.
#[derive(Default)]
pub(super) struct Subscriptions {
    looks: Mutex<Option<HashMap<String, Look>>>,
}

impl Subscriptions {
    /// Tells `peer` of changes of a resource from now on.
    pub(super) async fn add(
        self: Arc<Self>,
        library: Arc<dyn Library>,
        peer: Peer<RoleServer>,
        uri: String,
    ) {
        // First: what changes after the look has to be seen.
        let changes = library.changes();
        let look = Look::at(library.as_ref(), &uri).await;
        let is_first = {
            let mut looks = self.looks();
            let is_first = looks.is_none();
            // An earlier look may not have been compared yet, and what has changed since not been told.
            let looks = looks.get_or_insert_default();
            looks.entry(uri.clone()).or_insert(look);
            is_first
        };
        if is_first {
            tokio::spawn(self.tell(library, peer, changes));
        } else {
            // The teller may have looked at the others in between.
            self.review(library.as_ref(), &peer, vec![uri]).await;
        }
    }

    /// Ends that.
    pub(super) fn remove(&self, uri: &str) {
        if let Some(looks) = self.looks().as_mut() {
            looks.remove(uri);
        }
    }

    /// Tells of changes until nobody is there to be told.
    async fn tell(
        self: Arc<Self>,
        library: Arc<dyn Library>,
        peer: Peer<RoleServer>,
        mut changes: Receiver<u64>,
    ) {
        while changes.changed().await.is_ok() {
            sleep(TOGETHER).await;
            changes.mark_unchanged();
            let uris = self
                .looks()
                .iter()
                .flatten()
                .map(|(uri, _)| uri.clone())
                .collect();
            if !self.review(library.as_ref(), &peer, uris).await {
                return;
            }
        }
    }

    /// Looks again. `false`: nobody is there to be told.
    async fn review(
        &self,
        library: &dyn Library,
        peer: &Peer<RoleServer>,
        uris: Vec<String>,
    ) -> bool {
        for uri in uris {
            let now = Look::at(library, &uri).await;
            let differs = {
                let mut looks = self.looks();
                let look = looks.as_mut().and_then(|it| it.get_mut(&uri));
                look.is_some_and(|look| std::mem::replace(look, now) != now)
            };
            if !differs {
                continue;
            }
            let told = ResourceUpdatedNotificationParam::new(uri);
            if let Err(error) = peer.notify_resource_updated(told).await {
                tracing::debug!(%error, "a change could not be told");
                return false;
            }
        }
        true
    }

    fn looks(&self) -> MutexGuard<'_, Option<HashMap<String, Look>>> {
        self.looks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part of what is asked for that can be told: changes of resources there may be.
pub(super) fn accepted(
    library: &dyn Library,
    requested: &SubscriptionFilter,
) -> SubscriptionFilter {
    let mut accepted = SubscriptionFilter::new();
    let uris = requested.resource_subscriptions.iter().flatten();
    let known: Vec<_> = uris.filter(|it| library.knows(it)).cloned().collect();
    accepted.resource_subscriptions = Some(known).filter(|it| !it.is_empty());
    accepted
}

/// Tells of changes until the request is cancelled or the conversation ends.
///
/// The acknowledgment has gone out before the first look: what has changed in between would never be told. So each
/// resource is told of once at the beginning.
pub(super) async fn listen(library: &dyn Library, context: &SubscriptionContext) {
    let shutdown = context.request_context().extensions.get::<Shutdown>();
    let shutdown = shutdown.cloned().unwrap_or_default();
    let mut changes = library.changes();
    let uris = context.accepted().resource_subscriptions.iter().flatten();
    let mut looks: HashMap<String, Option<Look>> = uris.map(|it| (it.clone(), None)).collect();
    let tell = async {
        loop {
            for (uri, look) in &mut looks {
                let now = Look::at(library, uri).await;
                if look.replace(now) == Some(now) {
                    continue;
                }
                if let Err(error) = context.sink().notify_resource_updated(uri.clone()).await {
                    tracing::debug!(%error, "a change could not be told");
                    return;
                }
            }
            if changes.changed().await.is_err() {
                return;
            }
            sleep(TOGETHER).await;
            changes.mark_unchanged();
        }
    };
    tokio::select! {
        () = context.cancelled() => {}
        () = shutdown.cancelled() => {}
        () = tell => {}
    }
}
