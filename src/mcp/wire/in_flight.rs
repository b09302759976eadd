//! The requests that have been read and not yet answered or cancelled.
//!
//! Clients choose their ids, and some choose the same one twice. Every request is therefore known
//! to the layers above under a number given out here, and its answer is sent under the client's own
//! id, letter for letter.

use std::collections::HashMap;

use rmcp::model::{ProgressToken, RequestId};
use serde::Serialize;
use serde_json::Value;

/// A request's id as its client wrote it: a string or a number, of whatever size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(super) struct Id(Value);

impl Id {
    /// `None` for what the protocol does not allow as an id.
    pub(super) fn parse(value: Value) -> Option<Self> {
        matches!(value, Value::String(_) | Value::Number(_)).then_some(Self(value))
    }

    pub(super) fn as_value(&self) -> &Value {
        &self.0
    }
}

/// The requests in flight.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    last: i64,
    requests: HashMap<RequestId, Request>,
}

#[derive(Debug)]
struct Request {
    id: Id,
    progress_token: Option<ProgressToken>,
}

impl InFlight {
    /// The number under which the request is known from now on.
    pub(super) fn admit(&mut self, id: Id, progress_token: Option<ProgressToken>) -> RequestId {
        self.last += 1;
        let internal = RequestId::Number(self.last);
        self.requests
            .insert(internal.clone(), Request { id, progress_token });
        internal
    }

    /// Ends a request. The id to answer under, unless it has ended before.
    pub(super) fn finish(&mut self, internal: &RequestId) -> Option<Id> {
        self.requests.remove(internal).map(|request| request.id)
    }

    /// The client's own id of a request in flight.
    pub(super) fn id(&self, internal: &RequestId) -> Option<&Id> {
        self.requests.get(internal).map(|request| &request.id)
    }

    /// Ends all requests of this id: which of several was meant cannot be known. Often there is
    /// none, as some clients cancel every request once it has been answered.
    pub(super) fn cancel(&mut self, id: &Id) -> Vec<RequestId> {
        self.requests
            .extract_if(|_, request| request.id == *id)
            .map(|(internal, _)| internal)
            .collect()
    }

    /// Whether a request in flight asked for progress under this token.
    pub(super) fn wants_progress(&self, token: &ProgressToken) -> bool {
        self.requests
            .values()
            .any(|request| request.progress_token.as_ref() == Some(token))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id(value: Value) -> Id {
        Id::parse(value).expect("a legal id")
    }

    #[test]
    fn one_id_in_flight_twice_is_two_requests() {
        let mut in_flight = InFlight::default();
        let first = in_flight.admit(id(json!("a")), None);
        let second = in_flight.admit(id(json!("a")), None);
        assert_ne!(first, second);
        assert_eq!(in_flight.finish(&second), Some(id(json!("a"))));
        assert_eq!(in_flight.finish(&first), Some(id(json!("a"))));
        assert_eq!(in_flight.finish(&first), None, "a request ends once");
        assert!(in_flight.is_empty());
    }

    #[test]
    fn a_number_and_its_text_are_different_ids() {
        let mut in_flight = InFlight::default();
        let number = in_flight.admit(id(json!(1)), None);
        in_flight.admit(id(json!("1")), None);
        assert_eq!(
            in_flight.cancel(&id(json!(1))),
            std::slice::from_ref(&number)
        );
        assert_eq!(
            in_flight.finish(&number),
            None,
            "what was cancelled is not answered"
        );
        assert!(!in_flight.is_empty());
    }

    #[test]
    fn cancelling_an_unknown_id_touches_nothing() {
        let mut in_flight = InFlight::default();
        let request = in_flight.admit(id(json!(1)), None);
        assert!(in_flight.cancel(&id(json!(2))).is_empty());
        assert!(in_flight.finish(&request).is_some());
    }

    #[test]
    fn progress_is_wanted_while_the_request_is_in_flight() {
        let mut in_flight = InFlight::default();
        let token = ProgressToken(RequestId::String("t".into()));
        let request = in_flight.admit(id(json!(1)), Some(token.clone()));
        assert!(in_flight.wants_progress(&token));
        in_flight.finish(&request);
        assert!(!in_flight.wants_progress(&token));
    }

    #[test]
    fn only_strings_and_numbers_are_ids() {
        for legal in [
            json!(""),
            json!("x"),
            json!(-1),
            json!(u64::MAX),
            json!(i64::MIN),
            json!(1.5),
        ] {
            assert!(Id::parse(legal.clone()).is_some(), "{legal}");
        }
        for illegal in [json!(null), json!(true), json!([1]), json!({"a": 1})] {
            assert!(Id::parse(illegal.clone()).is_none(), "{illegal}");
        }
    }
}
