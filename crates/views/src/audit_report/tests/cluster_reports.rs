//! The report as objects of openreports.io.

use super::*;

/// What its definition allows, as far as olmguard writes it; other fields are not allowed here.
fn definition() -> Value {
    let text = json!({"type": "string"});
    let count = json!({"type": "integer", "minimum": 0});
    let object = |properties: Value| json!({"type": "object", "additionalProperties": false, "properties": properties});
    let subject = object(json!({"apiVersion": text, "kind": text, "name": text}));
    let result = object(json!({
        "policy": text, "rule": text, "category": text, "message": text, "scored": {"type": "boolean"},
        "severity": {"enum": ["critical", "high", "low", "medium", "info"]},
        "result": {"enum": ["pass", "fail", "warn", "error", "skip"]},
        "timestamp": {
            "type": "object", "additionalProperties": false, "required": ["seconds", "nanos"],
            "properties": {"seconds": {"type": "integer"}, "nanos": {"type": "integer"}},
        },
        "resources": {"type": "array", "items": subject},
        "properties": {"type": "object", "additionalProperties": text},
    }));
    object(json!({
        "apiVersion": {"const": "openreports.io/v1alpha1"}, "kind": {"const": "ClusterReport"},
        "metadata": object(json!({
            "name": {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},
            "labels": {"type": "object", "additionalProperties": text},
        })),
        "source": text,
        "summary": object(json!({"pass": count, "fail": count, "warn": count, "error": count, "skip": count})),
        "results": {"type": "array", "items": result},
    }))
}

/// The objects as they are printed, which fit their definition.
fn written(report: &AuditReport) -> Vec<Value> {
    let definition = definition();
    let reports = report.cluster_reports(1_700_000_000);
    let reports = reports.map(|report| {
        let report = serde_json::to_value(&report).expect("string keys only");
        let fault = jsonschema::validate(&definition, &report).err();
        assert_eq!(fault.map(|fault| fault.to_string()), None, "{report}");
        report
    });
    reports.collect()
}

#[test]
fn each_finding_is_a_result_and_none_is_a_pass() {
    let mut deleting = object("deleting", &asks("1.0.0"), "1.0.0");
    deleting["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    let mut unread = object("unread", &asks("1.0.0"), "1.0.0");
    unread["status"]["install"]["bundle"]["version"] = 1.into();
    let objects = [
        object("good", &asks("1.2.0"), "1.2.0"),
        object("denied", &asks("1.2.0"), "1.0.0"),
        object("moves", &asks(">=1.0.0"), "1.0.0"),
        deleting,
        unread,
    ];
    let reports = written(&report(CHAIN, &objects, &[]));
    let [report] = reports.as_slice() else {
        panic!("{reports:?}");
    };
    assert_eq!(
        report["summary"],
        json!({"pass": 1, "fail": 1, "warn": 3, "error": 1, "skip": 1})
    );
    let results = report["results"].as_array().expect("a list");
    let lines = results.iter().map(|result| {
        let keys = ["policy", "rule", "result", "severity"];
        let [policy, rule, outcome, severity] = keys.map(|key| result[key].as_str().unwrap_or("-"));
        let name = result["resources"][0]["name"].as_str().unwrap_or("-");
        format!("{name}: {policy} [{rule}] {outcome} {severity}")
    });
    let expected = [
        "denied: unresolvable [NotASuccessor] fail high",
        "denied: behind [NotASuccessor] warn info",
        "unread: undecided [InstalledUnknown] error medium",
        "moves: moves [Resolved] warn info",
        "moves: unbounded [Resolved] warn low",
        "deleting: NotJudged [NotJudged] skip info",
        "good: Unchanged [Unchanged] pass info",
    ];
    assert_eq!(lines.collect::<Vec<_>>(), expected);
    let first = &results[0];
    assert_eq!(
        first["resources"][0],
        json!({"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension", "name": "denied"})
    );
    assert_eq!(
        first["properties"],
        json!({"package": "P", "installed": "1.0.0", "next": ">=1.0.0 <=1.2.0"})
    );
    assert_eq!(
        first["timestamp"],
        json!({"seconds": 1_700_000_000, "nanos": 0})
    );
}

#[test]
fn a_long_report_is_several_objects() {
    let long = "x".repeat(20_000);
    let objects: Vec<_> = (0..1500)
        .map(|number| object(&format!("{long}-{number}"), &asks("1.2.0"), "1.0.0"))
        .collect();
    let reports = written(&report(CHAIN, &objects, &[]));
    let sizes: Vec<_> = reports
        .iter()
        .map(|report| report.to_string().len())
        .collect();
    assert!(
        sizes.len() > 2 && sizes.iter().all(|size| *size < 1_000_000),
        "{sizes:?}"
    );
    let names: Vec<_> = reports
        .iter()
        .map(|report| report["metadata"]["name"].clone())
        .collect();
    assert_eq!(
        names[..2],
        [json!("olmguard-audit"), json!("olmguard-audit-2")]
    );
    let results = reports
        .iter()
        .map(|report| report["results"].as_array().map_or(0, Vec::len));
    assert_eq!(results.sum::<usize>(), 3000);
}

#[test]
fn without_extensions_it_is_one_empty_object() {
    let reports = written(&report(CHAIN, &[], &[]));
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0]["results"], json!([]));
}
