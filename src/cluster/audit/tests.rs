//! Audits of a cluster with scripted faults, mostly in virtual time.

mod faults;
mod reported;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use arc_swap::ArcSwap;
use hyper::StatusCode;
use serde_json::{Value, json};
use tokio::task::yield_now;

use super::*;
use crate::telemetry::Metrics;
use crate::tls::SystemClock;
use olmguard_catalog::olm::Rules;
use olmguard_engine::audit::Concern;
use olmguard_engine::snapshot::{CatalogState, Snapshot};
use olmguard_fixtures::question::content;
use olmguard_fixtures::written::written;
use olmguard_support::api::{ApiServer, Trouble};
use olmguard_support::moved::Moved;

const EXTENSIONS: &str = "/apis/olm.operatorframework.io/v1/clusterextensions";
const REPORTS: &str = "/apis/openreports.io/v1alpha1/clusterreports";
const CHAIN: &str = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0";
const EVERY: Duration = Duration::from_mins(1);

/// A cluster, and one replica in it.
struct Scene {
    api: ApiServer,
    metrics: Metrics,
    config: AuditConfig,
    is_ready: Arc<AtomicBool>,
}

/// Always the same time of day.
#[derive(Debug)]
struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_700_000_000)
    }
}

/// A cluster with extensions, leases and the definition of reports.
fn cluster() -> ApiServer {
    let api = ApiServer::start();
    api.serve("coordination.k8s.io/v1", "leases", "Lease");
    let group = "olm.operatorframework.io/v1";
    api.serve(group, "clusterextensions", "ClusterExtension");
    serve_reports(&api);
    api
}

fn serve_reports(api: &ApiServer) {
    let group = "openreports.io/v1alpha1";
    api.serve(group, "clusterreports", "ClusterReport");
}

fn extension(name: &str, range: &str, installed: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {"namespace": "ns", "source": {
            "sourceType": "Catalog", "catalog": {"packageName": "P", "version": range},
        }},
        "status": {"install": {"bundle": {"name": format!("P.v{installed}"), "version": installed}}},
    })
}

fn snapshot(lines: &str) -> Snapshot {
    let content = content(&written(lines).fbc(), &Rules::default());
    Snapshot::new(Rules::default(), [CatalogState::named("hub", content)])
}

impl Scene {
    fn of(api: ApiServer) -> Self {
        let metrics = Metrics::new();
        let config = AuditConfig {
            interval: EVERY,
            writes_reports: true,
            facts: LiveFacts {
                snapshot: Arc::new(ArcSwap::from_pointee(snapshot(CHAIN))),
                policies: Arc::default(),
            },
            clock: Arc::new(Stopped),
            metrics: Arc::clone(&metrics.audit),
        };
        Self {
            api,
            metrics,
            config,
            is_ready: Arc::new(AtomicBool::new(true)),
        }
    }

    /// Another replica of the same cluster, with metrics of its own.
    fn replica(&self) -> Self {
        Self::of(self.api.clone())
    }

    /// Lets the replica run.
    fn begin(&self) {
        let client = self.api.client();
        let (leadership, keeping) = Leadership::of(client.clone(), "olmguard");
        tokio::spawn(keeping);
        let is_ready = Arc::clone(&self.is_ready);
        let is_ready = move || is_ready.load(Ordering::Relaxed);
        let config = self.config.clone();
        tokio::spawn(audit(client, leadership, is_ready, config));
    }

    /// The series of audits as they are served, without the findings that no extension has.
    fn series(&self) -> Vec<String> {
        let text = self.metrics.render();
        let lines = text.lines();
        let lines = lines.filter(|line| line.starts_with("olmguard_audit_"));
        let lines = lines.filter(|line| !(line.contains("finding=") && line.ends_with(" 0")));
        lines.map(str::to_owned).collect()
    }

    fn value(&self, series: &str) -> Option<String> {
        let lines = self.series().into_iter();
        let mut values = lines.filter_map(|line| {
            let value = line.strip_prefix(series)?.strip_prefix(' ')?;
            Some(value.to_owned())
        });
        values.next()
    }

    /// Waits until a series has this value; none if it is not served.
    async fn until(&self, series: &str, expected: Option<&str>) {
        let begun = Instant::now();
        while self.value(series).as_deref() != expected {
            let late = begun.elapsed() > Duration::from_hours(2);
            assert!(!late, "{series}: {:#?}", self.series());
            sleep(Duration::from_secs(1)).await;
        }
    }

    /// How often extensions were listed.
    fn lists(&self) -> usize {
        let asked = self.api.asked();
        asked.iter().filter(|one| one.path == EXTENSIONS).count()
    }
}

const COUNT: &str = "olmguard_audit_extensions";
const FAILURES: &str = "olmguard_audit_failures_total";
const TIME: &str = "olmguard_audit_timestamp_seconds";
const WRITTEN: &str = "olmguard_audit_reports_total{result=\"written\"}";
const NOT_WRITTEN: &str = "olmguard_audit_reports_total{result=\"failed\"}";

#[tokio::test(start_paused = true)]
async fn what_is_installed_is_counted_by_finding() {
    let api = cluster();
    api.put(EXTENSIONS, extension("good", "1.2.0", "1.2.0"));
    api.put(EXTENSIONS, extension("denied", "1.2.0", "1.0.0"));
    api.put(EXTENSIONS, extension("moves", ">=1.0.0", "1.0.0"));
    let scene = Scene::of(api);
    scene.begin();
    scene.until(WRITTEN, Some("1")).await;
    let expected = [
        "olmguard_audit_duration_seconds 0",
        "olmguard_audit_extensions 3",
        "olmguard_audit_failures_total 0",
        "olmguard_audit_findings{finding=\"behind\"} 1",
        "olmguard_audit_findings{finding=\"moves\"} 1",
        "olmguard_audit_findings{finding=\"unbounded\"} 1",
        "olmguard_audit_findings{finding=\"unresolvable\"} 1",
        "olmguard_audit_reports_total{result=\"failed\"} 0",
        "olmguard_audit_reports_total{result=\"written\"} 1",
        "olmguard_audit_timestamp_seconds 1700000000",
    ];
    assert_eq!(scene.series(), expected);
    let findings = scene.metrics.render().matches("{finding=").count();
    assert_eq!(findings, 16, "a series for each finding");
    // The next one sees what is new, in the cluster and in the catalogs.
    scene.api.delete(EXTENSIONS, "moves");
    scene.config.facts.snapshot.store(Arc::new(snapshot(
        "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0; 1.3.0 replaces 1.2.0",
    )));
    let begun = Instant::now();
    scene.until(COUNT, Some("2")).await;
    assert!(begun.elapsed() <= EVERY + Duration::from_secs(1));
    let behind = "olmguard_audit_findings{finding=\"behind\"}";
    assert_eq!(scene.value(behind).as_deref(), Some("2"));
    assert_eq!(scene.lists(), 2);
}

#[tokio::test(start_paused = true)]
async fn before_the_facts_are_known_nothing_is_audited() {
    let scene = Scene::of(cluster());
    scene.is_ready.store(false, Ordering::Relaxed);
    scene.begin();
    sleep(EVERY * 3).await;
    assert_eq!((scene.lists(), scene.value(COUNT)), (0, None));
    scene.is_ready.store(true, Ordering::Relaxed);
    scene.until(COUNT, Some("0")).await;
}

#[tokio::test(start_paused = true)]
async fn while_the_facts_are_not_known_any_more_nothing_is_audited() {
    let scene = Scene::of(cluster());
    scene.begin();
    scene.until(COUNT, Some("0")).await;
    scene.is_ready.store(false, Ordering::Relaxed);
    let before = scene.lists();
    sleep(EVERY * 3).await;
    assert_eq!(scene.lists(), before);
    scene.is_ready.store(true, Ordering::Relaxed);
    sleep(EVERY * 2).await;
    assert!(scene.lists() > before);
}

/// Extensions of one audit can be compared with each other.
#[tokio::test]
async fn an_audit_is_by_the_catalogs_of_one_moment() {
    const NEWER: &str =
        "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0; 1.3.0 replaces 1.2.0";
    let api = cluster();
    for number in 0..60 {
        let name = format!("e{number}");
        api.put(EXTENSIONS, extension(&name, "1.2.0", "1.2.0"));
    }
    let scene = Scene::of(api);
    let current = Arc::clone(&scene.config.facts.snapshot);
    let swapping = tokio::spawn(async move {
        let mut others = [CHAIN, NEWER].map(|lines| Arc::new(snapshot(lines)));
        loop {
            current.store(Arc::clone(&others[0]));
            others.reverse();
            yield_now().await;
        }
    });
    let auditor = Auditor::new(scene.api.client(), scene.config.clone());
    let audited = auditor.audited(moment(Stopped.now())).await;
    swapping.abort();
    let audited = audited.expect("an audit");
    assert_eq!(audited.extensions, 60);
    let behind = audited.findings.get(&Concern::Behind).copied();
    assert!(matches!(behind, None | Some(60)), "{behind:?} of 60");
}

/// Sums over all replicas count every extension once.
#[tokio::test(start_paused = true)]
async fn one_replica_audits_and_withdraws_its_figures_when_it_leads_no_more() {
    let api = cluster();
    api.put(EXTENSIONS, extension("good", "1.2.0", "1.2.0"));
    let one = Scene::of(api);
    one.begin();
    one.until(COUNT, Some("1")).await;
    let other = one.replica();
    other.begin();
    sleep(EVERY * 3).await;
    assert_eq!((other.value(COUNT), one.lists()), (None, 4));
    // Another replica takes the lease.
    let leases = "/apis/coordination.k8s.io/v1/namespaces/olmguard/leases";
    let mut lease = one
        .api
        .object(leases, "olmguard-policies")
        .expect("a lease");
    lease["spec"]["holderIdentity"] = json!("a third");
    one.api.put(leases, lease);
    one.until(COUNT, None).await;
    let left = [
        "olmguard_audit_failures_total 0",
        "olmguard_audit_reports_total{result=\"failed\"} 0",
        "olmguard_audit_reports_total{result=\"written\"} 4",
    ];
    assert_eq!(one.series(), left);
    let begun = Instant::now();
    while one.value(COUNT).is_none() && other.value(COUNT).is_none() {
        assert!(begun.elapsed() < EVERY, "no replica leads");
        sleep(Duration::from_secs(1)).await;
    }
    assert!(one.value(COUNT).is_none() || other.value(COUNT).is_none());
}

/// In real time: durations are none in virtual time.
#[tokio::test]
async fn every_metric_of_audits_moves() {
    let api = cluster();
    api.put(EXTENSIONS, extension("moves", ">=1.0.0", "1.0.0"));
    let mut scene = Scene::of(api);
    scene.config.interval = Duration::from_millis(1);
    scene.config.clock = Arc::new(SystemClock);
    scene.begin();
    let mut moved = Moved::default();
    let mut seen = async |series: &str, is: fn(f64) -> bool| {
        let begun = Instant::now();
        loop {
            moved.look(&scene.metrics.render());
            let value = scene.value(series).and_then(|value| value.parse().ok());
            if is(value.unwrap_or_default()) {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "{series}");
            yield_now().await;
        }
    };
    seen(COUNT, |count| count > 0.5).await;
    scene
        .api
        .put(EXTENSIONS, extension("denied", "1.2.0", "1.0.0"));
    seen(COUNT, |count| count > 1.5).await;
    scene.api.delete(EXTENSIONS, "moves");
    seen(COUNT, |count| count < 1.5).await;
    scene
        .api
        .unserve("openreports.io/v1alpha1", "clusterreports");
    seen(NOT_WRITTEN, |count| count > 0.5).await;
    scene
        .api
        .trouble(Trouble::Refused, |asked| asked.path == EXTENSIONS);
    seen(FAILURES, |count| count > 0.5).await;
    let rows = include_str!("../../../tests/server/telemetry/moved/audit.txt");
    assert_eq!(moved.still(rows), [""; 0]);
}
