//! `opm validate` and lint on the same catalogs: lint finds what opm refuses, with opm's text.
//!
//! The catalogs: each row of faults that opm refuses, the six graphs, whole catalogs, the examples, and 500 mutants of
//! the good catalog from a fixed seed. `OLMGUARD_OPM` names the program. Without it the tests are skipped.
//!
//! Every leaf of opm's text must have a finding with that text, about that package. If opm quotes a
//! parser of JSON or YAML, lint has no text, but must refuse the catalog too.

#![expect(
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may fail, and the counts are part of the result"
)]

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use fastrand::Rng;
use olmguard_views::lint::{Family, LintFinding, lint, written};
use serde_json::Value;

use crate::lint_rules::lint_rule;
use crate::rows::{ROWS, SIX};

/// A catalog of one file.
struct Case {
    name: String,
    text: String,
}

/// The agreement of two programs on a catalog.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Outcome {
    BothPass,
    /// Each leaf of opm's text is the text of a finding.
    SameTexts,
    /// opm's text is from a parser, and lint refuses the catalog as well.
    BothRefuseToRead,
    OnlyOpm,
    OnlyLint,
    /// A leaf is not the text of any finding.
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
            text: mutant(crate::rows::GOOD, number),
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

/// Runs both programs on each catalog, and fails if they differ.
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
    // Two run at a time, each for milliseconds. Threads of opm would only slow them down.
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
        .filter(|one| one.rule.family() != Family::Users)
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

/// For an entry without a bundle in any channel but the last, opm creates an empty bundle, and reports what this
/// bundle does not have.
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

/// Texts that only parsers of JSON and YAML produce.
const PARSERS: [&str; 5] = [
    "yaml: ",
    "error converting YAML to JSON",
    "invalid character",
    "unexpected end of JSON input",
    "json: ",
];

// === Catalogs made from a good one by changing a few lines or documents at random ===

/// Returns the mutant of this number. The same number gives the same mutant.
pub(crate) fn mutant(good: &str, number: u64) -> String {
    let mut random = Rng::with_seed(number);
    let mut text = good.to_owned();
    for _ in 0..random.usize(1..=3) {
        text = if random.u8(0..4) == 0 {
            mutate_document(&text, &mut random)
        } else {
            mutate_line(&text, &mut random)
        };
    }
    text
}

fn mutate_document(text: &str, random: &mut Rng) -> String {
    let mut documents: Vec<_> = text.split("---\n").collect();
    let (at, other) = (
        random.usize(..documents.len()),
        random.usize(..documents.len()),
    );
    match random.u8(0..3) {
        0 if documents.len() > 1 => drop(documents.remove(at)),
        1 => documents.insert(other, documents[at]),
        _ => documents.swap(at, other),
    }
    documents.join("---\n")
}

fn mutate_line(text: &str, random: &mut Rng) -> String {
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let (at, other) = (random.usize(..lines.len()), random.usize(..lines.len()));
    match random.u8(0..8) {
        0 if lines.len() > 1 => drop(lines.remove(at)),
        1 => lines.insert(other, lines[at].clone()),
        2 | 3 => {
            // Replace the value with the one from another line with the same key.
            let key = key(&lines[at]).map(str::to_owned);
            let same: Vec<_> = lines
                .iter()
                .filter(|line| key.is_some() && self::key(line) == key.as_deref())
                .cloned()
                .collect();
            let taken = same
                .get(random.usize(..same.len().max(1)))
                .and_then(|line| line.split_once(": "));
            if let (Some((_, value)), Some((key, _))) = (taken, lines[at].split_once(": ")) {
                lines[at] = format!("{key}: {value}");
            }
        }
        4 | 5 => {
            if let Some((key, _)) = lines[at].split_once(": ") {
                lines[at] = format!("{key}: {}", VALUES[random.usize(..VALUES.len())]);
            }
        }
        6 => {
            let edge = EDGES[random.usize(..EDGES.len())];
            let entries: Vec<_> = (0..lines.len())
                .filter(|line| lines[*line].starts_with("  - name: "))
                .collect();
            if !entries.is_empty() {
                let entry = entries[random.usize(..entries.len())];
                lines.insert(entry + 1, format!("    {edge}"));
            }
        }
        _ => {
            let line = &lines[at];
            lines[at] = match line.split_once(": ") {
                Some((key, value)) => format!("{}: {value}", key.to_uppercase()),
                None => format!("{line} "),
            };
        }
    }
    lines.join("\n") + "\n"
}

fn key(line: &str) -> Option<&str> {
    line.split_once(": ")
        .map(|(key, _)| key.trim_start_matches([' ', '-']))
}

const VALUES: [&str; 22] = [
    "''",
    "1",
    "1.5",
    "true",
    "[]",
    "{}",
    "null",
    "[a, b]",
    "v1.0.0",
    "1.0",
    "1.0.0-rc.1",
    "1.0.0+build",
    "lantern",
    "wick",
    "lantern.v1.0.0",
    "lantern.v1.1.0",
    "lantern.v1.2.0",
    "stable",
    "'>=1.0.0'",
    ">=1.0.0",
    "olm.channel",
    "olm.bundle",
];

const EDGES: [&str; 10] = [
    "replaces: lantern.v1.0.0",
    "replaces: lantern.v1.2.0",
    "skips: [lantern.v1.0.0]",
    "skips: [lantern.v1.1.0]",
    "skips: [lantern.v1.2.0, '']",
    "skips: lantern.v1.0.0",
    "skipRange: '<1.2.0'",
    "skipRange: 'v1.0.0'",
    "skipRange: '1.0.0 || || 2.0.0'",
    "skipRange: ''",
];

// === The output of `opm validate`, leaf by leaf ===
//
// ```text
// invalid index:
// └── invalid package "foo":
//     ├── default channel must be set
//     └── invalid channel "stable":
//         └── no channel head found in graph
// ```

/// A fault that opm found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Leaf {
    /// Text of the fault.
    pub(crate) text: String,
    /// Package of the fault, if the tree names it.
    pub(crate) package: Option<String>,
}

/// Returns the leaves of a tree. A text that is not a tree is a single leaf.
pub(crate) fn leaves(text: &str) -> Vec<Leaf> {
    if !text.starts_with(ROOT) {
        let text = text.to_owned();
        return vec![Leaf {
            text,
            package: None,
        }];
    }
    let lines: Vec<_> = text.lines().map(depth_and_text).collect();
    let mut found = Vec::new();
    let mut package = None;
    for (at, (depth, line)) in lines.iter().enumerate() {
        if *depth == 1 {
            let named = line.strip_prefix("invalid package ");
            package = named.map(|name| name.trim_end_matches(':').trim_matches('"').to_owned());
        }
        let next = lines.get(at + 1).map_or(0, |(depth, _)| *depth);
        if next <= *depth {
            found.push(Leaf {
                text: (*line).to_owned(),
                package: package.clone(),
            });
        }
    }
    found
}

/// Returns the depth and the text of a line.
fn depth_and_text(line: &str) -> (usize, &str) {
    let mut rest = line;
    let mut depth = 0;
    while let Some(deeper) = BRANCHES.iter().find_map(|branch| rest.strip_prefix(branch)) {
        rest = deeper;
        depth += 1;
    }
    (depth, rest)
}

const ROOT: &str = "invalid index:";
const BRANCHES: [&str; 4] = ["├── ", "└── ", "│   ", "    "];

#[test]
fn the_leaves_of_a_tree() {
    let text = "invalid index:\n├── invalid package \"foo\":\n│   ├── default channel must be set\n\
                │   └── invalid channel \"c\":\n│       └── no channel head found in graph\n\
                └── invalid package \"bar\":\n    └── default channel must be set";
    let leaf = |text: &str, package: &str| Leaf {
        text: text.to_owned(),
        package: Some(package.to_owned()),
    };
    let expected = [
        leaf("default channel must be set", "foo"),
        leaf("no channel head found in graph", "foo"),
        leaf("default channel must be set", "bar"),
    ];
    assert_eq!(leaves(text), expected);
    let plain = "config contains package with no name";
    assert_eq!(leaves(plain).len(), 1);
    assert_eq!(leaves("a\nb").len(), 1, "a text of several lines");
}
