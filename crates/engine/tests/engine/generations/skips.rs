//! "By only adding skips": the steps S1 to S9.

use super::drawn::{Drawn, row};

/// The channel after each step. An entry of a later step replaces an earlier entry of the same version.
const STEPS: [&str; 9] = [
    "1.0.0",
    "1.1.0 replaces 1.0.0",
    "1.2.0 replaces 1.1.0",
    "1.2.0 replaces 1.1.0 skips 1.0.0",
    "2.0.0 replaces 1.2.0",
    "2.0.0 replaces 1.2.0 skips 1.0.0,1.1.0",
    "2.1.0 replaces 2.0.0",
    "2.1.0 replaces 2.0.0 skips 1.2.0",
    "2.2.0 replaces 2.1.0 skips 2.0.0",
];

/// The channel after step `number`, with and without 1.0.0 itself.
pub(crate) fn after(number: usize, with_first: bool) -> Drawn {
    let mut entries: Vec<&str> = vec![];
    let version = |entry: &str| entry.split(' ').next().unwrap_or_default().to_owned();
    for step in &STEPS[..number] {
        entries.retain(|entry| version(entry) != version(step));
        entries.push(step);
    }
    if !with_first && entries.len() > 1 {
        entries.retain(|entry| *entry != "1.0.0");
    }
    Drawn::read(&format!("c: {}", entries.join("; ")))
}

#[test]
fn from_the_first_version() {
    for (step, tried, path, v1) in [
        (1, "", "", ""),
        (2, "1.1.0", "1.1.0", "1.1.0"),
        (3, "1.1.0", "1.1.0, 1.2.0", "1.1.0"),
        (4, "1.2.0, 1.1.0", "1.2.0", "1.2.0, 1.1.0"),
        (5, "1.2.0, 1.1.0", "1.2.0, 2.0.0", "1.2.0, 1.1.0"),
        (6, "2.0.0, 1.2.0", "2.0.0", "2.0.0, 1.2.0, 1.1.0"),
        (7, "2.0.0, 1.2.0", "2.0.0, 2.1.0", "2.0.0, 1.2.0, 1.1.0"),
        (8, "2.0.0", "2.0.0, 2.1.0", "2.0.0, 1.2.0, 1.1.0"),
        (9, "", "", "2.0.0, 1.2.0, 1.1.0"),
    ] {
        for with_first in [true, false] {
            let drawn = after(step, with_first);
            row(&format!("S{step}"), &drawn, "1.0.0", [tried, path], v1);
        }
    }
}

#[test]
fn from_other_versions() {
    for (id, step, installed, tried, v1) in [
        ("S6-1.1", 6, "1.1.0", "2.0.0, 1.2.0", "2.0.0, 1.2.0"),
        ("S8-1.2", 8, "1.2.0", "2.1.0, 2.0.0", "2.1.0, 2.0.0"),
        ("S9-1.1", 9, "1.1.0", "", "2.0.0, 1.2.0"),
        ("S9-1.2", 9, "1.2.0", "2.1.0", "2.1.0, 2.0.0"),
        ("S9-2", 9, "2.0.0", "2.2.0, 2.1.0", "2.2.0, 2.1.0"),
        ("S9-2.1", 9, "2.1.0", "2.2.0", "2.2.0"),
    ] {
        let drawn = after(step, true);
        let classic = drawn.v0("c", installed).expect("a line");
        assert_eq!(classic.candidates, tried, "{id}: OLM v0");
        assert_eq!(drawn.v1(&[], installed), v1, "{id}: OLM v1");
    }
}

#[test]
fn cut_off_in_v0_only() {
    let drawn = after(9, true);
    assert_eq!(
        drawn.v1_pick(&[], "", "1.0.0"),
        "2.0.0",
        "S9: the first step of OLM v1"
    );
    assert_eq!(
        drawn.v1_pick(&[], "", "2.0.0"),
        "2.2.0",
        "S9: and the second"
    );
}
