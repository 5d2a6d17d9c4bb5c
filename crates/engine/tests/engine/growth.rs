//! The cost of an answer does not grow with its package. It is counted in instructions, not in time.
//!
//! valgrind counts the instructions of this program, which is run again with one of its tests. Without valgrind, these
//! tests are skipped.

use std::env;
use std::fmt::Debug;
use std::process::Command;

use olmguard_fixtures::growth::{Growth, GrowthQuestion, Reach};

/// Every question is answered correctly. The variable sets how often and at which size, and can name one question.
#[test]
fn asks_as_told() {
    let told = env::var(TOLD).unwrap_or_else(|_| "2 60".to_owned());
    let mut words = told.split(' ');
    let mut next = || words.next();
    let times: usize = next()
        .and_then(|word| word.parse().ok())
        .expect("how often");
    let size = next().and_then(|word| word.parse().ok()).expect("a size");
    let only = [next(), next()];
    let is_asked =
        |one: &dyn Debug, named: Option<&str>| named.is_none_or(|name| format!("{one:?}") == name);
    let mut asked = 0;
    let reaches = Reach::ALL.into_iter();
    for reach in reaches.filter(|reach| is_asked(reach, only[1])) {
        let world = Growth::of(size, reach);
        let questions = GrowthQuestion::ALL.into_iter();
        for question in questions.filter(|question| is_asked(question, only[0])) {
            (0..times).for_each(|_| world.ask_right(question, reach));
            asked += times;
        }
    }
    assert!(asked > 0, "no such question: {told}");
}

#[test]
fn an_answer_costs_no_more_in_a_larger_package() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("left out: the cost of an answer, there is no valgrind");
        return;
    }
    for (question, reach, [small, large], most) in BOUNDS {
        let [before, after] = [small, large].map(|size| each(question, reach, size));
        let counted = format!(
            "{question:?} {reach:?}: {before} instructions of {small} bundles, {after} of {large}"
        );
        println!("{counted}");
        let is_flat = after.saturating_mul(10) <= before.saturating_mul(most);
        assert!(is_flat, "{counted}");
    }
}

/// The cost of one answer, without the first answers and the preparation.
fn each(question: GrowthQuestion, reach: Reach, size: usize) -> u64 {
    let told = |times| format!("{times} {size} {question:?} {reach:?}");
    let [few, more] = [1, 3].map(|times| instructions(&told(times)));
    assert!(more > few, "nothing was asked: {}", told(1));
    (more - few) / 2
}

fn instructions(told: &str) -> u64 {
    let this = env::current_exe().expect("this program");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=cachegrind", "--cache-sim=no"]);
    valgrind.arg("--cachegrind-out-file=/dev/null").arg(this);
    valgrind.args(["--exact", "growth::asks_as_told", "--test-threads=1"]);
    let output = valgrind.env(TOLD, told).output().expect("valgrind runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let line = said
        .lines()
        .find(|line| line.contains("I   refs:") || line.contains("I refs:"));
    let digits = line
        .and_then(|line| line.rsplit(':').next())
        .expect("a count");
    digits.trim().replace(',', "").parse().expect("a number")
}

/// The question, its two sizes, and the allowed cost of the larger one in tenths of the smaller one's. A search for a
/// path grows until its budget ends it.
const BOUNDS: [(GrowthQuestion, Reach, [usize; 2], u64); 7] = [
    (GrowthQuestion::Allowed, Reach::Near, [500, 4_000], 15),
    (GrowthQuestion::Allowed, Reach::All, [500, 4_000], 15),
    (GrowthQuestion::Jump, Reach::All, [500, 4_000], 15),
    (GrowthQuestion::NoPackage, Reach::Near, [500, 4_000], 15),
    (GrowthQuestion::NoVersion, Reach::Near, [4_000, 8_000], 20),
    (GrowthQuestion::Downgrade, Reach::Near, [4_000, 8_000], 20),
    (GrowthQuestion::Jump, Reach::Near, [4_000, 8_000], 20),
];

const TOLD: &str = "OLMGUARD_TEST_GROWTH";
