//! `opm validate` and lint on the same catalogs: what the one refuses the other finds, with its text.
//!
//! Each row of what opm refuses, the six graphs, whole catalogs, the examples, and 500 mutants of the
//! good catalog from a fixed seed. `OLMGUARD_OPM` names the program; without it all this is left out.
//!
//! Of opm's text every leaf must have a finding with that text, about that package. Where opm quotes a
//! parser of JSON or YAML, lint has no text: it must refuse the text too.
#![expect(
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may fail, and the counts are part of the result"
)]

mod mutants;
mod tree;

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::lint_rules::lint_rule;
use olmguard_views::lint::{LintFinding, lint, written};
use serde_json::Value;

use crate::rows::{ROWS, SIX};
use tree::{Leaf, leaves};

/// A catalog of one file.
struct Case {
    name: String,
    text: String,
}

/// How two programs agree on a catalog.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Outcome {
    BothPass,
    /// Each leaf of opm's text is that of a finding.
    SameTexts,
    /// opm's text is that of a parser, and lint refuses the text as well.
    BothRefuseToRead,
    OnlyOpm,
    OnlyLint,
    /// A leaf is that of no finding.
    OtherText,
}

#[test]
fn what_opm_refuses_is_found() {
    let Some(opm) = opm() else { return };
    let rows = ROWS.iter().map(|row| Case {
        name: row.name.to_owned(),
        text: row.catalog(),
    });
    let six = SIX.iter().map(|row| Case {
        name: row.name.to_owned(),
        text: row.catalog(),
    });
    let good = Case {
        name: "good".to_owned(),
        text: crate::rows::GOOD.to_owned(),
    };
    compare(
        "rows",
        &opm,
        &rows.chain(six).chain([good]).collect::<Vec<_>>(),
    );
}

#[test]
fn mutants() {
    let Some(opm) = opm() else { return };
    let cases: Vec<_> = (0..500)
        .map(|number| Case {
            name: format!("mutant {number}"),
            text: mutants::mutant(crate::rows::GOOD, number),
        })
        .collect();
    compare("mutants", &opm, &cases);
}

#[test]
fn whole_catalogs() {
    let (Some(opm), Some(shared)) = (opm(), olmguard_fixtures::shared::shared()) else {
        println!("left out: lint on whole catalogs, they or opm are not here");
        return;
    };
    let folder = shared.join("catalogs");
    let names = ["v4.16", "v4.17", "v4.18", "v4.19", "v4.20"];
    let cases: Vec<_> = names
        .iter()
        .map(|name| {
            let packed = fs::File::open(folder.join(format!("community-{name}.jsonl.zst")));
            let packed = packed.unwrap_or_else(|fault| panic!("{name}: {fault}"));
            let text = zstd::decode_all(packed).unwrap_or_else(|fault| panic!("{name}: {fault}"));
            let name = (*name).to_owned();
            let text = String::from_utf8_lossy(&text).into_owned();
            Case { name, text }
        })
        .collect();
    compare("whole catalogs", &opm, &cases);
}

#[test]
fn examples() {
    let Some(opm) = opm() else { return };
    let folder = Path::new(olmguard_fixtures::ROOT).join("examples");
    let mut cases = Vec::new();
    let mut folders: Vec<_> = fs::read_dir(folder)
        .unwrap_or_else(|fault| panic!("{fault}"))
        .flatten()
        .map(|entry| entry.path())
        .collect();
    folders.sort();
    for file in folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).into_iter().flatten())
        .flatten()
    {
        let text = fs::read_to_string(file.path()).unwrap_or_default();
        if text.contains("schema: olm.package") {
            let name = file.path().display().to_string();
            cases.push(Case { name, text });
        }
    }
    assert!(!cases.is_empty(), "no example has a catalog");
    compare("examples", &opm, &cases);
}

fn opm() -> Option<OsString> {
    let opm = std::env::var_os("OLMGUARD_OPM");
    if opm.is_none() {
        println!("left out: opm validate beside lint, OLMGUARD_OPM does not name the program");
    }
    opm
}

/// Asks both programs about each catalog; fails where they differ.
fn compare(what: &str, opm: &OsString, cases: &[Case]) {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let folder = tempfile::tempdir().unwrap_or_else(|fault| panic!("{fault}"));
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = ask_both(opm, folder.path(), case);
                    let mut outcomes = outcomes.lock().unwrap_or_else(|fault| panic!("{fault}"));
                    outcomes.push((outcome, &case.name));
                }
            });
        }
    });
    let mut outcomes = outcomes
        .into_inner()
        .unwrap_or_else(|fault| panic!("{fault}"));
    outcomes.sort_unstable_by(|((a, _), n), ((b, _), m)| (a, n).cmp(&(b, m)));
    let count = |outcome| {
        outcomes
            .iter()
            .filter(|((found, _), _)| *found == outcome)
            .count()
    };
    println!(
        "{what}: {} of {} compared; both pass {}, same texts {}, both refuse to read {}",
        outcomes.len(),
        cases.len(),
        count(Outcome::BothPass),
        count(Outcome::SameTexts),
        count(Outcome::BothRefuseToRead)
    );
    let differences: Vec<_> = outcomes
        .iter()
        .filter(|((outcome, _), _)| *outcome > Outcome::BothRefuseToRead)
        .map(|((outcome, said), name)| format!("{outcome:?}: {name}\n{said}"))
        .collect();
    let count = differences.len();
    assert!(
        count == 0,
        "{count} differences\n{}",
        differences.join("\n")
    );
}

fn ask_both(opm: &OsString, folder: &Path, case: &Case) -> (Outcome, String) {
    fs::write(folder.join("catalog.yaml"), &case.text).unwrap_or_else(|fault| panic!("{fault}"));
    // Two run at a time, each for milliseconds: threads of its own would only get in the way.
    let output = Command::new(opm)
        .env("GOMAXPROCS", "1")
        .args(["validate", "-o", "json"])
        .arg(folder)
        .output();
    let output = output.unwrap_or_else(|fault| panic!("opm: {fault}"));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let passed = result.get("passed").and_then(Value::as_bool);
    let passed = passed.unwrap_or_else(|| panic!("{}: opm said {output:?}", case.name));
    let text = result
        .pointer("/error/message")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let findings = lint(&[written("catalog.yaml", case.text.as_bytes())]);
    let opms: Vec<_> = findings
        .iter()
        .filter(|one| one.rule.family().is_opms())
        .collect();
    let outcome = outcome(passed, text, &opms);
    let found: Vec<_> = opms
        .iter()
        .map(|one| format!("  {}: {} ({:?})", one.rule, one.message, one.upstream))
        .collect();
    (outcome, format!("  opm: {text}\n{}", found.join("\n")))
}

fn outcome(passed: bool, text: &str, opms: &[&LintFinding]) -> Outcome {
    let leaves = leaves(text);
    let is_parsers = |leaf: &Leaf| PARSERS.iter().any(|said| leaf.text.contains(said));
    let refuses = |one: &&LintFinding| {
        matches!(one.rule.id(), "invalid-syntax" | "not-an-object") && one.upstream.is_none()
    };
    match (passed, opms) {
        (true, []) => Outcome::BothPass,
        (true, _) => Outcome::OnlyLint,
        (false, []) => Outcome::OnlyOpm,
        (false, all) if leaves.iter().all(|leaf| is_found(leaf, all)) => Outcome::SameTexts,
        (false, all) if leaves.iter().all(is_parsers) && all.iter().any(refuses) => {
            Outcome::BothRefuseToRead
        }
        (false, _) => Outcome::OtherText,
    }
}

/// Whether a finding has the text of a leaf, and is about its package.
fn is_found(leaf: &Leaf, findings: &[&LintFinding]) -> bool {
    let concerns = |one: &&&LintFinding| {
        let package = leaf.package.as_deref();
        package.is_none_or(|package| *one.package == *package)
    };
    let says = |one: &&LintFinding| {
        let own = one.upstream.as_deref();
        own.is_some_and(|said| leaf.text.contains(said)) || follows(leaf, one)
    };
    findings.iter().filter(concerns).any(says)
}

/// Of an entry without a bundle that is not in the last channel opm makes an empty bundle, and says of it
/// what such a one lacks.
fn follows(leaf: &Leaf, finding: &LintFinding) -> bool {
    finding.rule == lint_rule("entry-without-bundle")
        && OF_EMPTY_BUNDLES
            .iter()
            .any(|said| leaf.text.starts_with(said))
}

const OF_EMPTY_BUNDLES: [&str; 2] = [
    "bundle image must be set",
    "duplicate versions found in bundles: [{0.0.0: ",
];

/// What only parsers of JSON and YAML say.
const PARSERS: [&str; 5] = [
    "yaml: ",
    "error converting YAML to JSON",
    "invalid character",
    "unexpected end of JSON input",
    "json: ",
];
