//! Observability: the metrics of the program, its log, and its Events.
//!
//! ```text
//! server, tls, cluster, cli --> metrics --> registry --render--> GET /metrics
//!                         '---> log --> a queue --> stderr, one line per event
//!         '---> EditEvents --> a queue --> cluster, one Event about an extension
//! ```
//!
//! Mirrors the rules of Prometheus for names, units and the text format, as `promtool check metrics` enforces them.
//!
//! Invariants: all label values are from closed sets, so the number of series does not depend on the requests; no
//! object, package, version or user is ever a label.

pub mod log;
pub mod metrics;

pub use metrics::Metrics;

use std::borrow::Borrow;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::mpsc::{Receiver, Sender, channel};

use metrics::{EventFate, EventMetrics, FaultClass};
use olmguard_admission::{Reply, Review};
use olmguard_engine::judge::Token;

// === Authorization to read the metrics, if they are restricted: the question, and the possible answers ===

/// Decides who can read the metrics.
pub trait Authorizer: fmt::Debug + Send + Sync + 'static {
    /// Whether the bearer of this token can read the metrics. Returns in bounded time, whatever the token is.
    fn authorize<'a>(&'a self, token: &'a str) -> Authorizing<'a>;
}

/// The answer of an [`Authorizer`], which may need a request to the cluster.
pub type Authorizing<'a> = Pin<Box<dyn Future<Output = Result<(), ScrapeDenied>> + Send + 'a>>;

/// The reason why a request gets no metrics. Its text is for the client, and never contains the token.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ScrapeDenied {
    /// The token is missing, or the cluster does not know it.
    #[error(
        "unauthorized: expected the header \"Authorization: Bearer TOKEN\" with a valid token of this cluster"
    )]
    Unauthenticated,
    /// The user is known but not authorized.
    #[error("forbidden: user {user:?} cannot get the nonResourceURL /metrics")]
    Forbidden {
        /// The name of the user in the cluster.
        user: String,
    },
    /// The cluster did not answer.
    #[error(
        "cannot check the token: no answer from the API server ({}); the log of olmguard has the details",
        class.as_str()
    )]
    Unavailable {
        /// The kind of fault.
        class: FaultClass,
    },
}

// === The Event about an answer, on the extension, for users who do not see warnings ===
//
// Answers put their Events into a queue without waiting. If the queue is full, the Event is lost and counted.

/// An Event about one extension.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EditEvent {
    /// The extension.
    pub object: EditedObject,
    /// The reason why the edit was denied, or allowed with a warning.
    pub reason: Token,
    /// The message in the reply to the API server, at most 1,024 bytes.
    pub note: String,
}

/// The object that an Event is about. Clients that list the Events of an object compare all fields.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct EditedObject {
    /// `apiVersion`.
    pub api_version: String,
    /// `kind`.
    pub kind: String,
    /// `metadata.name`.
    pub name: String,
    /// `metadata.uid`.
    pub uid: String,
}

/// The sending end of the Event queue. By default there is no queue, and Events are discarded.
#[derive(Clone, Debug, Default)]
pub struct EditEvents(Option<Queue>);

#[derive(Clone, Debug)]
struct Queue {
    sender: Sender<EditEvent>,
    metrics: Arc<EventMetrics>,
}

impl EditEvents {
    /// Creates a queue of at most 256 Events, and its receiving end.
    pub fn queue(metrics: Arc<EventMetrics>) -> (Self, Receiver<EditEvent>) {
        let (sender, receiver) = channel(QUEUE_LIMIT);
        (Self(Some(Queue { sender, metrics })), receiver)
    }

    /// Reports an edit that is denied, or allowed with warnings, if the object exists in the cluster. A dry run has no
    /// side effects, so it is not reported.
    pub(crate) fn report(&self, review: &Review, token: Token, reply: &Reply<'_>) {
        let Some(queue) = self.0.as_ref().filter(|_| !review.is_dry_run()) else {
            return;
        };
        let event = EditedObject::of(review).zip(reply.note(NOTE_LIMIT));
        let event = event.map(|(object, note)| EditEvent {
            object,
            reason: token,
            note,
        });
        if event.is_some_and(|event| queue.sender.try_send(event).is_err()) {
            queue.metrics.count(EventFate::Dropped);
        }
    }
}

impl EditedObject {
    /// Returns the object of a review; none if it has no name or no uid, because a denied creation leaves no object.
    fn of(review: &Review) -> Option<Self> {
        let identity = review.identity();
        Some(Self {
            api_version: identity.api_version(),
            kind: identity.kind.clone(),
            name: identity.name.clone()?,
            uid: review.object_uid()?.to_owned(),
        })
    }
}

/// The largest note of an Event that an API server accepts, in bytes.
const NOTE_LIMIT: usize = 1_024;

/// Some seconds of denials at the highest request rate of API servers.
const QUEUE_LIMIT: usize = 256;

// === A lasting fault or answer is reported once ===

/// The last reported value; none if there is nothing to report.
#[derive(Debug)]
pub struct OncePerChange<T = String>(Option<T>);

impl<T> Default for OncePerChange<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> OncePerChange<T> {
    /// Records the current value. Returns true if it differs from the last reported value.
    pub fn is_new<Q>(&mut self, now: &Q) -> bool
    where
        T: Borrow<Q>,
        Q: PartialEq + ToOwned<Owned = T> + ?Sized,
    {
        let is_new = self.0.as_ref().map(T::borrow) != Some(now);
        if is_new {
            self.0 = Some(now.to_owned());
        }
        is_new
    }

    /// Records that there is nothing to report any more. Returns true if there was.
    pub fn is_gone(&mut self) -> bool {
        self.0.take().is_some()
    }

    /// Returns the last reported value.
    pub fn last(&self) -> Option<&T> {
        self.0.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use olmguard_admission::{Enforcement, Mode, OnUndecided};
    use olmguard_catalog::olm::Rules;
    use olmguard_engine::judge::Basis;
    use olmguard_engine::snapshot::Snapshot;
    use olmguard_policy::Moment;

    const WARN: OnUndecided = OnUndecided::Warn;

    fn object(uid: Option<&str>) -> Value {
        json!({
            "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
            "metadata": {"name": "lantern", "uid": uid},
            "spec": {"namespace": "l", "serviceAccount": {"name": "l"}, "source": {
                "sourceType": "Catalog", "catalog": {"packageName": "lantern-operator", "version": "1.0.0"},
            }},
        })
    }

    fn review(object: &Value, dry_run: bool) -> Review {
        let review = json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {"uid": "r", "operation": "CREATE", "dryRun": dry_run, "object": object},
        });
        Review::read(&review, Moment::EPOCH).expect("a review")
    }

    /// Returns the Event of an edit for which no catalog is configured.
    fn reported(review: &Review, on_undecided: OnUndecided) -> Option<EditEvent> {
        let snapshot = Snapshot::new(Rules::default(), []);
        let answer = review.answer(Basis::without_policies(&snapshot));
        let mode = Mode::Enforce;
        let reply = review.reply(&answer, Enforcement { mode, on_undecided });
        let (events, mut queue) = EditEvents::queue(Metrics::new().events);
        events.report(review, answer.token, &reply);
        queue.try_recv().ok()
    }

    #[test]
    fn what_is_refused_is_reported_with_its_message() {
        let event = reported(&review(&object(Some("u1")), false), OnUndecided::Deny);
        let event = event.expect("an event");
        assert_eq!(event.reason, Token::NoCatalogs);
        assert_eq!((&*event.object.name, &*event.object.uid), ("lantern", "u1"));
        assert_eq!(event.object.api_version, "olm.operatorframework.io/v1");
        let lines: Vec<_> = event.note.lines().collect();
        assert!(
            lines.len() > 1 && event.note.len() <= NOTE_LIMIT,
            "{lines:?}"
        );
    }

    #[test]
    fn what_is_admitted_with_a_warning_is_reported_with_the_warning() {
        let event = reported(&review(&object(Some("u1")), false), WARN).expect("an event");
        assert!(event.note.contains("NoCatalogs"), "{}", event.note);
    }

    #[test]
    fn a_dry_run_and_what_has_no_uid_are_not_reported() {
        for (uid, dry_run) in [
            (Some("u1"), true),
            (None, false),
            (Some(""), false),
            (Some(&*"u".repeat(65)), false),
        ] {
            let review = review(&object(uid), dry_run);
            assert_eq!(reported(&review, WARN), None, "{uid:?}");
        }
    }

    #[test]
    fn what_is_not_judged_is_not_reported() {
        let mut other = object(Some("u1"));
        other["kind"] = json!("ConfigMap");
        assert_eq!(reported(&review(&other, false), WARN), None);
    }

    #[test]
    fn a_full_queue_counts_what_it_loses() {
        let review = review(&object(Some("u1")), false);
        let snapshot = Snapshot::new(Rules::default(), []);
        let answer = review.answer(Basis::without_policies(&snapshot));
        let reply = review.reply(&answer, Enforcement::default());
        let metrics = Metrics::new();
        let (events, _queue) = EditEvents::queue(Arc::clone(&metrics.events));
        for _ in 0..QUEUE_LIMIT + 3 {
            events.report(&review, answer.token, &reply);
        }
        assert_eq!(metrics.events.counted(EventFate::Dropped), 3);
    }

    #[test]
    fn what_lasts_is_new_once_and_gone_once() {
        let mut fault = OncePerChange::<String>::default();
        assert!(!fault.is_gone());
        let news = ["one", "one", "other"].map(|now| fault.is_new(now));
        assert_eq!(news, [true, false, true]);
        assert_eq!(fault.last().map(String::as_str), Some("other"));
        assert_eq!([fault.is_gone(), fault.is_gone()], [true, false]);
        assert!(fault.is_new("other"), "again");
    }
}
