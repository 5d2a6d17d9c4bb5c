//! A watch of catalogs against a server with scripted faults, in virtual time.

use std::time::Duration;

use hyper::StatusCode;
use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::{Instant, timeout};

use super::*;
use crate::cluster::line::{ANSWER, PACE, SECONDS};
use crate::cluster::watch::{FIRST_RECHECK, RECHECK};
use olmguard_engine::snapshot::Labels;
use olmguard_support::api::{ApiServer, Asked, Trouble, error_line};

const V1: &str = "/apis/olm.operatorframework.io/v1/clustercatalogs";

const V1ALPHA1: &str = "/apis/olm.operatorframework.io/v1alpha1/clustercatalogs";

/// A cluster with the CRD of ClusterCatalog.
fn cluster() -> ApiServer {
    let api = ApiServer::start();
    serve(&api, "olm.operatorframework.io/v1");
    api
}

fn serve(api: &ApiServer, group_version: &str) {
    api.serve(group_version, "clustercatalogs", "ClusterCatalog");
}

fn catalog(name: &str) -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterCatalog",
        "metadata": {"name": name},
    })
}

/// The events of a watch.
struct Told {
    events: Receiver<WatchEvent<Result<ObservedCatalog, NamelessObject>>>,
    lost: Option<&'static str>,
}

impl Told {
    fn by(api: &ApiServer) -> Self {
        let (events, told) = channel(1);
        tokio::spawn(watch(api.client(), events));
        Self {
            events: told,
            lost: None,
        }
    }

    async fn event(&mut self) -> WatchEvent<Result<ObservedCatalog, NamelessObject>> {
        let event = timeout(Duration::from_hours(1), self.events.recv()).await;
        event
            .expect("told within an hour")
            .expect("the watch goes on")
    }

    /// Returns the next event, except signs of life and repeated faults of the same class.
    async fn next(&mut self) -> WatchEvent<Result<ObservedCatalog, NamelessObject>> {
        loop {
            let event = self.event().await;
            let lost = match &event {
                WatchEvent::Lost(fault) => Some(fault.class.as_str()),
                WatchEvent::Absent => Some("not_served"),
                _ => None,
            };
            let is_repeated = lost.is_some() && lost == self.lost;
            self.lost = lost;
            let is_sign = matches!(event, WatchEvent::Alive | WatchEvent::Found);
            if !is_repeated && !is_sign {
                return event;
            }
        }
    }

    async fn says(&mut self, expected: &str) {
        assert_eq!(words(&self.next().await), expected);
    }

    async fn alive(&mut self) {
        while !matches!(self.event().await, WatchEvent::Alive) {}
    }
}

fn words(event: &WatchEvent<Result<ObservedCatalog, NamelessObject>>) -> String {
    let name = |read: &Result<ObservedCatalog, NamelessObject>| match read {
        Ok(observed) => observed.state.name.clone(),
        Err(_) => "unnamed".to_owned(),
    };
    match event {
        WatchEvent::Listed(all) => {
            format!(
                "listed {}",
                all.iter().map(name).collect::<Vec<_>>().join(" ")
            )
        }
        WatchEvent::Applied(one) => format!("applied {}", name(one)),
        WatchEvent::Deleted(one) => format!("deleted {}", name(one)),
        WatchEvent::Alive => "alive".to_owned(),
        WatchEvent::Lost(fault) => format!("lost {}", fault.class.as_str()),
        WatchEvent::Found => "found".to_owned(),
        WatchEvent::Absent => "lost not_served".to_owned(),
    }
}

#[tokio::test(start_paused = true)]
async fn what_there_is_is_listed_and_what_changes_is_told() {
    let api = cluster();
    api.put(V1, catalog("a"));
    let mut told = Told::by(&api);
    told.says("listed a").await;
    api.put(V1, catalog("b"));
    told.says("applied b").await;
    api.delete(V1, "a");
    told.says("deleted a").await;
    api.put(V1, catalog("a"));
    told.says("applied a").await;
}

#[tokio::test(start_paused = true)]
async fn labels_priority_and_address_are_those_of_the_moment() {
    let api = cluster();
    let mut told = Told::by(&api);
    told.says("listed ").await;
    let mut object = catalog("a");
    object["metadata"]["labels"] = json!({"team": "x"});
    object["spec"] = json!({"priority": 7});
    object["status"] = json!({"urls": {"base": "https://catalogd/catalogs/a"}});
    api.put(V1, object);
    let WatchEvent::Applied(Ok(seen)) = told.next().await else {
        panic!("nothing applied");
    };
    assert_eq!(seen.state.priority, 7);
    assert!(matches!(&seen.state.labels, Labels::Known(labels) if labels["team"] == "x"));
    assert_eq!(seen.base.as_deref(), Some("https://catalogd/catalogs/a"));
}

#[tokio::test(start_paused = true)]
async fn the_old_address_is_read_where_there_is_no_other() {
    let base =
        |status| ObservedCatalog::read(&json!({"metadata": {"name": "a"}, "status": status}));
    let base = |status| base(status).unwrap().base;
    let old = "https://catalogd/catalogs/a/all.json";
    assert_eq!(base(json!({"contentURL": old})).as_deref(), Some(old));
    let both = json!({"contentURL": old, "urls": {"base": "https://b"}});
    assert_eq!(base(both).as_deref(), Some("https://b"));
    assert_eq!(base(json!({"urls": {"base": ""}})), None);
}

#[tokio::test(start_paused = true)]
async fn long_lists_come_in_pages_and_are_told_as_one() {
    let api = cluster();
    for number in 0..250 {
        api.put(V1, catalog(&format!("c{number}")));
    }
    let mut told = Told::by(&api);
    let WatchEvent::Listed(all) = told.next().await else {
        panic!("no list");
    };
    assert_eq!(all.len(), 250);
    let pages = api
        .asked()
        .iter()
        .filter(|asked| asked.param("limit").is_some())
        .count();
    assert_eq!(pages, 3);
    assert_eq!(list(api.client()).await.unwrap().0.len(), 250);
}

#[tokio::test(start_paused = true)]
async fn bookmarks_and_the_beginning_of_a_watch_are_signs_of_life() {
    let api = cluster();
    let mut told = Told::by(&api);
    told.says("listed ").await;
    told.alive().await;
    api.bookmark();
    let sent = Instant::now();
    told.alive().await;
    assert_eq!(sent.elapsed(), Duration::ZERO);
    api.end_watches();
    told.alive().await;
    assert!(
        sent.elapsed() <= Duration::from_secs(1),
        "{:?}",
        sent.elapsed()
    );
    assert_eq!(api.watches(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_cannot_be_read_costs_nothing_but_itself() {
    let api = cluster();
    let bad =
        json!({"metadata": {"name": "bad", "labels": {"x": 1}}, "spec": {"priority": "high"}});
    api.put(V1, bad);
    api.put(V1, json!({"metadata": {}}));
    api.put(V1, catalog("good"));
    let mut told = Told::by(&api);
    let WatchEvent::Listed(all) = told.next().await else {
        panic!("no list");
    };
    let readable: Vec<_> = all
        .iter()
        .map(|read| read.as_ref().ok())
        .map(|read| read.map(|o| (o.state.name.as_str(), o.is_readable())))
        .collect();
    assert_eq!(readable, [None, Some(("bad", false)), Some(("good", true))]);
    api.put(V1, json!({"metadata": {"labels": "none"}, "spec": []}));
    told.says("applied unnamed").await;
    api.put(V1, catalog("bad"));
    told.says("applied bad").await;
}

#[tokio::test(start_paused = true)]
async fn it_ends_when_nobody_listens() {
    for is_well in [true, false] {
        let api = cluster();
        if !is_well {
            api.trouble(Trouble::Refused, |_| true);
        }
        let (events, mut told) = channel(1);
        let watching = tokio::spawn(watch(api.client(), events));
        told.recv().await.expect("something is told");
        drop(told);
        let ended = timeout(Duration::from_secs(1), watching).await;
        ended.expect("at once").expect("no panic");
    }
}

#[tokio::test(start_paused = true)]
async fn one_catalog_is_read_again() {
    let api = cluster();
    api.put(V1, catalog("a"));
    let name = |found: Option<ObservedCatalog>| found.map(|observed| observed.state.name);
    let found = get(api.client(), "a").await.unwrap();
    assert_eq!(name(found).as_deref(), Some("a"));
    assert_eq!(name(get(api.client(), "b").await.unwrap()), None);
    api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |asked| {
        asked.path.ends_with("clustercatalogs/a")
    });
    assert_eq!(
        get(api.client(), "a").await.unwrap_err().to_string(),
        "cannot read catalog \"a\": the API server answers 403: as the test says"
    );
}

// === The names under which catalogs are found, while the names change ===

const OLD: &str = "/apis/catalogd.operatorframework.io/v1alpha1/clustercatalogs";

#[tokio::test(start_paused = true)]
async fn a_cluster_without_the_api_is_waited_for() {
    let api = ApiServer::start();
    let mut told = Told::by(&api);
    told.says("lost not_served").await;
    let fault = CatalogsError::not_served();
    assert_eq!(fault.class.as_str(), "not_served");
    assert_eq!(
        fault.words,
        "the cluster does not serve ClusterCatalog: looked for ClusterCatalog of olm.operatorframework.io/v1, \
         ClusterCatalog of olm.operatorframework.io/v1alpha1, \
         ClusterCatalog of catalogd.operatorframework.io/v1alpha1, \
         Catalog of catalogd.operatorframework.io/v1alpha1; is OLM v1 installed?"
    );
    assert_eq!(
        list(api.client()).await.unwrap_err(),
        CatalogsError::NotServed
    );
    serve(&api, "olm.operatorframework.io/v1");
    api.put(V1, catalog("a"));
    told.says("listed a").await;
}

#[tokio::test(start_paused = true)]
async fn the_best_name_that_is_served_is_taken() {
    let api = ApiServer::start();
    for (served, collection) in [
        ("catalogd.operatorframework.io/v1alpha1", OLD),
        ("olm.operatorframework.io/v1alpha1", V1ALPHA1),
        ("olm.operatorframework.io/v1", V1),
    ] {
        serve(&api, served);
        api.put(collection, catalog(&served.replace('/', ".")));
        let (all, _) = list(api.client()).await.unwrap();
        assert_eq!(all[0].state.name, served.replace('/', "."));
    }
}

#[tokio::test(start_paused = true)]
async fn the_kind_of_the_first_releases_is_a_catalog() {
    let api = ApiServer::start();
    api.serve(
        "catalogd.operatorframework.io/v1alpha1",
        "catalogs",
        "Catalog",
    );
    api.put(
        "/apis/catalogd.operatorframework.io/v1alpha1/catalogs",
        catalog("a"),
    );
    Told::by(&api).says("listed a").await;
}

#[tokio::test(start_paused = true)]
async fn a_better_name_is_noticed_beside_the_one_that_is_watched() {
    let api = ApiServer::start();
    serve(&api, "catalogd.operatorframework.io/v1alpha1");
    api.put(OLD, catalog("old"));
    let mut told = Told::by(&api);
    told.says("listed old").await;
    let since = Instant::now();
    serve(&api, "olm.operatorframework.io/v1");
    api.put(V1, catalog("new"));
    told.says("listed new").await;
    assert!(since.elapsed() <= FIRST_RECHECK + Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_better_name_is_noticed_late_in_the_life_of_a_watch() {
    let api = ApiServer::start();
    serve(&api, "catalogd.operatorframework.io/v1alpha1");
    api.put(OLD, catalog("old"));
    let mut told = Told::by(&api);
    told.says("listed old").await;
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_hours(1) {
        let event = told.event().await;
        assert!(matches!(event, WatchEvent::Alive), "{event:?}");
    }
    let since = Instant::now();
    serve(&api, "olm.operatorframework.io/v1");
    api.put(V1, catalog("new"));
    told.says("listed new").await;
    assert!(since.elapsed() <= RECHECK + Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn an_api_that_is_taken_away_is_waited_for_and_found_under_another_version() {
    let api = cluster();
    api.put(V1, catalog("a"));
    let mut told = Told::by(&api);
    told.says("listed a").await;
    api.unserve("olm.operatorframework.io/v1", "clustercatalogs");
    told.says("lost not_served").await;
    serve(&api, "olm.operatorframework.io/v1alpha1");
    api.put(V1ALPHA1, catalog("b"));
    told.says("listed b").await;
}

// === Whatever the API server does, the watch recovers, and does not overload it ===

/// The longest pause, including jitter.
const PAUSE: Duration = Duration::from_mins(1);

async fn following(api: &ApiServer) -> Told {
    api.put(V1, catalog("a"));
    api.put(V1, catalog("b"));
    let mut told = Told::by(api);
    told.says("listed a b").await;
    told.alive().await;
    told
}

#[tokio::test(start_paused = true)]
async fn history_that_is_gone_is_listed_anew() {
    let api = cluster();
    let mut told = following(&api).await;
    api.send(&error_line(
        StatusCode::GONE,
        "too old resource version: 1 (2)",
    ));
    told.says("lost gone").await;
    told.says("listed a b").await;
}

#[tokio::test(start_paused = true)]
async fn what_vanished_while_nobody_watched_is_not_listed() {
    let api = cluster();
    let mut told = following(&api).await;
    api.trouble(Trouble::Refused, |_| true);
    api.break_watches();
    told.says("lost unreachable").await;
    api.delete(V1, "a");
    api.put(V1, catalog("c"));
    api.compact();
    api.heal();
    told.says("listed b c").await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_in_good_order_goes_on_where_it_was() {
    let api = cluster();
    let mut told = following(&api).await;
    api.end_watches();
    api.put(V1, catalog("c"));
    told.says("applied c").await;
    api.end_watches();
    api.compact();
    told.says("lost gone").await;
    told.says("listed a b c").await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_away_is_asked_in_growing_pauses() {
    let api = cluster();
    let mut told = following(&api).await;
    let away = Instant::now();
    api.trouble(Trouble::Refused, |_| true);
    api.break_watches();
    told.says("lost unreachable").await;
    let healing = api.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_mins(10)).await;
        healing.heal();
    });
    // No event comes in between; it would differ from this one.
    told.says("listed a b").await;
    let most = Duration::from_mins(10) + PAUSE;
    assert!(away.elapsed() <= most, "{:?}", away.elapsed());

    let asked = api.asked();
    let tries: Vec<_> = asked
        .iter()
        .map(|asked| asked.at)
        .filter(|at| *at > away)
        .collect();
    let pauses: Vec<_> = tries.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let during = &pauses[..pauses.len() - 2];
    assert!((10..40).contains(&during.len()), "{during:?}");
    let least = Duration::from_millis(800);
    assert!(
        during.iter().all(|pause| (least..=PAUSE).contains(pause)),
        "{during:?}"
    );
    let (shortest, longest) = (during[0], *during.last().unwrap());
    assert!(
        shortest <= 4 * least && longest >= Duration::from_secs(30),
        "{during:?}"
    );
    // Without jitter, each pause would be the shortest one doubled a few times, or the longest one.
    let longest = Duration::from_secs(30);
    let is_bare = |pause: &Duration| {
        let bare = (0..6).map(|times| least * (1 << times)).chain([longest]);
        bare.into_iter()
            .any(|bare| pause.abs_diff(bare) < Duration::from_millis(5))
    };
    assert!(!during.iter().all(is_bare), "no jitter: {during:?}");
}

#[tokio::test(start_paused = true)]
async fn each_try_that_fails_is_told_with_what_it_failed_of() {
    let api = cluster();
    let mut told = following(&api).await;
    api.trouble(Trouble::Status(StatusCode::BAD_GATEWAY), |_| true);
    api.break_watches();
    told.says("lost unreachable").await;
    let asked = api.asked().len();
    let mut lost = async || {
        let WatchEvent::Lost(fault) = told.event().await else {
            panic!("something else told");
        };
        fault.words
    };
    for _ in 0..5 {
        assert_eq!(lost().await, "the API server answers 502: as the test says");
    }
    assert_eq!(api.asked().len(), asked + 5);
    api.trouble(Trouble::Status(StatusCode::SERVICE_UNAVAILABLE), |_| true);
    let mut words = lost().await;
    if words.contains("502") {
        // The event was already queued.
        words = lost().await;
    }
    assert_eq!(words, "the API server answers 503: as the test says");
}

#[tokio::test(start_paused = true)]
async fn each_answer_that_is_a_refusal_is_survived() {
    for (code, class) in [
        (401, "unauthorized"),
        (403, "forbidden"),
        (429, "throttled"),
        (500, "server"),
        (503, "server"),
        (418, "refused"),
    ] {
        let api = cluster();
        let mut told = following(&api).await;
        let code = StatusCode::from_u16(code).unwrap();
        api.trouble(Trouble::Status(code), |_| true);
        api.break_watches();
        // The broken connection is the first fault, the refused one the next.
        told.says("lost unreachable").await;
        told.says(&format!("lost {class}")).await;
        api.heal();
        told.says("listed a b").await;
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_may_list_and_not_watch_is_told_again_and_again_without_haste() {
    let api = cluster();
    api.put(V1, catalog("a"));
    api.trouble(Trouble::Status(StatusCode::FORBIDDEN), Asked::is_watch);
    let mut told = Told::by(&api);
    let since = Instant::now();
    for _ in 0..8 {
        told.says("listed a").await;
        told.says("lost forbidden").await;
    }
    assert!(
        since.elapsed() > Duration::from_mins(1),
        "{:?}",
        since.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_line_that_is_no_event_is_answered_with_a_new_list() {
    let api = cluster();
    let mut told = following(&api).await;
    api.send("{\"type\": \"ADDED\", \"object\": [}");
    told.says("lost undecodable").await;
    told.says("listed a b").await;
}

#[tokio::test(start_paused = true)]
async fn a_fault_that_is_told_within_the_watch_is_one() {
    let api = cluster();
    let mut told = following(&api).await;
    api.send(&error_line(
        StatusCode::INTERNAL_SERVER_ERROR,
        "etcd is away",
    ));
    let WatchEvent::Lost(fault) = told.next().await else {
        panic!("something else told");
    };
    assert_eq!(fault.words, "the API server answers 500: etcd is away");
    assert_eq!(fault.class.as_str(), "server");
    told.says("listed a b").await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_on_which_nothing_comes_any_more_is_noticed() {
    let api = cluster();
    let mut told = following(&api).await;
    let since = Instant::now();
    api.trouble(Trouble::Silent, |_| true);
    told.says("lost silent").await;
    let margin = Duration::from_secs(5);
    let bound = Duration::from_secs(SECONDS.into()) + margin + ANSWER;
    assert!(since.elapsed() <= bound, "{:?}", since.elapsed());
    api.heal();
    told.says("listed a b").await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_each_watch_at_once_is_not_asked_without_a_pause() {
    let api = cluster();
    api.trouble(Trouble::Empty, Asked::is_watch);
    let mut told = Told::by(&api);
    told.says("listed ").await;
    let since = Instant::now();
    // The answer to each watch is one sign of life.
    for _ in 0..50 {
        told.alive().await;
    }
    assert!(since.elapsed() >= 48 * PACE, "{:?}", since.elapsed());
}
