//! A watch of catalogs against a server that is told how to misbehave, in virtual time.

mod api_versions;
mod faults;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::{Instant, timeout};

use super::*;
use olmguard_engine::snapshot::Labels;
use olmguard_support::api::{ApiServer, Trouble};

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

/// What a watch tells.
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

    /// The next one but for signs of life and faults of the same class.
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
    api.trouble(Trouble::Status(hyper::StatusCode::FORBIDDEN), |asked| {
        asked.path.ends_with("clustercatalogs/a")
    });
    assert_eq!(
        get(api.client(), "a").await.unwrap_err().to_string(),
        "cannot read catalog \"a\": the API server answers 403: as the test says"
    );
}
