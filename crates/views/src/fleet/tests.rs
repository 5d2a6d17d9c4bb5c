use serde_json::{Value, json};

use super::*;
use crate::audit_report::tests::{asks, object, report};

/// An extension in the JSON of an audit, with the fields that a fleet reads.
fn extension(package: &str, installed: &str, newest: Option<&str>, verdict: &str) -> Value {
    let newest = newest.map_or(
        Value::Null,
        |version| json!({"bundle": "b", "version": version, "release": null}),
    );
    let undecided = (verdict == "undecided").then_some("undecided");
    let behind = newest.is_object().then_some("behind");
    let found = undecided.into_iter().chain(behind);
    let findings: Vec<_> = found.map(|id| json!({"id": id, "text": ""})).collect();
    json!({
        "name": "ext", "package": package, "verdict": verdict, "newest": newest, "findings": findings,
        "installed": {"bundle": null, "version": installed, "release": null},
    })
}

fn audit(extensions: &[Value]) -> Vec<u8> {
    json!({"schema": "olmguard.audit/v1", "extensions": extensions, "summary": {}})
        .to_string()
        .into_bytes()
}

fn fleet(clusters: &[(&str, &[Value])]) -> Fleet {
    let mut fleet = Fleet::default();
    for (name, extensions) in clusters {
        let read = ClusterAudit::read(&audit(extensions)).expect("an audit");
        fleet.add(name, &read);
    }
    fleet
}

fn three() -> Fleet {
    fleet(&[
        (
            "eu",
            &[
                extension("p", "1.9.0", Some("1.10.0"), "deny"),
                extension("q", "2.0.0", None, "allow"),
            ],
        ),
        (
            "us",
            &[
                extension("p", "1.10.0", None, "allow"),
                extension("p", "1.9.0", Some("1.10.0"), "allow"),
            ],
        ),
        (
            "lab",
            &[extension("p", "1.9.0", Some("1.11.0-rc1"), "undecided")],
        ),
    ])
}

#[test]
fn clusters_are_the_worst_first_and_versions_the_highest_first() {
    let text = three().report().to_string();
    let expected = [
        "3 clusters: 5 extensions, 1 denied, 1 undecided, 3 not at the newest version",
        "cluster eu: 2 extensions, 1 denied, 1 not at the newest version",
        "cluster lab: 1 extension, 1 undecided, 1 not at the newest version",
        "cluster us: 2 extensions, 1 not at the newest version",
        "package p: 4 extensions, 1 denied, 1 undecided, 3 not at the newest version; the newest version is 1.11.0-rc1",
        "  1.10.0: 1 extension in us",
        "  1.9.0: 3 extensions, 1 denied, 1 undecided, 3 not at the newest version in eu, us, lab",
        "package q: 1 extension",
        "  2.0.0: 1 extension in eu",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn releases_are_compared_by_their_numbers() {
    let cluster = [
        extension("p", "1.0.0+9", Some("1.0.0+10"), "allow"),
        extension("p", "1.0.0+10", None, "allow"),
        extension("p", "1.0.0", Some("1.0.0+9"), "allow"),
    ];
    let text = fleet(&[("eu", &cluster)]).report().to_string();
    let lines: Vec<_> = text.lines().skip(2).collect();
    assert_eq!(
        lines,
        [
            "package p: 3 extensions, 2 not at the newest version; the newest version is 1.0.0+10",
            "  1.0.0+10: 1 extension in eu",
            "  1.0.0+9: 1 extension, 1 not at the newest version in eu",
            "  1.0.0: 1 extension, 1 not at the newest version in eu",
        ]
    );
}

/// With the override, the spec is allowed although the installed version is unknown.
#[test]
fn a_missing_fact_counts_also_if_the_verdict_does_not_need_it() {
    let mut bypassed = extension("p", "1.0.0", None, "allow");
    bypassed["installed"] = Value::Null;
    bypassed["findings"] = json!([{"id": "undecided"}, {"id": "bypass"}]);
    let report = fleet(&[("eu", &[bypassed])]).report();
    assert_eq!(report.counts().undecided, 1);
    let text = report.to_string();
    assert!(
        text.starts_with(
            "1 cluster: 1 extension, 1 undecided\ncluster eu: 1 extension, 1 undecided\n"
        ),
        "{text}"
    );
}

#[test]
fn of_many_clusters_a_line_names_the_first() {
    let extensions = [extension("p", "1.0.0", None, "allow")];
    let names: Vec<_> = (0..7).map(|n| format!("c{n}")).collect();
    let clusters: Vec<_> = names
        .iter()
        .map(|name| (&**name, &extensions[..]))
        .collect();
    let text = fleet(&clusters).report().to_string();
    let line = "  1.0.0: 7 extensions in c0, c1, c2, c3, c4 and 2 more\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn json_fits_its_schema() {
    let mut fleet = three();
    fleet.add_unread("gone", "no\nanswer");
    let printed = serde_json::to_value(fleet.report()).expect("string keys only");
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let generator = settings.into_generator();
    let schema = generator.into_root_schema_for::<FleetReport>();
    let fault = jsonschema::validate(&schema.to_value(), &printed).err();
    assert_eq!(fault.map(|fault| fault.to_string()), None, "{printed}");
    assert_eq!(
        printed["packages"][0]["versions"][1]["clusters"],
        json!(["eu", "us", "lab"])
    );
    assert_eq!(printed["clusters"][0]["findings"], json!({"behind": 1}));
    assert_eq!(
        printed["unread"],
        json!([{"name": "gone", "text": "no\\nanswer"}])
    );
}

#[test]
fn what_no_audit_wrote_is_refused_with_what_to_do() {
    #[track_caller]
    fn refuses(json: &str, expected: &str) {
        let found = ClusterAudit::read(json.as_bytes()).err();
        assert_eq!(
            found.map(|error| error.to_string()).as_deref(),
            Some(expected)
        );
    }
    refuses(
        r#"{"schema": "olmguard.audit/v0"}"#,
        "schema \"olmguard.audit/v0\": expected \"olmguard.audit/v1\"; run olmguard audit again",
    );
    refuses(
        "{}",
        "schema is missing: expected \"olmguard.audit/v1\"; run olmguard audit again",
    );
    refuses(
        r#"{"schema": "olmguard.audit/v1"}"#,
        "missing field `extensions` at line 1 column 31; expected the output of \"olmguard audit -o json\"",
    );
    let mut newer = extension("p", "1.0.0", None, "allow");
    newer["findings"] = json!([{"id": "haunted"}]);
    refuses(
        &String::from_utf8(audit(&[newer])).expect("UTF-8"),
        "unknown finding \"haunted\": use a newer olmguard, or run olmguard audit again with this one",
    );
}

#[test]
fn hostile_names_stay_in_their_place_in_each_form() {
    let hostile = "x\u{1b}[31m</td><script>\ncluster forged: 0 extensions";
    let fleet = || {
        let mut fleet = fleet(&[(
            hostile,
            &[extension(hostile, hostile, Some(hostile), "allow")],
        )]);
        fleet.add_unread(hostile, hostile);
        fleet.report()
    };
    let text = fleet().to_string();
    assert!(!text.contains('\u{1b}'), "{text:?}");
    assert!(
        !text.lines().any(|line| line.starts_with("cluster forged")),
        "{text}"
    );
    let html = fleet().document().to_html();
    assert!(
        !html.contains("x\u{1b}") && !html.contains("</td><script>"),
        "{html}"
    );
}

#[test]
fn a_page_has_the_versions_of_each_package_by_cluster_and_a_row_for_each_cluster() {
    let html = three().report().document().to_html();
    assert_eq!(html.matches("<tbody ").count(), 2 + 3);
    for part in [
        "<tbody data-state=\"bad\" data-findings=\"denied undecided not_at_the_newest_version\">",
        "<td class=\"fact\" data-head=\"us\">1.10.0, 1.9.0</td>",
        "<td class=\"fact\" data-head=\"lab\"></td>",
        "<dt>1.10.0</dt>\n<dd>1 extension in us</dd>",
        "<dt>behind</dt>\n<dd>1</dd>",
        "<span>not at the newest version</span>",
    ] {
        assert!(html.contains(part), "{part}\n{html}");
    }
}

/// A matrix of very many clusters would be too wide.
#[test]
fn of_very_many_clusters_none_has_a_column() {
    let names: Vec<_> = (0..61).map(|number| format!("c{number}")).collect();
    let one = [extension("p", "1.0.0", None, "allow")];
    let clusters: Vec<_> = names.iter().map(|name| (&**name, &one[..])).collect();
    let html = fleet(&clusters).report().document().to_html();
    assert!(!html.contains("data-head=\"c0\""), "{html}");
    assert!(html.contains("<dd>61 extensions in c0, c1, "), "{html}");
    assert!(html.contains("<caption>Packages: open a row "), "{html}");
}

/// A version from an audit in the same process equals the one in its JSON, without an additional escape.
#[test]
fn a_fleet_reads_the_same_labels_from_a_report_and_from_its_json() {
    let mut odd = object("odd", &asks(">=1.0.0"), "1.0.0");
    odd["status"]["install"]["bundle"]["version"] = json!("1.0\"0");
    let report = report(
        "a: 1.0.0; 1.1.0 replaces 1.0.0",
        &[odd, object("ext", &asks(">=1.0.0"), "1.0.0")],
        &[],
    );
    let json = serde_json::to_vec(&report).expect("string keys only");
    let read = ClusterAudit::read(&json).expect("an audit");
    let fleet = |audit: &ClusterAudit| {
        let mut fleet = Fleet::default();
        fleet.add("eu", audit);
        serde_json::to_string(&fleet.report()).expect("string keys only")
    };
    let text = fleet(&read);
    assert_eq!(fleet(&ClusterAudit::from(&report)), text);
    assert!(text.contains(r#"1.0\"0"#), "{text}");
}
