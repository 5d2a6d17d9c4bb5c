//! Fields that OLM v1 does not have are reported with their places, and with the intended field if it is known.

use crate::check::scene::{CATALOG, Ran, asking, extension, scene};

#[track_caller]
fn runs(text: &str, more: &[&str]) -> Ran {
    let scene = scene(&[("a.yaml", text)]);
    scene.run(&[&["-f", "a.yaml", CATALOG], more].concat())
}

/// Returns an extension with these lines below `spec`.
fn with_spec(lines: &str) -> String {
    extension("tower", "1.1.0").replace("spec:\n", &format!("spec:\n{lines}"))
}

/// Checks that the edit is allowed with exactly these warnings.
#[track_caller]
fn warns(text: &str, more: &[&str], warnings: &[&str]) {
    let ran = runs(text, more);
    let found: Vec<_> = ran
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("  warning: "))
        .collect();
    assert_eq!(found, warnings, "{text}");
    assert_eq!(ran.code, 0, "{ran:?}");
    let strict = runs(text, &[more, &["--warn-as-error"]].concat());
    assert_eq!(strict.code, i32::from(!warnings.is_empty()), "{text}");
}

#[test]
fn a_field_of_another_api_has_its_place_here() {
    for (lines, warning) in [
        (
            "  watchNamespace: foo\n",
            "6:19: spec.watchNamespace is not a field of this API version; did you mean spec.config.inline.watchNamespace?",
        ),
        (
            "  installPlanApproval: Manual\n",
            "6:24: spec.installPlanApproval is of OLM v0: in v1, pin spec.source.catalog.version to approve upgrades",
        ),
        (
            "  startingCSV: lantern-operator.v1.1.0\n",
            "6:16: spec.startingCSV is of OLM v0: in v1, set spec.source.catalog.version",
        ),
        (
            "  sourceNamespace: olm\n",
            "6:20: spec.sourceNamespace is of OLM v0: in v1, catalogs have no namespace; use spec.source.catalog.selector",
        ),
        (
            "  channel: stable\n",
            "6:12: spec.channel is not a field of this API version; did you mean spec.source.catalog.channels?",
        ),
        (
            "  targetNamespaces: [a]\n",
            "6:21: spec.targetNamespaces is not a field of this API version; did you mean spec.config.inline.watchNamespace?",
        ),
        (
            "  zebra: 1\n",
            "6:10: spec.zebra is not a field of this API version: the API server drops or refuses it",
        ),
        (
            "  serviceAccount: {name: x, namespace: y}\n",
            "6:40: spec.serviceAccount.namespace is not a field of this API version; did you mean spec.namespace?",
        ),
        (
            "  install: {preflight: {crdUpgradeSafety: {enforcement: None, policy: Disabled}}}\n",
            "6:71: spec.install.preflight.crdUpgradeSafety.policy is not a field of this API version; did you mean \
             enforcement?",
        ),
    ] {
        warns(&with_spec(lines), &[], &[warning]);
    }
    warns(
        &asking("tower", "catalogFilter: custom"),
        &[],
        &[
            "11:22: spec.source.catalog.catalogFilter is not a field of this API version; did you mean spec.source.catalog.selector?",
        ],
    );
    warns(
        &format!("{}specs: {{}}\n", extension("tower", "1.1.0")),
        &[],
        &["12:8: specs is not a field of this API version; did you mean spec?"],
    );
    warns(
        &extension("tower", "1.1.0")
            .replace("  name: tower\n", "  name: tower\n  lables: {a: b}\n"),
        &[],
        &[
            "5:11: metadata.lables is not a field of this API version; did you mean metadata.labels?",
        ],
    );
}

#[test]
fn the_first_five_are_named() {
    let lines: Vec<_> = (0..9).map(|at| format!("  zebra{at}: 1\n")).collect();
    let ran = runs(&with_spec(&lines.concat()), &[]);
    assert_eq!(ran.stdout.matches("warning: ").count(), 5, "{ran:?}");
}

#[test]
fn fields_of_the_experimental_crd_depend_on_the_release() {
    let serviced = |lines| with_spec(&format!("  serviceAccount: {{name: x}}\n{lines}"));
    let config = "  config: {configType: Inline, inline: {watchNamespace: lantern}}\n";
    let only = "6:11: spec.config is in the experimental CRD of OLM 1.11 only: the standard CRD drops or refuses it";
    warns(&with_spec(config), &["--olm-release=1.11"], &[only]);
    warns(&serviced(config), &["--olm-release=1.8"], &[]);
    let none = "spec.config is not a field of this API version: the API server drops or refuses it";
    warns(
        &serviced(config),
        &["--olm-release=1.4"],
        &[&format!("7:11: {none}")],
    );
    let deadline = "  progressDeadlineMinutes: 30\n";
    let only = "6:28: spec.progressDeadlineMinutes is in the experimental CRD of OLM 1.11 only: the standard CRD drops or refuses it";
    warns(&with_spec(deadline), &[], &[only]);
    let direct = "  config: {configType: Inline, inline: {a: b}, env: []}\n";
    let ran = runs(&with_spec(direct), &[]);
    let expected = "6:53: spec.config.env is not a field of this API version; did you mean spec.config.inline.deploymentConfig.env?";
    assert!(ran.stdout.contains(expected), "{ran:?}");
}

#[test]
fn the_shape_of_v0_15_is_refused_and_its_fields_are_moved() {
    let text = "apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nmetadata: {name: tower}\nspec:\n  \
        source: {sourceType: Catalog, catalog: {packageName: lantern-operator, channels: [stable]}}\n  \
        install:\n    namespace: lantern\n    serviceAccount: {name: installer}\n";
    let ran = runs(text, &[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for expected in [
        "spec.namespace: Required value",
        "  warning: 7:16: spec.install.namespace is not a field of this API version; did you mean spec.namespace?\n",
        "  warning: 8:21: spec.install.serviceAccount is not a field of this API version; did you mean spec.serviceAccount?\n",
    ] {
        assert!(ran.stdout.contains(expected), "{expected}: {ran:?}");
    }
}

#[test]
fn a_version_that_yaml_reads_as_a_number_is_to_be_quoted() {
    let ran = runs(&asking("tower", "version: 1.10"), &[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let expected = "spec.source.catalog.version: expected string, found number; put it in quotes to \
                    make it a string: \"1.10\" [InvalidSpec]";
    assert!(ran.stdout.contains(expected), "{ran:?}");
    let ran = runs(&asking("tower", "channels: [4.20]"), &[]);
    let expected = "spec.source.catalog.channels[0]: expected string, found number; put it in quotes to \
                    make it a string: \"4.20\" [InvalidSpec]";
    assert!(ran.stdout.contains(expected), "{ran:?}");
}
