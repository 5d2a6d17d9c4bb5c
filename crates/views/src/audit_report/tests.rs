use serde_json::{Value, json};

use super::*;
use olmguard_catalog::olm::Rules;
use olmguard_engine::audit::as_set_now;
use olmguard_engine::extension::{Extension, Shape};
use olmguard_engine::judge::{Basis, Policies, Requester, UpgradePolicies};
use olmguard_engine::snapshot::{CatalogState, Snapshot};
use olmguard_fixtures::question::content;
use olmguard_fixtures::written::written;
use olmguard_policy::UpgradePolicy;
use olmguard_report::{Finding, Severity};

const CHAIN: &str = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0";

/// An object as in a cluster, with its status.
pub(crate) fn object(name: &str, catalog: &Value, installed: &str) -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": {"name": name},
        "spec": {"namespace": "ns", "source": {"sourceType": "Catalog", "catalog": catalog}},
        "status": {"install": {"bundle": {"name": format!("P.v{installed}"), "version": installed}}},
    })
}

pub(crate) fn report(lines: &str, objects: &[Value], rules: &[Value]) -> AuditReport {
    let content = content(&written(lines).fbc(), &Rules::default());
    let snapshot = Snapshot::new(Rules::default(), [CatalogState::named("hub", content)]);
    let policies = rules.iter().map(|rules| {
        UpgradePolicy::read(&json!({
            "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy",
            "metadata": {"name": "nights"}, "spec": {"rules": rules},
        }))
    });
    let policies = Policies {
        upgrades: UpgradePolicies::of(policies),
        ..Policies::default()
    };
    let basis = Basis {
        snapshot: &snapshot,
        policies: &policies,
    };
    AuditReport::of(objects.iter().map(|object| {
        let extension = Extension::read(Shape::V1, object);
        let edit = as_set_now(&extension, Requester::unknown());
        ExtensionReport::of(&edit, &Audit::of(basis, &edit))
    }))
}

pub(crate) fn asks(range: &str) -> Value {
    json!({"packageName": "P", "version": range})
}

#[track_caller]
fn check(lines: &str, object: Value, expected: &[&str]) {
    let text = report(lines, &[object], &[]).to_string();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines, expected);
}

#[test]
fn what_is_installed_against_policies_names_their_rules() {
    let objects = [object("ext", &asks("1.2.0"), "1.2.0")];
    let rules = json!({"versions": {"allow": "<1.2.0", "deny": "1.2.0"}, "catalogs": ["x"]});
    let text = report(CHAIN, &objects, &[rules]).to_string();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "1 extension: 1 against policies",
            "ext (P): 1.2.0",
            "  against policy: the installed version violates upgrade policies: policy nights allows only <1.2.0, not \
             1.2.0; policy nights denies 1.2.0 (versions.deny: 1.2.0); policy nights does not allow catalog hub",
        ]
    );
}

#[test]
fn upgrades_that_end_before_a_bundle_name_it() {
    check(
        &format!("{CHAIN}\n(requires): 1.2.0 olm.csv.metadata"),
        object("ext", &asks(">=1.0.0"), "1.0.0"),
        &[
            "1 extension: 1 upgrades automatically",
            "ext (P): 1.0.0",
            "  moves: OLM upgrades automatically to 1.1.0; then it does not install 1.2.0",
            "  unbounded: the range has no upper bound",
        ],
    );
}

#[test]
fn what_closes_each_path_is_named() {
    let objects = [object("ext", &asks("1.0.0"), "1.0.0")];
    let line = |lines, rules: &[Value]| {
        let text = report(lines, &objects, rules).to_string();
        text.lines().last().map(str::to_owned)
    };
    let rules = json!({"versions": {"deny": ">1.0.0"}});
    assert_eq!(
        line(CHAIN, &[rules]).as_deref(),
        Some(
            "  path forbidden: guardrails or upgrade policies forbid each path to a newer version; the upgrade edges go \
             to 1.1.0, then 1.2.0"
        )
    );
    let lines = "a: 1.0.0; 1.1.0 replaces 1.0.0\n(requires): 1.1.0 olm.csv.metadata";
    assert_eq!(
        line(lines, &[]).as_deref(),
        Some(
            "  path not installable: the path goes to 1.1.0; OLM does not install 1.1.0, and there is no path around it"
        )
    );
}

#[test]
fn the_worst_comes_first() {
    let objects = [
        object("good", &asks("1.2.0"), "1.2.0"),
        object("behind", &asks("1.0.0"), "1.0.0"),
        object("denied", &asks("1.2.0"), "1.0.0"),
        object("moves", &asks("<1.2.0"), "1.0.0"),
    ];
    let report = report(CHAIN, &objects, &[]);
    let names: Vec<_> = report
        .extensions
        .iter()
        .map(|one| one.name.as_deref())
        .collect();
    let expected = ["denied", "moves", "behind", "good"].map(Some);
    assert_eq!(names, expected);
    assert_eq!(
        report.summary,
        [("behind", 3), ("moves", 1), ("unresolvable", 1)].into()
    );
    let counts = [Verdict::Allow, Verdict::Deny].map(|verdict| report.count(verdict));
    assert_eq!(counts, [3, 1]);
}

#[test]
fn the_text_names_what_moves_and_what_to_set() {
    check(
        CHAIN,
        object("ext", &asks(">=1.0.0"), "1.0.0"),
        &[
            "1 extension: 1 upgrades automatically",
            "ext (P): 1.0.0",
            "  moves: OLM upgrades automatically to 1.1.0, then 1.2.0",
            "  unbounded: the range has no upper bound",
        ],
    );
    check(
        "a: 1.0.0; 1.1.0 replaces 1.0.0; 2.0.0",
        object("ext", &asks("1.0.0"), "1.0.0"),
        &[
            "1 extension: 1 behind",
            "ext (P): 1.0.0",
            "  behind: 1.1.0 is reachable in 1 step: set the version to \"1.1.0\"; the newest version is 2.0.0",
        ],
    );
    check(
        "a: 1.0.0; 2.0.0",
        object("ext", &asks("1.0.0"), "1.0.0"),
        &[
            "1 extension: 1 stranded",
            "ext (P): 1.0.0",
            "  stranded: a newer version exists, up to 2.0.0, and there is no upgrade path to any of them",
        ],
    );
    check(
        "a: 1.0.0\nb: 1.0.0; 2.0.0 replaces 1.0.0",
        object(
            "ext",
            &json!({"packageName": "P", "version": "1.0.0", "channels": ["a"]}),
            "1.0.0",
        ),
        &[
            "1 extension, all with findings",
            "ext (P): 1.0.0",
            "  channel ends: the requested channels have no newer version; other channels have a path to 2.0.0",
        ],
    );
}

#[test]
fn the_bypass_says_whether_it_can_be_removed() {
    let bypass = |installed| {
        let catalog = json!({
            "packageName": "P", "version": "1.2.0", "upgradeConstraintPolicy": "SelfCertified",
        });
        report(CHAIN, &[object("ext", &catalog, installed)], &[])
    };
    let first = |installed| bypass(installed).extensions[0].findings[0].text.clone();
    assert_eq!(
        first("1.2.0"),
        "the override of the upgrade edges is set but not needed: remove it"
    );
    assert_eq!(
        first("1.0.0"),
        "the override of the upgrade edges is set; without it the spec is denied [NotASuccessor]"
    );
    // The path follows edges, but an edit with the override would not.
    let report = bypass("1.0.0");
    let last = report.extensions[0].findings.last().unwrap();
    assert_eq!(
        (last.id, last.text.as_str()),
        (
            "behind",
            "1.2.0 is reachable in 2 steps: remove the override and set the version to \">=1.0.0 <=1.2.0\""
        )
    );
    assert_eq!(
        json!(report.releases()),
        json!({"ext": {"releases": [{"version": "1.0.0"}]}})
    );
}

#[test]
fn a_window_is_named_in_text_and_in_json() {
    let windows =
        json!({"windows": [{"schedule": "0 22 * * *", "duration": "1h", "timeZone": "UTC"}]});
    let report = report(CHAIN, &[object("ext", &asks("1.1.0"), "1.1.0")], &[windows]);
    let text = &report.extensions[0].findings[0].text;
    assert_eq!(
        text,
        "1.2.0 is reachable in 1 step: set the version to \"1.2.0\"; a window of the upgrade policies opens at \
         1970-01-01T22:00:00Z"
    );
    let json = serde_json::to_value(&report).expect("string keys only");
    let next = &json["extensions"][0]["next"];
    assert_eq!(next["opens"], "1970-01-01T22:00:00Z");
    assert_eq!(next["path"][0]["version"], "1.2.0");
    assert_eq!(next["one_edit"], Value::Null);
}

#[test]
fn json_fits_its_schema() {
    let objects = [
        object("good", &asks("1.2.0"), "1.2.0"),
        object("moves", &asks(">=1.0.0"), "1.0.0"),
        object("denied", &asks("x..y"), "1.0.0"),
        json!({"kind": "ClusterExtension"}),
    ];
    let printed = serde_json::to_value(report(CHAIN, &objects, &[])).expect("string keys only");
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let schema = settings
        .into_generator()
        .into_root_schema_for::<AuditReport>();
    let fault = jsonschema::validate(&schema.to_value(), &printed).err();
    assert_eq!(fault.map(|fault| fault.to_string()), None, "{printed}");
}

/// Foreign names and messages become one printable line.
#[test]
fn hostile_names_stay_in_their_line() {
    let hostile = "ext\u{1b}[31m\n  moves: false";
    let report = report(CHAIN, &[object(hostile, &asks("1.2.0\u{7}"), "1.0.0")], &[]);
    let text = report.to_string();
    assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
    assert!(
        !text.lines().any(|line| line.starts_with("  moves: false")),
        "{text}"
    );
}

#[test]
fn the_policy_of_the_page_names_what_is_in_it() {
    let page = report(CHAIN, &[], &[]).document(Vec::new()).to_html();
    let between = |from: &str, to: &str| {
        let (_, rest) = page.split_once(from).expect(from);
        rest.split_once(to).expect(to).0
    };
    let digest = |text: &str| {
        let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
        let digest = base64_simd::STANDARD.encode_to_string(digest.as_ref());
        format!("&#39;sha256-{digest}&#39;")
    };
    let policy = between("Content-Security-Policy\" content=\"", "\"");
    let [script, style] = [
        between("<script>", "</script>"),
        between("<style>", "</style>"),
    ]
    .map(digest);
    assert_eq!(
        policy,
        format!(
            "default-src &#39;none&#39;; script-src {script}; style-src {style}; base-uri &#39;none&#39;; \
             form-action &#39;none&#39;"
        )
    );
}

#[test]
fn the_page_has_each_fact_and_what_could_not_be_read() {
    let objects = [
        object("moves", &asks(">=1.0.0"), "1.0.0"),
        object("behind", &asks("1.0.0"), "1.0.0"),
    ];
    let fault = Finding::of_run("olmguard audit", Severity::Error, "a.yaml: no");
    let page = report(CHAIN, &objects, &[]).document(vec![fault]).to_html();
    for part in [
        "<p id=\"result\">2 extensions: 1 upgrades automatically, 1 behind</p>",
        "<li>a.yaml: no</li>",
        "<li data-state=\"warn\">\n<b>1</b>\n<span>moves</span>",
        "<option value=\"moves\">moves</option>",
        "<tbody data-state=\"warn\" data-findings=\"moves unbounded\">",
        "<button type=\"button\" aria-expanded=\"true\">moves</button>",
        "<td class=\"fact\" data-head=\"Newest\">1.2.0</td>",
        "<td class=\"fact\" data-head=\"Set version to\">&gt;=1.0.0 &lt;=1.2.0</td>",
        "<dt>Automatic</dt>\n<dd>1.1.0 -&gt; 1.2.0</dd>",
        "<form id=\"filter\" role=\"search\" hidden=\"\">",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
}

/// Schema of the fields that olmguard writes. Other fields are not allowed here.
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

/// Returns the objects as printed, after checking them against the schema.
fn cluster_reports(report: &AuditReport) -> Vec<Value> {
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
    let reports = cluster_reports(&report(CHAIN, &objects, &[]));
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
    let reports = cluster_reports(&report(CHAIN, &objects, &[]));
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
    let reports = cluster_reports(&report(CHAIN, &[], &[]));
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0]["results"], json!([]));
}
