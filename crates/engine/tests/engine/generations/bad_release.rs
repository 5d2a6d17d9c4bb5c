//! A bad release that is skipped, and z-streams.

use super::drawn::{Drawn, row};

const OLD: &str = "c: 0.6.1; 0.9.0 replaces 0.6.1; 0.9.1 replaces 0.9.0; 0.9.2 replaces 0.9.1";
const KEPT: &str =
    "c: 0.6.1; 0.9.0 replaces 0.6.1; 0.9.1 replaces 0.9.0; 0.9.2 replaces 0.9.0 skips 0.9.1";
const REMOVED: &str = "c: 0.6.1; 0.9.0 replaces 0.6.1; 0.9.2 replaces 0.9.0 skips 0.9.1";

#[test]
fn e_a_bad_release() {
    let old = Drawn::read(OLD);
    row(
        "E1",
        &old,
        "0.6.1",
        ["0.9.0", "0.9.0, 0.9.1, 0.9.2"],
        "0.9.0",
    );
    row("E1", &old, "0.9.0", ["0.9.1", "0.9.1, 0.9.2"], "0.9.1");
    row("E1", &old, "0.9.1", ["0.9.2", "0.9.2"], "0.9.2");
    row("E1", &old, "0.9.2", ["", ""], "");
    for new in [KEPT, REMOVED] {
        let new = Drawn::read(new);
        row("E2", &new, "0.6.1", ["0.9.0", "0.9.0, 0.9.2"], "0.9.0");
        row("E5", &new, "0.9.1", ["0.9.2", "0.9.2"], "0.9.2");
        row("E6", &new, "0.9.2", ["", ""], "");
    }
    let (kept, removed) = (Drawn::read(KEPT), Drawn::read(REMOVED));
    row("E3", &kept, "0.9.0", ["0.9.2", "0.9.2"], "0.9.2, 0.9.1");
    row("E4", &removed, "0.9.0", ["0.9.2", "0.9.2"], "0.9.2");
    assert_eq!(
        kept.v1_pick(&[], "<0.9.2", "0.9.0"),
        "0.9.1",
        "E3: the bad one"
    );
    assert_eq!(
        removed.v1_pick(&[], "<0.9.2", "0.9.0"),
        "0.9.0",
        "E4: never"
    );
}

#[test]
fn z_streams() {
    let old = Drawn::read(REMOVED);
    row("Z1", &old, "0.6.1", ["0.9.0", "0.9.0, 0.9.2"], "0.9.0");
    row("Z1", &old, "0.9.0", ["0.9.2", "0.9.2"], "0.9.2");
    row("Z1", &old, "0.9.1", ["0.9.2", "0.9.2"], "0.9.2");
    row("Z1", &old, "0.9.2", ["", ""], "");
    let new = Drawn::read("c: 0.6.1; 0.9.0 replaces 0.6.1; 0.9.3 replaces 0.9.0 skips 0.9.1,0.9.2");
    row("Z2", &new, "0.6.1", ["0.9.0", "0.9.0, 0.9.3"], "0.9.0");
    for installed in ["0.9.0", "0.9.1", "0.9.2"] {
        row("Z3", &new, installed, ["0.9.3", "0.9.3"], "0.9.3");
    }
    row("Z4", &new, "0.9.3", ["", ""], "");
}
