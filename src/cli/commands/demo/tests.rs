//! The demo from its first case to its last, over real sockets.

use std::borrow::Cow;

use super::{Afterwards, Sample, play};

#[track_caller]
fn transcript(sample: &Sample) -> String {
    let mut out = Vec::new();
    play(sample, Afterwards::End, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// What is printed of one case.
fn case(transcript: &str, number: usize) -> &str {
    let from = transcript.find(&format!("{number}. ")).unwrap();
    let rest = &transcript[from..];
    let end = rest.find("\n\n").unwrap_or(rest.len());
    &rest[..end]
}

/// The sample with one piece of its main catalog written otherwise.
#[track_caller]
fn with_edge(from: &str, to: &str) -> Sample {
    let built_in = Sample::built_in();
    let text = std::str::from_utf8(&built_in.lighthouse).unwrap();
    assert_eq!(text.matches(from).count(), 1, "{from}");
    Sample {
        lighthouse: Cow::Owned(text.replace(from, to).into_bytes()),
        ..built_in
    }
}

#[test]
fn the_demo_tells_this() {
    let told = transcript(&Sample::built_in());
    assert_eq!(told, include_str!("transcript.txt"), "{told}");
}

#[test]
fn another_edge_is_another_answer() {
    let told = transcript(&Sample::built_in());
    assert!(case(&told, 2).contains("[NotASuccessor]"), "{told}");

    let sample = with_edge(
        "v2.0.0\n    replaces: harbor-lights-operator.v1.4.3",
        "v2.0.0\n    replaces: harbor-lights-operator.v1.1.0",
    );
    let changed = transcript(&sample);
    let patched = "clusterextension.olm.operatorframework.io/harbor-lights patched";
    assert!(case(&changed, 2).ends_with(patched), "{changed}");
    assert_eq!(case(&told, 1), case(&changed, 1));
}

#[test]
fn the_sample_is_a_believable_package() {
    let snapshot = Sample::built_in().snapshot(olmguard_catalog::olm::Rules::default());
    let catalog = snapshot.catalog("lighthouse").unwrap().loaded().unwrap();
    let package = catalog.package("harbor-lights-operator").unwrap().unwrap();
    assert_eq!(package.bundles().count(), 26);
    let channels: Vec<_> = package
        .channels()
        .iter()
        .map(|channel| &*channel.name)
        .collect();
    assert_eq!(channels, ["candidate", "stable-v1", "stable-v2"]);
    let deprecated = package
        .bundles()
        .filter(|(_, bundle)| bundle.deprecated.is_some());
    assert_eq!(deprecated.count(), 2);
    let faults = catalog
        .package_names()
        .filter(|name| catalog.package(name).unwrap().is_err());
    assert_eq!(faults.count(), 0);
}

#[test]
fn lint_has_nothing_against_the_sample_but_what_its_comment_defends() {
    let sample = Sample::built_in();
    let catalog = olmguard_views::lint::written("lighthouse.yaml", &sample.lighthouse);
    let mut findings = olmguard_views::lint::lint(&[catalog]);
    findings.retain(|finding| finding.severity > olmguard_views::lint::Severity::Note);
    let said: Vec<_> = findings
        .iter()
        .map(|finding| format!("{}: {}", finding.rule, finding.message))
        .collect();
    let crosses = |channel: &str, edges: &str| {
        format!(
            "major-edge: channel {channel:?} has upgrades between incompatible versions: {edges}"
        )
    };
    assert_eq!(
        said,
        [
            crosses(
                "stable-v2",
                "from \"harbor-lights-operator.v1.4.3\" to \"harbor-lights-operator.v2.0.0\""
            ),
            crosses(
                "candidate",
                "from \"harbor-lights-operator.v2.4.0-rc.2\" to \"harbor-lights-operator.v3.0.0-alpha.1\""
            ),
            crosses(
                "stable",
                "from \"foghorn-operator.v0.8.0\" to \"foghorn-operator.v0.9.0\""
            ),
        ]
    );
}
