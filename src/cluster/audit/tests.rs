//! Audits of a cluster with scripted faults, mostly in virtual time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use arc_swap::ArcSwap;
use hyper::StatusCode;
use serde_json::{Value, json};
use tokio::task::yield_now;

use super::*;
use crate::cluster::audit::{MOST_OBJECTS, ReportObjects};
use crate::cluster::tests::logged;
use olmguard_catalog::olm::Rules;
use olmguard_engine::audit::Concern;
use olmguard_engine::snapshot::{CatalogState, Snapshot};
use olmguard_fixtures::moved::Moved;
use olmguard_fixtures::question::content;
use olmguard_fixtures::written::written;
use olmguard_server::telemetry::Metrics;
use olmguard_server::tls::SystemClock;
use olmguard_support::api::{ApiServer, Trouble};
use olmguard_views::audit_report::ClusterReport;

const EXTENSIONS: &str = "/apis/olm.operatorframework.io/v1/clusterextensions";

const REPORTS: &str = "/apis/openreports.io/v1alpha1/clusterreports";

const CHAIN: &str = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0";

const EVERY: Duration = Duration::from_mins(1);

/// A cluster, with one replica in it.
struct Scene {
    api: ApiServer,
    metrics: Metrics,
    config: AuditConfig,
    is_ready: Arc<AtomicBool>,
}

/// A clock that always shows the same time.
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

    /// Starts the replica.
    fn begin(&self) {
        let client = self.api.client();
        let (leadership, keeping) = Leadership::of(client.clone(), "olmguard");
        tokio::spawn(keeping);
        let is_ready = Arc::clone(&self.is_ready);
        let is_ready = move || is_ready.load(Ordering::Relaxed);
        let config = self.config.clone();
        tokio::spawn(audit(client, leadership, is_ready, config));
    }

    /// Returns the served series of audits, without the findings that no extension has.
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

    /// Waits until a series has this value; none if it must not be served.
    async fn until(&self, series: &str, expected: Option<&str>) {
        let begun = Instant::now();
        while self.value(series).as_deref() != expected {
            let late = begun.elapsed() > Duration::from_hours(2);
            assert!(!late, "{series}: {:#?}", self.series());
            sleep(Duration::from_secs(1)).await;
        }
    }

    /// Returns how often extensions were listed.
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
    assert_eq!(findings, Concern::ALL.len(), "a series for each finding");
    // The next audit sees the changes in the cluster and in the catalogs.
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

/// The extensions of one audit are comparable with each other.
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

/// Runs in real time, because durations are zero in virtual time.
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

// === Audits that do not complete ===

fn warnings(lines: &[Value]) -> Vec<String> {
    let warnings = lines.iter().filter(|line| line["level"] != "INFO");
    let warnings = warnings.filter(|line| line["level"] != "DEBUG");
    let words = warnings.map(|line| {
        let message = line["message"].as_str().unwrap_or_default();
        let error = line["error"].as_str().unwrap_or_default();
        format!("{message}: {error}")
    });
    words.collect()
}

fn logged_times(lines: &[Value], message: &str) -> usize {
    lines
        .iter()
        .filter(|line| line["message"] == message)
        .count()
}

/// Returns all warnings during this action, with repetitions.
fn warned(act: impl AsyncFnOnce()) -> (Vec<String>, Vec<Value>) {
    let lines = logged(act);
    (warnings(&lines), lines)
}

#[test]
fn what_cannot_be_listed_is_counted_and_logged_once() {
    let (warnings, lines) = warned(async || {
        let api = cluster();
        api.put(EXTENSIONS, extension("good", "1.2.0", "1.2.0"));
        let scene = Scene::of(api);
        scene.begin();
        scene.until(COUNT, Some("1")).await;
        scene
            .api
            .put(EXTENSIONS, extension("other", "1.2.0", "1.2.0"));
        let is_list = |asked: &olmguard_support::api::Asked| asked.path == EXTENSIONS;
        scene
            .api
            .trouble(Trouble::Status(StatusCode::FORBIDDEN), is_list);
        scene.until(FAILURES, Some("3")).await;
        assert_eq!(
            scene.value(COUNT).as_deref(),
            Some("1"),
            "of the last audit"
        );
        assert_eq!(scene.value(TIME).as_deref(), Some("1700000000"));
        scene
            .api
            .trouble(Trouble::Status(StatusCode::BAD_GATEWAY), is_list);
        scene.until(FAILURES, Some("5")).await;
        scene.api.heal();
        scene.until(COUNT, Some("2")).await;
    });
    let expected = [
        "Failed to audit what is installed, keeping the figures of the last audit: installed extensions are unknown: \
         cannot list clusterextensions.olm.operatorframework.io: the API server answers 403: as the test says; grant \
         the verb \"list\" on them",
        "Failed to audit what is installed, keeping the figures of the last audit: installed extensions are unknown: \
         cannot list clusterextensions.olm.operatorframework.io: the API server answers 502: as the test says",
    ];
    assert_eq!(warnings, expected);
    assert_eq!(logged_times(&lines, "Auditing what is installed again"), 1);
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_is_silent_ends_the_audit() {
    let api = cluster();
    api.trouble(Trouble::Silent, |asked| asked.path == EXTENSIONS);
    let scene = Scene::of(api);
    scene.begin();
    scene.until(FAILURES, Some("1")).await;
    assert_eq!(scene.value(COUNT), None, "no audit has ended yet");
    scene.api.heal();
    scene.until(COUNT, Some("0")).await;
}

#[tokio::test(start_paused = true)]
async fn a_list_without_an_end_is_not_kept() {
    let api = cluster();
    for number in 0..=MOST_EXTENSIONS {
        api.put(
            EXTENSIONS,
            json!({"metadata": {"name": format!("x-{number}")}}),
        );
    }
    let listed = installed(api.client()).await;
    assert_eq!(listed.map(|all| all.len()), Err(AuditRunError::TooMany));
    assert_eq!(
        AuditRunError::TooMany.to_string(),
        "there are more than 5000 ClusterExtensions"
    );
    api.delete(EXTENSIONS, "x-0");
    let listed = installed(api.client()).await;
    assert_eq!(listed.map(|all| all.len()), Ok(MOST_EXTENSIONS));
}

#[test]
fn an_audit_that_takes_too_long_says_so() {
    let words = [AuditRunError::TooLong, AuditRunError::Panicked].map(|error| error.to_string());
    let expected = [
        "it takes more than 300 s",
        "the thread that audits panicked; please report this",
    ];
    assert_eq!(words, expected);
}

// === The objects that are written into the cluster ===

#[tokio::test(start_paused = true)]
async fn the_report_is_as_the_last_audit_has_it() {
    let api = cluster();
    api.put(EXTENSIONS, extension("denied", "1.2.0", "1.0.0"));
    // An earlier report was longer.
    for number in 2..=4 {
        let name = format!("olmguard-audit-{number}");
        api.put(REPORTS, json!({"metadata": {"name": name}}));
    }
    let scene = Scene::of(api);
    scene.begin();
    scene.until(WRITTEN, Some("1")).await;
    sleep(Duration::from_secs(1)).await;
    let report = scene
        .api
        .object(REPORTS, "olmguard-audit")
        .expect("a report");
    assert_eq!(report["kind"], "ClusterReport");
    assert_eq!(report["apiVersion"], "openreports.io/v1alpha1");
    assert_eq!(
        report["summary"],
        json!({"pass": 0, "fail": 1, "warn": 1, "error": 0, "skip": 0})
    );
    let first = &report["results"][0];
    assert_eq!(first["policy"], "unresolvable");
    assert_eq!(
        first["timestamp"],
        json!({"seconds": 1_700_000_000, "nanos": 0})
    );
    for number in 2..=4 {
        let name = format!("olmguard-audit-{number}");
        assert_eq!(scene.api.object(REPORTS, &name), None, "{name}");
    }
    scene
        .api
        .put(EXTENSIONS, extension("denied", "1.2.0", "1.2.0"));
    scene.until(WRITTEN, Some("2")).await;
    let report = scene
        .api
        .object(REPORTS, "olmguard-audit")
        .expect("a report");
    assert_eq!(report["results"][0]["result"], "pass");
    assert_eq!(report["results"][1], Value::Null);
    let asked = scene.api.asked();
    let mut writes = asked.iter().filter(|one| one.method == "PATCH");
    assert!(writes.all(|one| {
        let params = (one.param("fieldManager"), one.param("force"));
        one.path == format!("{REPORTS}/olmguard-audit")
            && params == (Some("olmguard"), Some("true"))
    }));
}

#[tokio::test(start_paused = true)]
async fn without_the_flag_nothing_is_written() {
    let mut scene = Scene::of(cluster());
    scene.config.writes_reports = false;
    scene.begin();
    scene.until(COUNT, Some("0")).await;
    sleep(EVERY * 2).await;
    let asked = scene.api.asked();
    assert!(asked.iter().all(|one| !one.path.starts_with(REPORTS)));
}

/// Audits are counted, whether or not the report can be written.
#[test]
fn a_report_that_cannot_be_written_is_counted_and_logged_once_with_the_way_out() {
    let (warnings, lines) = warned(async || {
        let api = cluster();
        api.unserve("openreports.io/v1alpha1", "clusterreports");
        let scene = Scene::of(api);
        scene.begin();
        scene.until(NOT_WRITTEN, Some("3")).await;
        assert_eq!(scene.value(COUNT).as_deref(), Some("0"));
        assert_eq!(
            scene.value(FAILURES).as_deref(),
            Some("0"),
            "the audits ended"
        );
        serve_reports(&scene.api);
        scene
            .api
            .trouble(Trouble::Status(StatusCode::FORBIDDEN), |asked| {
                asked.path.starts_with(REPORTS)
            });
        scene.until(NOT_WRITTEN, Some("5")).await;
        scene.api.heal();
        scene.until(WRITTEN, Some("2")).await;
    });
    let begin = "Failed to write the ClusterReport of the audit, trying again after the next audit";
    let expected = [
        format!(
            "{begin}: the API server answers 404: 404 page not found; install the definition of ClusterReport of \
             openreports.io/v1alpha1, or unset --audit-cluster-report"
        ),
        format!(
            "{begin}: the API server answers 403: as the test says; grant the verbs \"create\", \"delete\" and \
             \"patch\" on clusterreports.openreports.io, as deploy/components/audit does"
        ),
    ];
    assert_eq!(warnings, expected);
    assert_eq!(
        logged_times(&lines, "Writing the ClusterReport of the audit again"),
        1
    );
}

#[tokio::test(start_paused = true)]
async fn a_report_has_at_most_so_many_objects() {
    let mut scene = Scene::of(cluster());
    scene
        .api
        .put(EXTENSIONS, extension("denied", "1.2.0", "1.0.0"));
    scene.config.writes_reports = true;
    let extensions = installed(scene.api.client()).await.expect("a list");
    let requester = Requester::unknown().clone();
    let audited = audited(scene.config.facts.now(), extensions, requester, true).await;
    let [one] = &audited.expect("an audit").reports[..] else {
        panic!("one extension");
    };
    let objects = |count| ReportObjects::of(vec![one.clone(); count], Moment::EPOCH);
    let few = objects(2);
    assert_eq!((few.all.len(), few.is_cut), (1, false));
    let many = objects(20_000);
    assert_eq!((many.all.len(), many.is_cut), (MOST_OBJECTS, true));
    let names: Vec<_> = many.all.iter().map(ClusterReport::name).collect();
    assert_eq!(
        (names[0], names[9]),
        ("olmguard-audit", "olmguard-audit-10")
    );
}

#[test]
fn the_component_grants_rights_on_each_name() {
    let rbac = include_str!("../../../deploy/components/audit/rbac.yaml");
    let lines = rbac.lines().map(str::trim);
    let names = lines.filter_map(|line| line.strip_prefix("- "));
    let names = names.filter(|name| name.starts_with("olmguard-audit"));
    let expected: Vec<_> = (1..=MOST_OBJECTS).map(ClusterReport::name_of).collect();
    assert_eq!(names.collect::<Vec<_>>(), expected);
}
