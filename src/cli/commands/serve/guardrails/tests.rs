use std::fs;
use std::path::Path;

use super::*;
use crate::telemetry::Metrics;
use olmguard_support::moved::Moved;

const RULES: &str = "\
schema: olmguard.guardrails.v1alpha1
package: lantern
rules:
- {id: slowly, kind: MaxMinorStep, step: 1}
";

fn guardrails(file: &Path, metrics: &Metrics) -> Guardrails {
    let args = GuardrailsArgs::from(vec![file.to_owned()]);
    Guardrails::read(args, Arc::clone(&metrics.guardrails), Arc::default()).expect("it can be read")
}

fn said(guardrails: &Guardrails) -> String {
    let check = guardrails.check().expect("there are some");
    let readiness = check.readiness();
    assert!(readiness.ok, "{readiness:?}");
    readiness.message
}

/// The value of the metric that says whether the files can be read.
fn is_readable(metrics: &Metrics) -> bool {
    metrics
        .render()
        .contains("\nolmguard_guardrail_files_readable 1\n")
}

#[tokio::test]
async fn a_file_that_is_gone_is_told_and_what_it_held_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("rules.yaml");
    fs::write(&file, RULES).expect("written");
    let metrics = Metrics::new();
    let mut guardrails = guardrails(&file, &metrics);
    assert_eq!(said(&guardrails), "1 read");
    assert!(is_readable(&metrics));

    fs::remove_file(&file).expect("removed");
    assert!(guardrails.look().await.is_continue());
    let expected = format!(
        "1 read; the files cannot be read now, so the last good rules stay in use: guardrails {}: \
         does not exist: expected a file, a directory, or \"-\" for standard input",
        file.display()
    );
    assert_eq!(said(&guardrails), expected);
    assert!(!is_readable(&metrics));
    assert_eq!(
        guardrails
            .store
            .current()
            .load()
            .guardrails
            .on("lantern")
            .count(),
        1
    );

    fs::write(&file, RULES).expect("written");
    assert!(guardrails.look().await.is_continue());
    assert_eq!(said(&guardrails), "1 read");
    assert!(is_readable(&metrics));
}

#[tokio::test]
async fn what_changes_is_judged_by_from_then_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("rules.yaml");
    fs::write(&file, RULES).expect("written");
    let metrics = Metrics::new();
    let mut guardrails = guardrails(&file, &metrics);
    fs::write(&file, RULES.replace("step: 1", "step: 0")).expect("written");
    assert!(guardrails.look().await.is_continue());
    assert_eq!(
        said(&guardrails),
        "0 read; 1 cannot be read and forbid upgrades; the first: rules.yaml:1: rules[0].step: expected a \
         whole number from 1, found integer"
    );
    let current = guardrails.store.current().load_full();
    let place = current.guardrails.iter().map(|by| &*by.place);
    assert_eq!(place.collect::<Vec<_>>(), ["rules.yaml:1"]);
}

#[tokio::test]
async fn every_metric_of_the_files_moves() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("rules.yaml");
    fs::write(&file, RULES).expect("written");
    let metrics = Metrics::new();
    let mut moved = Moved::default();
    let mut guardrails = guardrails(&file, &metrics);
    moved.look(&metrics.render());
    fs::write(&file, RULES.replace("step: 1", "step: 0")).expect("written");
    assert!(guardrails.look().await.is_continue());
    moved.look(&metrics.render());
    fs::remove_file(&file).expect("removed");
    assert!(guardrails.look().await.is_continue());
    moved.look(&metrics.render());
    let rows = include_str!("../../../../../tests/server/telemetry/moved/guardrails.txt");
    assert_eq!(moved.still(rows), [""; 0]);
}
