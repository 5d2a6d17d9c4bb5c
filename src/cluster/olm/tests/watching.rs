//! A watch while OLM is upgraded, missing, or not to be asked.

use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::{Duration, Instant, timeout};

use super::*;
use crate::cluster::line::{PACE, SECONDS};
use olmguard_support::api::Asked;

struct Told(Receiver<OlmEvent>);

impl Told {
    fn by(api: &ApiServer) -> Self {
        let (events, told) = channel(1);
        tokio::spawn(watch(api.client(), None, events));
        Self(told)
    }

    async fn event(&mut self) -> String {
        let event = timeout(Duration::from_hours(1), self.0.recv()).await;
        let event = event.expect("told within an hour");
        match event.expect("the watch goes on") {
            OlmEvent::Found(found) => format!("found {}", found.release),
            OlmEvent::NotFound(error) => error.to_string(),
            OlmEvent::Alive => "alive".to_owned(),
            OlmEvent::Lost(fault) => format!("lost {}", fault.class.as_str()),
        }
    }

    /// The next answer.
    async fn answer(&mut self) -> String {
        let begun = Instant::now();
        loop {
            let event = self.event().await;
            assert!(
                begun.elapsed() < Duration::from_hours(1),
                "no answer in an hour"
            );
            if event != "alive" && !event.starts_with("lost") {
                return event;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_upgrade_of_olm_is_noticed() {
    let api = cluster();
    api.put(UPSTREAM, deployment("op:v1.8.0", 1));
    let mut told = Told::by(&api);
    assert_eq!(told.answer().await, "found 1.8");
    // Pods come and go: nothing that matters has changed.
    api.put(UPSTREAM, deployment("op:v1.8.0", 1));
    api.put(UPSTREAM, deployment("op:v1.8.0", 2));
    api.put(UPSTREAM, deployment("op:v1.11.0", 3));
    assert_eq!(told.answer().await, "found 1.11");
}

#[tokio::test(start_paused = true)]
async fn what_is_missing_or_forbidden_is_waited_for() {
    let api = cluster();
    let mut told = Told::by(&api);
    let nowhere = "no operator-controller";
    assert!(told.answer().await.starts_with(nowhere));
    api.put(UPSTREAM, deployment("op:v1.8.0", 1));
    assert_eq!(told.answer().await, "found 1.8");
    api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |_| true);
    api.break_watches();
    let forbidden = "the API server answers 403";
    assert!(told.answer().await.contains(forbidden));
    api.heal();
    assert_eq!(told.answer().await, "found 1.8");
    api.delete(UPSTREAM, DEPLOYMENT);
    assert!(told.answer().await.starts_with(nowhere));
}

#[tokio::test(start_paused = true)]
async fn each_contact_and_each_failed_try_is_told() {
    let api = cluster();
    api.put(UPSTREAM, deployment("op:v1.8.0", 1));
    let mut told = Told::by(&api);
    assert_eq!(told.event().await, "found 1.8");
    // The look, then the beginning of the watch.
    assert_eq!(told.event().await, "alive");
    assert_eq!(told.event().await, "alive");
    api.bookmark();
    assert_eq!(told.event().await, "alive");
    api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |_| true);
    api.break_watches();
    assert_eq!(told.event().await, "lost unreachable");
    assert!(told.event().await.starts_with("cannot read Deployment"));
    for _ in 0..5 {
        assert_eq!(told.event().await, "lost forbidden");
    }
    api.heal();
    assert_eq!(told.answer().await, "found 1.8");
}

#[tokio::test(start_paused = true)]
async fn a_cluster_without_olm_is_heard_each_time() {
    let mut told = Told::by(&cluster());
    assert!(told.event().await.starts_with("no operator-controller"));
    for _ in 0..5 {
        assert_eq!(told.event().await, "alive");
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_before_its_silence_would_be_the_end_of_the_connection() {
    let api = cluster();
    api.put(UPSTREAM, deployment("op:v1.8.0", 1));
    let mut told = Told::by(&api);
    while !api.asked().iter().any(Asked::is_watch) {
        told.event().await;
    }
    let asked = api.asked();
    let watch = asked.iter().find(|asked| asked.is_watch()).unwrap();
    let seconds = SECONDS.to_string();
    assert_eq!(watch.param("timeoutSeconds"), Some(seconds.as_str()));
}

#[tokio::test(start_paused = true)]
async fn a_version_of_openshift_that_cannot_be_read_is_asked_for_again() {
    let api = openshift_cluster();
    api.trouble(Trouble::Status(StatusCode::SERVICE_UNAVAILABLE), |asked| {
        asked.path.starts_with(VERSIONS)
    });
    let mut told = Told::by(&api);
    assert_eq!(told.answer().await, "found 1.11");
    api.heal();
    let since = Instant::now();
    assert_eq!(told.answer().await, "found 1.7");
    assert!(
        since.elapsed() < Duration::from_secs(5),
        "{:?}",
        since.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_change_is_noticed_while_the_version_of_openshift_is_missing() {
    let api = openshift_cluster();
    api.trouble(Trouble::Status(StatusCode::SERVICE_UNAVAILABLE), |asked| {
        asked.path.starts_with(VERSIONS)
    });
    let mut told = Told::by(&api);
    assert_eq!(told.answer().await, "found 1.11");
    // Until the pauses are long.
    tokio::time::sleep(Duration::from_mins(5)).await;
    while api.watches() == 0 {
        told.event().await;
    }
    let since = Instant::now();
    api.put(OPENSHIFT, deployment("op:v1.8.0", 2));
    assert_eq!(told.answer().await, "found 1.8");
    assert!(since.elapsed() <= 2 * PACE, "{:?}", since.elapsed());
}
