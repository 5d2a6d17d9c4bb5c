//! Tests of the flags that all evaluating commands share, as typed.

use clap::Parser;

use super::*;
use crate::cli::args::olm::AskedRelease;
use olmguard_catalog::olm::{OlmRelease, Rules};

#[derive(Debug, Parser)]
struct Probe {
    #[command(flatten)]
    common: CommonArgs,
}

fn parse(arguments: &[&str]) -> Result<CommonArgs, clap::Error> {
    let arguments = std::iter::once("probe").chain(arguments.iter().copied());
    Probe::try_parse_from(arguments).map(|probe| probe.common)
}

#[track_caller]
fn refused(arguments: &[&str], expected: &str) {
    let error = parse(arguments).unwrap_err();
    assert_eq!(error.exit_code(), 2, "{arguments:?}");
    assert!(
        error.to_string().contains(expected),
        "{arguments:?}: {error}"
    );
}

#[test]
fn a_catalog_splits_at_the_first_equals_sign() {
    let common = parse(&["--catalog", "a=/x=y,b=z", "--catalog=b=./c"]).unwrap();
    let read: Vec<_> = common
        .catalog
        .sources()
        .iter()
        .map(|catalog| {
            (
                catalog.name.as_str(),
                catalog.place.path().unwrap().to_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(read, [("a", "/x=y,b=z"), ("b", "./c")]);
}

#[test]
fn what_is_no_catalog_is_refused() {
    for (arguments, expected) in [
        (
            &["--catalog", "a"] as &[_],
            "\"a\" has no name: write NAME=PATH, for example hub=catalog.yaml",
        ),
        (&["--catalog", "=x"], "\"=x\" has an empty name"),
        (&["--catalog", "a="], "\"a=\" has an empty path"),
        (
            &["--catalog", "a=https://h.example/c.yaml"],
            "\"https://h.example/c.yaml\" has no digest: add #sha256=HEX to the URL, as sha256sum prints it",
        ),
        (
            &["--catalog", "a=h.example/c@sha256:00"],
            "\"h.example/c@sha256:00\" is an image: write it as oci:HOST/REPOSITORY:TAG",
        ),
        (
            &["--catalog", "a=oci:h.example/c"],
            "image \"h.example/c\" has neither a tag nor a digest: add one, for example :latest",
        ),
        (
            &["--catalog", "a=x", "--catalog", "a=y"],
            "catalog \"a\" is given twice: give each name once",
        ),
    ] {
        refused(arguments, expected);
    }
}

#[test]
fn an_unknown_release_or_gate_names_the_known() {
    refused(
        &["--olm-release", "0.9"],
        "unknown OLM release \"0.9\": expected 1.0 to",
    );
    let gates = parse(&["--olm-feature-gates", "BoxcutterRuntime=true,Nope=true"]);
    let error = gates
        .unwrap()
        .olm
        .request()
        .rules()
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with(
            "--olm-feature-gates: unknown feature gate \"Nope\" for OLM 1.11: expected one of"
        ),
        "{error}"
    );
}

#[test]
fn a_release_that_is_not_named_is_the_newest() {
    for arguments in [&[] as &[_], &["--olm-release=auto"]] {
        let common = parse(arguments).unwrap();
        assert_eq!(common.olm.olm_release, AskedRelease::Auto);
        assert_eq!(common.olm.request().rules().unwrap(), Rules::default());
        assert_eq!(
            common.olm.request().gates(OlmRelease::default()).unwrap(),
            None
        );
    }
}

#[test]
fn a_gate_of_any_release_will_do_where_the_release_is_found_out() {
    for (arguments, is_good) in [
        (
            &["--olm-feature-gates=ForceSemverUpgradeConstraints=true"] as &[_],
            true,
        ),
        (
            &[
                "--olm-feature-gates=ForceSemverUpgradeConstraints=true",
                "--olm-release=1.11",
            ],
            false,
        ),
        (&["--olm-feature-gates=Nope=true"], false),
    ] {
        let common = parse(arguments).unwrap();
        assert_eq!(
            common.olm.request().check().is_ok(),
            is_good,
            "{arguments:?}"
        );
    }
}

#[test]
fn the_rules_are_those_of_the_release_and_its_gates() {
    let common = parse(&[
        "--olm-release=1.9",
        "--olm-feature-gates=BundleReleaseSupport=1",
    ]);
    let rules = common.unwrap().olm.request().rules().unwrap();
    assert_eq!(rules.olm.name(), "1.9");
    assert_eq!(
        rules.release_key,
        olmguard_catalog::olm::ReleaseKey::Honoured
    );
}
