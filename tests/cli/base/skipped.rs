//! Templates and unfinished merges among the inputs, without a base.

use crate::check::scene::{CATALOG, extension, scene};

const CHART: &str = "\
{{- if .Values.enabled }}
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata:
  name: {{ include \"chart.name\" . }}
{{- end }}
";

#[test]
fn a_template_is_skipped_and_no_error() {
    let chart = format!(
        "{}---\n{CHART}---\n{{{{- end }}}}\n",
        extension("a", "1.1.0")
    );
    let scene = scene(&[("chart/x.yaml", &chart)]);
    let ran = scene.run(&["-f", "chart", CATALOG]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        ran.stdout,
        "chart/x.yaml:11:16: a: allow\n  resolves to lantern-operator.v1.1.0 1.1.0 of catalog hub \
         [Resolved]\n  installs 1.1.0 new: no installed version is known (use --base, --installed or \
         --snapshot)\nchart/x.yaml:13:1: skipped\n  a template; render it first, and check the \
         result (-f -)\nchart/x.yaml:20:1: skipped\n  a template; render it first, and check the result (-f -)\n\
         1 allowed; 2 templates skipped\n"
    );
    let (code, report) = scene.json(&["-f", "chart", CATALOG]);
    assert_eq!(code, 0);
    let why = "a template; render it first, and check the result (-f -)";
    let skipped = serde_json::json!([
        {"file": "chart/x.yaml", "document": 1, "line": 13, "column": 1, "why": why},
        {"file": "chart/x.yaml", "document": 2, "line": 20, "column": 1, "why": why}]);
    assert_eq!(report["skipped"], skipped);
    assert_eq!(report["summary"]["skipped"], 2);
    let quiet = scene.run(&["-f", "chart", CATALOG, "-q"]);
    assert_eq!((quiet.code, &*quiet.stdout), (0, ""));
}

#[test]
fn templates_alone_are_no_match() {
    let scene = scene(&[("x.yaml", CHART)]);
    let ran = scene.run(&["-f", "x.yaml", CATALOG, "--require-match"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(
        ran.stdout
            .ends_with("no extension found; 1 template skipped\n"),
        "{}",
        ran.stdout
    );
}

#[test]
fn where_nothing_is_skipped_nothing_is_said_of_it() {
    let scene = scene(&[("a.yaml", &extension("a", "1.1.0"))]);
    let (_, report) = scene.json(&["-f", "a.yaml", CATALOG]);
    for key in ["skipped", "base"] {
        assert!(report.get(key).is_none(), "{key}: {report}");
    }
    for key in ["skipped", "unchanged", "removed"] {
        assert!(report["summary"].get(key).is_none(), "{key}: {report}");
    }
    assert!(report["results"][0].get("base").is_none(), "{report}");
}

#[test]
fn an_unfinished_merge_is_an_input_that_cannot_be_read() {
    let text = extension("a", "1.1.0");
    let sides =
        "<<<<<<< HEAD\n      version: 1.2.0\n=======\n      version: 1.3.0\n>>>>>>> topic\n";
    let scene = scene(&[("a.yaml", &format!("{text}{sides}"))]);
    let ran = scene.run(&["-f", "a.yaml", CATALOG]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert_eq!(
        ran.stderr,
        "error: a.yaml:12:1: found the conflict marker \"<<<<<<<\" of a merge: expected one \
         of the two sides, so resolve the conflict\n"
    );
}
