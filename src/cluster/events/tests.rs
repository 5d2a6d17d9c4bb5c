//! Events as an API server receives them, against one that stores its requests.

use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::*;
use crate::cluster::tests::FaultyClock;
use olmguard_engine::judge::Token;
use olmguard_fixtures::moved::Moved;
use olmguard_server::telemetry::{EditedObject, Metrics};
use olmguard_server::tls::SystemClock;
use olmguard_support::api::{ApiServer, Trouble};

const EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/default/events";

fn event(uid: &str, note: &str) -> EditEvent {
    EditEvent {
        object: EditedObject {
            api_version: "olm.operatorframework.io/v1".to_owned(),
            kind: "ClusterExtension".to_owned(),
            name: "lantern".to_owned(),
            uid: uid.to_owned(),
        },
        reason: Token::NotASuccessor,
        note: note.to_owned(),
    }
}

/// Writes these Events until all are processed.
async fn written(api: &ApiServer, events: impl IntoIterator<Item = EditEvent>) -> Metrics {
    let metrics = Metrics::new();
    write_counted(api, events, &metrics).await;
    metrics
}

async fn write_counted(
    api: &ApiServer,
    events: impl IntoIterator<Item = EditEvent>,
    metrics: &Metrics,
) {
    let (sender, queue) = mpsc::channel(1);
    let clock = Arc::new(SystemClock);
    let writing = write(api.client(), clock, Arc::clone(&metrics.events), queue);
    let sending = async move {
        for event in events {
            sender.send(event).await.expect("it is read");
        }
    };
    tokio::join!(writing, sending);
}

fn posted(api: &ApiServer) -> Vec<Value> {
    let asked = api.asked().into_iter();
    let posts = asked.filter(|one| one.method == "POST" && one.path == EVENTS);
    posts
        .map(|one| serde_json::from_slice(&one.body).expect("JSON"))
        .collect()
}

fn server() -> ApiServer {
    let api = ApiServer::start();
    api.serve("events.k8s.io/v1", "events", "Event");
    api
}

#[tokio::test]
async fn an_event_has_what_lists_of_events_go_by() {
    let api = server();
    let metrics = written(&api, [event("u1", "1.3.0 is not a successor")]).await;
    let posted = posted(&api);
    let [one] = posted.as_slice() else {
        panic!("{posted:?}")
    };
    let name = one["metadata"]["name"].as_str().expect("a name");
    assert!(name.starts_with("lantern."), "{name}");
    assert_eq!(one["metadata"]["namespace"], "default");
    assert_eq!(one["regarding"]["uid"], "u1");
    assert_eq!(one["regarding"]["kind"], "ClusterExtension");
    assert_eq!(one["reason"], "NotASuccessor");
    assert_eq!(one["note"], "1.3.0 is not a successor");
    assert_eq!(
        (&one["type"], &one["action"]),
        (&"Warning".into(), &"Admission".into())
    );
    assert_eq!(one["reportingController"], "olmguard.dev/webhook");
    assert!(one["eventTime"].is_string() && one["reportingInstance"].is_string());
    assert_eq!(metrics.events.counted(EventFate::Written), 1);
}

#[tokio::test]
async fn what_repeats_is_counted_in_one_event() {
    let api = server();
    let same = (0..5).map(|_| event("u1", "no"));
    let metrics = written(&api, same.chain([event("u2", "no"), event("u1", "other")])).await;
    assert_eq!(posted(&api).len(), 3);
    assert_eq!(metrics.events.counted(EventFate::Repeated), 4);
}

#[test]
fn the_count_of_a_series_is_written_after_a_while() {
    let (mut known, begin) = (KnownSeries::default(), Instant::now());
    let event = event("u1", "no");
    assert_eq!(known.repeat(&event, begin), None);
    known.begin(&event, "lantern.1".to_owned(), begin);
    assert_eq!(known.repeat(&event, begin), Some(Repeat::Counted));
    let due = Repeat::Due {
        name: "lantern.1".to_owned(),
        count: 3,
    };
    assert_eq!(known.repeat(&event, begin + WRITTEN_EVERY), Some(due));
    known.wrote(&key(&event), begin + WRITTEN_EVERY);
    assert_eq!(
        known.repeat(&event, begin + WRITTEN_EVERY),
        Some(Repeat::Counted)
    );
    known.forget(&key(&event));
    assert_eq!(known.repeat(&event, begin), None);
}

/// Three refusals and no more: after a while, their Event has the count.
#[tokio::test(start_paused = true)]
async fn the_count_of_a_series_that_ends_is_written() {
    let (api, metrics) = (server(), Metrics::new());
    let (sender, queue) = mpsc::channel(3);
    let clock = Arc::new(SystemClock);
    let writing = write(api.client(), clock, Arc::clone(&metrics.events), queue);
    let sending = async {
        for _ in 0..3 {
            sender.send(event("u1", "no")).await.expect("it is read");
        }
        tokio::time::sleep(WRITTEN_EVERY * 3).await;
        drop(sender);
    };
    tokio::join!(writing, sending);
    let asked = api.asked().into_iter();
    let patches = asked.filter(|one| one.method == "PATCH");
    let counts = patches.map(|one| {
        let patch: Value = serde_json::from_slice(&one.body).expect("JSON");
        patch["series"]["count"].clone()
    });
    assert_eq!(counts.collect::<Vec<_>>(), [3]);
}

/// An API server deletes Events after an hour.
#[tokio::test(start_paused = true)]
async fn a_repeated_event_that_is_gone_is_created_again() {
    let (api, metrics) = (server(), Metrics::new());
    let (sender, queue) = mpsc::channel(1);
    let clock = Arc::new(SystemClock);
    let writing = write(api.client(), clock, Arc::clone(&metrics.events), queue);
    let sending = async {
        sender.send(event("u1", "no")).await.expect("it is read");
        tokio::time::sleep(WRITTEN_EVERY * 10).await;
        for one in posted(&api) {
            api.delete(EVENTS, one["metadata"]["name"].as_str().expect("a name"));
        }
        sender.send(event("u1", "no")).await.expect("it is read");
        drop(sender);
    };
    tokio::join!(writing, sending);
    assert_eq!(posted(&api).len(), 2);
    assert_eq!(metrics.events.counted(EventFate::Failed), 0);
}

#[test]
fn of_many_series_the_oldest_is_forgotten() {
    let (mut known, now) = (KnownSeries::default(), Instant::now());
    for number in 0..=KNOWN {
        known.begin(&event(&number.to_string(), "no"), String::new(), now);
    }
    assert_eq!(known.repeat(&event("0", "no"), now), None);
    assert_eq!(known.repeat(&event("1", "no"), now), Some(Repeat::Counted));
}

#[test]
fn writes_are_bounded_and_earned_again() {
    let begin = Instant::now();
    let mut budget = WriteBudget::full(begin);
    let spent = (0..AT_ONCE * 2).filter(|_| budget.spend(begin)).count();
    assert_eq!(spent, AT_ONCE as usize);
    let later = begin + Duration::from_millis(1_400);
    let spent = (0..AT_ONCE).filter(|_| budget.spend(later)).count();
    assert_eq!(spent, 2);
    let spent = (0..AT_ONCE)
        .filter(|_| budget.spend(begin + Duration::from_millis(1_500)))
        .count();
    assert_eq!(spent, 1, "what was earned in part is kept");
}

#[tokio::test]
async fn too_many_are_dropped() {
    let api = server();
    let many = (0..AT_ONCE + 20).map(|number| event(&number.to_string(), "no"));
    let metrics = written(&api, many).await;
    let dropped = metrics.events.counted(EventFate::Dropped);
    let made = metrics.events.counted(EventFate::Written);
    assert_eq!(dropped + made, u64::from(AT_ONCE + 20));
    assert!(
        made >= u64::from(AT_ONCE) && dropped > 0,
        "{made} {dropped}"
    );
}

#[tokio::test]
async fn every_fate_is_counted() {
    let (api, metrics, mut moved) = (server(), Metrics::new(), Moved::default());
    moved.look(&metrics.render());
    let many = (0..AT_ONCE + 20).map(|number| event(&number.to_string(), "no"));
    write_counted(&api, many.chain([event("0", "no")]), &metrics).await;
    api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |_| true);
    write_counted(&api, [event("u1", "no")], &metrics).await;
    moved.look(&metrics.render());
    let rows = include_str!("../../../tests/server/telemetry/moved/events.txt");
    assert_eq!(moved.still(rows), [""; 0]);
}

#[tokio::test]
async fn an_event_that_is_not_taken_is_tried_anew_when_it_repeats() {
    let api = server();
    api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |_| true);
    let metrics = written(&api, [event("u1", "no"), event("u1", "no")]).await;
    assert_eq!(metrics.events.counted(EventFate::Failed), 2);
    assert_eq!(metrics.events.counted(EventFate::Repeated), 0);
}

#[tokio::test(start_paused = true)]
async fn after_a_panic_the_next_events_are_written() {
    let (api, metrics) = (server(), Metrics::new());
    let (sender, queue) = mpsc::channel(1);
    let clock = Arc::new(FaultyClock::default());
    let writing = write(api.client(), clock, Arc::clone(&metrics.events), queue);
    let sending = async move {
        for note in ["lost", "no", "not again"] {
            sender.send(event("u1", note)).await.expect("it is read");
        }
    };
    tokio::join!(writing, sending);
    assert_eq!(posted(&api).len(), 2);
}
