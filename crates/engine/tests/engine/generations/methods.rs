//! The three methods, and the example of v3 that skips v2.

use super::drawn::{Drawn, row};

#[test]
fn m1_replaces_of_what_is_not_in_the_catalog() {
    let drawn = Drawn::read("c: 1.0.1 replaces 1.0.0");
    row("M1", &drawn, "1.0.0", ["1.0.1", "1.0.1"], "1.0.1");
    row("M1b", &drawn, "1.0.1", ["", ""], "");
}

#[test]
fn m2_a_chain() {
    let drawn = Drawn::read("c: 1.0.2 replaces 1.0.1; 1.0.1 replaces 1.0.0; 1.0.0");
    row("M2", &drawn, "1.0.0", ["1.0.1", "1.0.1, 1.0.2"], "1.0.1");
}

#[test]
fn m3_skips() {
    let drawn = Drawn::read("c: 1.0.3 replaces 1.0.0 skips 1.0.1,1.0.2");
    for installed in ["1.0.0", "1.0.1", "1.0.2"] {
        row("M3", &drawn, installed, ["1.0.3", "1.0.3"], "1.0.3");
    }
}

#[test]
fn m4_skip_range() {
    let drawn = Drawn::read(r"c: 1.0.3 skipRange >=1.0.0 <1.0.3");
    for (id, installed, next) in [
        ("M4", "1.0.0", "1.0.3"),
        ("M4", "1.0.1", "1.0.3"),
        ("M4", "1.0.2", "1.0.3"),
        ("M4b", "0.9.9", ""),
        ("M4c", "1.0.3-rc.1", "1.0.3"),
        ("M4d", "1.0.0-rc.1", ""),
    ] {
        row(id, &drawn, installed, [next, next], next);
    }
}

#[test]
fn x_v3_skips_v2_which_ranges_over_v1() {
    let drawn = Drawn::read(r"c: 3.0.0 skips 2.0.0; 2.0.0 skipRange >=1.0.0 <2.0.0");
    row("X1", &drawn, "1.0.0", ["", ""], "2.0.0");
    row("X1", &drawn, "1.9.9", ["", ""], "2.0.0");
    row("X2", &drawn, "2.0.0", ["3.0.0", "3.0.0"], "3.0.0");
    row("X3", &drawn, "3.0.0", ["", ""], "");
}
