//! What is written into the cluster.

use super::faults::{logged_times, warned};
use super::*;
use crate::cluster::audit::reports::{MOST_OBJECTS, Objects};
use olmguard_views::audit_report::ClusterReport;

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

/// Whatever becomes of the report, audits are counted.
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
    let objects = |count| Objects::of(vec![one.clone(); count], Moment::EPOCH);
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
    let rbac = include_str!("../../../../deploy/components/audit/rbac.yaml");
    let lines = rbac.lines().map(str::trim);
    let names = lines.filter_map(|line| line.strip_prefix("- "));
    let names = names.filter(|name| name.starts_with("olmguard-audit"));
    let expected: Vec<_> = (1..=MOST_OBJECTS).map(ClusterReport::name_of).collect();
    assert_eq!(names.collect::<Vec<_>>(), expected);
}
