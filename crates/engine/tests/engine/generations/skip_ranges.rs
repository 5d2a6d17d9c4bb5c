//! "By only adding skipRange": the steps R1 to R8, and ranges on heads.

use super::drawn::{Drawn, row};

/// The channel after each step. A later entry of a version replaces an earlier one.
const STEPS: [&str; 8] = [
    "1.0.0",
    "1.1.0 replaces 1.0.0",
    "1.2.0 replaces 1.1.0",
    r"1.2.0 replaces 1.1.0 skipRange 1.0.0",
    "2.0.0 replaces 1.2.0",
    r"2.0.0 replaces 1.2.0 skipRange 1.0.0 || 1.1.0",
    "2.1.0 replaces 2.0.0",
    r"2.1.0 replaces 2.0.0 skipRange 1.2.0",
];

pub(crate) fn after(number: usize) -> Drawn {
    let mut entries: Vec<&str> = vec![];
    let version = |entry: &str| entry.split(' ').next().unwrap_or_default().to_owned();
    for step in &STEPS[..number] {
        entries.retain(|entry| version(entry) != version(step));
        entries.push(step);
    }
    Drawn::read(&format!("c: {}", entries.join("; ")))
}

#[test]
fn both_generations_agree_where_nothing_is_skipped() {
    for (id, step, installed, tried) in [
        ("R1", 1, "1.0.0", ""),
        ("R2", 2, "1.0.0", "1.1.0"),
        ("R3", 3, "1.0.0", "1.1.0"),
        ("R4", 4, "1.0.0", "1.2.0, 1.1.0"),
        ("R5", 5, "1.0.0", "1.2.0, 1.1.0"),
        ("R6", 6, "1.0.0", "2.0.0, 1.2.0, 1.1.0"),
        ("R7", 7, "1.0.0", "2.0.0, 1.2.0, 1.1.0"),
        ("R8", 8, "1.0.0", "2.0.0, 1.2.0, 1.1.0"),
        ("R8-1.1", 8, "1.1.0", "2.0.0, 1.2.0"),
        ("R8-1.2", 8, "1.2.0", "2.1.0, 2.0.0"),
    ] {
        let drawn = after(step);
        let classic = drawn.v0("c", installed).expect("a line");
        assert_eq!(classic.candidates, tried, "{id}: OLM v0");
        assert_eq!(drawn.v1(&[], installed), tried, "{id}: OLM v1");
    }
}

#[test]
fn a_blank_means_and() {
    let drawn = Drawn::read(r"c: 1.2.0 skipRange 1.0.0 1.1.0");
    for installed in ["1.0.0", "1.1.0"] {
        row("notation", &drawn, installed, ["", ""], "");
    }
}

#[test]
fn l_a_range_on_the_head() {
    let drawn = Drawn::read(r"c: 4.1.2 skipRange >=4.1.0 <4.1.2");
    for (id, installed, next) in [
        ("L1", "4.1.0", "4.1.2"),
        ("L1", "4.1.1", "4.1.2"),
        ("L2", "4.0.9", ""),
        ("L3", "4.1.2", ""),
    ] {
        row(id, &drawn, installed, [next, next], next);
    }
}

/// The upstream test gives all three the same version; here each has its own.
#[test]
fn l4_a_range_that_is_not_on_the_head() {
    let drawn = Drawn::read(
        r"c: 2.0.0 skipRange <1.0.0; 3.0.0 replaces 2.0.0 skipRange <1.0.0; 4.0.0 replaces 3.0.0 skipRange <1.0.0 !0.0.0",
    );
    row(
        "L4",
        &drawn,
        "0.0.0",
        ["3.0.0, 2.0.0", "3.0.0, 4.0.0"],
        "3.0.0, 2.0.0",
    );
}
