//! Further behaviour: downgrades by an edge, deprecation, bundles outside channels, odd graphs.

use crate::generations::drawn::{Drawn, name, row};
use olmguard_catalog::version::Version;
use olmguard_engine::resolve::classic::{
    InstalledCsv, Outlook, SubscribedChannel, SubscriptionOrder,
};

#[test]
fn w1_to_w4_lower_versions_and_deprecation() {
    for (id, graph, installed, v0, v1) in [
        (
            "W1",
            "c: 1.9.0 replaces 2.0.0; 2.0.0",
            "2.0.0",
            "1.9.0",
            "2.0.0",
        ),
        ("W2", "c: 1.9.0 replaces 2.0.0", "2.0.0", "1.9.0", "1.9.0"),
        (
            "W3",
            "c: 1.9.0 replaces 2.0.0; 2.0.0\n(deprecated): 2.0.0",
            "2.0.0",
            "1.9.0",
            "1.9.0",
        ),
        (
            "W4",
            "c: 1.0.0; 1.1.0 replaces 1.0.0\n(deprecated): 1.1.0",
            "1.0.0",
            "1.1.0",
            "1.0.0",
        ),
    ] {
        let drawn = Drawn::read(graph);
        assert_eq!(
            drawn.v0("c", installed).expect("a line").candidates,
            v0,
            "{id}: OLM v0"
        );
        assert_eq!(drawn.v1_pick(&[], "", installed), v1, "{id}: OLM v1");
    }
}

#[test]
fn w8_and_w9_nothing_to_move_to() {
    let drawn = Drawn::read("c: 1.0.0; 1.1.0 replaces 1.0.0");
    assert_eq!(drawn.v1_pick(&[], "<0.5.0", "1.0.0"), "none", "W8");
    assert_eq!(drawn.v1_pick(&[], "", "0.7.0"), "none", "W9: OLM v1");
    assert_eq!(
        drawn.v0("c", "0.7.0").expect("a line").candidates,
        "",
        "W9: OLM v0"
    );
}

#[test]
fn w11_a_range_that_holds_its_own_version() {
    let drawn = Drawn::read(r"c: 1.1.0 skipRange >=1.0.0 <2.0.0; 1.2.0 replaces 1.1.0");
    let classic = drawn.v0("c", "1.1.0").expect("a line");
    assert_eq!(classic.candidates, "1.2.0");
    assert_eq!(classic.path, "1.2.0");
    let alone = Drawn::read(r"c: 1.1.0 skipRange >=1.0.0 <2.0.0");
    let classic = alone.v0("c", "1.1.0").expect("a line");
    assert_eq!((&*classic.candidates, &*classic.path), ("", ""));
    assert_eq!(outlook(&alone, "1.1.0"), "head");
}

fn outlook(drawn: &Drawn, installed: &str) -> String {
    let graph = drawn.graph();
    let line = SubscriptionOrder::of(&graph, SubscribedChannel::To("c")).expect("a line");
    let (name, version) = (
        name(installed),
        Version::parse(installed).expect("a version"),
    );
    let version = Some(&version);
    match line.outlook(InstalledCsv {
        name: &name,
        version,
    }) {
        Outlook::AtHead => "head".to_owned(),
        Outlook::Next(node) => graph.name_of(node).to_owned(),
        Outlook::Stranded => "stranded".to_owned(),
    }
}

#[test]
fn the_head_and_the_stranded_are_told_apart() {
    let drawn = Drawn::read("c: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.0.0 skips 1.1.0");
    for (installed, expected) in [
        ("1.0.0", "P.v1.2.0"),
        ("1.2.0", "head"),
        ("0.9.0", "stranded"),
    ] {
        assert_eq!(outlook(&drawn, installed), expected, "{installed}");
    }
}

#[test]
fn nothing_is_tried_after_an_entry_that_takes_itself() {
    let drawn = Drawn::read(
        "c: 1.0.0; 1.1.0 replaces 1.0.0 skipRange <=1.1.0; 1.2.0 replaces 1.1.0\n\
         d: 1.3.0 skipRange 1.1.0",
    );
    for (channel, candidates) in [("", "1.2.0"), ("d", "1.3.0")] {
        let classic = drawn.v0(channel, "1.1.0").expect("a line");
        assert_eq!(classic.candidates, candidates, "channel {channel:?}");
    }
}

#[test]
fn without_a_channel_the_head_of_each_channel_is_a_head() {
    let drawn = Drawn::read("a: 1.0.0; 1.1.0 replaces 1.0.0\nb: 2.0.0; 2.1.0 replaces 2.0.0");
    let graph = drawn.graph();
    let line = SubscriptionOrder::of(&graph, SubscribedChannel::ToAny).expect("a line");
    for (installed, expected) in [
        ("1.1.0", Outlook::AtHead),
        ("2.1.0", Outlook::AtHead),
        ("0.9.0", Outlook::Stranded),
    ] {
        let csv = InstalledCsv {
            name: &name(installed),
            version: None,
        };
        assert_eq!(line.outlook(csv), expected, "{installed}");
    }
}

#[test]
fn an_entry_that_takes_itself_is_stranded_below_the_head() {
    let drawn = Drawn::read(
        "c: 1.0.0 skipRange >=1.0.0 <=1.0.0; 2.0.0 replaces 1.0.0; 3.0.0 replaces 2.0.0 skips 2.0.0",
    );
    assert_eq!(outlook(&drawn, "1.0.0"), "stranded");
    assert_eq!(outlook(&drawn, "3.0.0"), "head");
}

#[test]
fn what_has_no_version_counts_as_zero_and_an_unknown_one_as_none() {
    let drawn = Drawn::read(r"c: 1.0.0 skipRange <1.0.0");
    let graph = drawn.graph();
    let line = SubscriptionOrder::of(&graph, SubscribedChannel::To("c")).expect("a line");
    let tried = |version| {
        let name = "stranger";
        line.candidates(InstalledCsv { name, version }).len()
    };
    let zero = Version::zero();
    assert_eq!(tried(Some(&zero)), 1);
    assert_eq!(tried(None), 0);
}

#[test]
fn edges_in_a_circle_end_the_walk() {
    let drawn = Drawn::read(r"c: 1.0.0 skipRange 2.0.0; 2.0.0 replaces 1.0.0");
    assert_eq!(drawn.v0("c", "1.0.0").expect("a line").path, "2.0.0");
}

// === The three methods, and the example of v3 that skips v2 ===

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

// === A bad release that is skipped, and z-streams ===

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
