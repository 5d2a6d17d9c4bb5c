//! Promotion between channels, moves between channels, and channels as entry points.

use olmguard_engine::resolve::classic::{LineError, SubscribedChannel, SubscriptionOrder};

use super::drawn::{Drawn, row};

const STAGE_2: &str = "
    alpha: 0.1.0; 0.2.0 replaces 0.1.0; 0.3.0 replaces 0.2.0
    beta: 0.2.0 replaces 0.1.0";
const STAGE_3: &str = "
    alpha: 0.1.0; 0.2.0 replaces 0.1.0; 0.3.0 replaces 0.2.0; 0.4.0 replaces 0.3.0; 0.5.0 replaces 0.4.0
    beta: 0.2.0 replaces 0.1.0; 0.4.0 replaces 0.2.0";
const STAGE_4: &str = "
    alpha: 0.1.0; 0.2.0 replaces 0.1.0; 0.3.0 replaces 0.2.0; 0.4.0 replaces 0.3.0; 0.5.0 replaces 0.4.0; 0.6.0 replaces 0.5.0
    beta: 0.2.0 replaces 0.1.0; 0.4.0 replaces 0.2.0; 0.6.0 replaces 0.4.0
    stable: 0.4.0 replaces 0.1.0 skips 0.2.0,0.3.0";

/// The next version of a Subscription to a channel, and of an extension with only that channel.
fn next(id: &str, drawn: &Drawn, channel: &str, installed: &str, expected: &str) {
    let classic = drawn.v0(channel, installed).expect("a line");
    assert_eq!(classic.candidates, expected, "{id}: OLM v0 in {channel}");
    assert_eq!(
        drawn.v1(&[channel], installed),
        expected,
        "{id}: OLM v1 in {channel}"
    );
}

#[test]
fn p_promotion() {
    let drawn = Drawn::read(STAGE_4);
    for (id, installed, single, all, alpha_beta, beta_stable) in [
        (
            "P1",
            "0.1.0",
            ["0.2.0", "0.2.0", "0.4.0"],
            "0.4.0, 0.2.0",
            "0.2.0",
            "0.4.0, 0.2.0",
        ),
        (
            "P2",
            "0.2.0",
            ["0.3.0", "0.4.0", "0.4.0"],
            "0.4.0, 0.3.0",
            "0.4.0, 0.3.0",
            "0.4.0",
        ),
        (
            "P3",
            "0.3.0",
            ["0.4.0", "", "0.4.0"],
            "0.4.0",
            "0.4.0",
            "0.4.0",
        ),
        (
            "P4",
            "0.4.0",
            ["0.5.0", "0.6.0", ""],
            "0.6.0, 0.5.0",
            "0.6.0, 0.5.0",
            "0.6.0",
        ),
        ("P5", "0.5.0", ["0.6.0", "", ""], "0.6.0", "0.6.0", ""),
        ("P6", "0.6.0", ["", "", ""], "", "", ""),
    ] {
        for (channel, expected) in ["alpha", "beta", "stable"].into_iter().zip(single) {
            next(id, &drawn, channel, installed, expected);
        }
        assert_eq!(drawn.v1(&[], installed), all, "{id}: no channels");
        assert_eq!(drawn.v1(&["alpha", "beta"], installed), alpha_beta, "{id}");
        assert_eq!(
            drawn.v1(&["beta", "stable"], installed),
            beta_stable,
            "{id}"
        );
    }
}

#[test]
fn p_earlier_stages() {
    for (id, stage, installed, expected) in [
        ("P7", STAGE_2, "0.1.0", "0.2.0"),
        ("P7", STAGE_2, "0.2.0", ""),
        ("P7", STAGE_2, "0.3.0", ""),
        ("P8", STAGE_3, "0.1.0", "0.2.0"),
        ("P8", STAGE_3, "0.2.0", "0.4.0"),
        ("P8", STAGE_3, "0.3.0", ""),
        ("P8", STAGE_3, "0.4.0", ""),
    ] {
        next(id, &Drawn::read(stage), "beta", installed, expected);
    }
}

#[test]
fn p_walks() {
    let drawn = Drawn::read(STAGE_4);
    let path = |channel| drawn.v0(channel, "0.1.0").expect("a line").path;
    assert_eq!(path("alpha"), "0.2.0, 0.3.0, 0.4.0, 0.5.0, 0.6.0", "P9");
    assert_eq!(path("beta"), "0.2.0, 0.4.0, 0.6.0", "P10");
}

#[test]
fn k_moves_between_channels() {
    let drawn = Drawn::read(STAGE_4);
    for (id, installed, to, next, v1) in [
        ("K1", "0.2.0", "beta", "0.4.0", "0.4.0"),
        ("K2", "0.3.0", "beta", "", "none"),
        ("K3", "0.3.0", "stable", "0.4.0", "0.4.0"),
        ("K4", "0.5.0", "stable", "", "none"),
        ("K5", "0.4.0", "stable", "", "0.4.0"),
    ] {
        let classic = drawn.v0(to, installed).expect("a line");
        assert_eq!(classic.candidates, next, "{id}: OLM v0");
        assert_eq!(drawn.v1_pick(&[to], "", installed), v1, "{id}: OLM v1");
    }
    let ranged = Drawn::read(
        r"old: 1.0.0; 1.1.0 replaces 1.0.0
           new: 2.0.0 skipRange >=1.0.0 <2.0.0",
    );
    next("K6", &ranged, "new", "1.0.0", "2.0.0");
    next("K6", &ranged, "new", "1.1.0", "2.0.0");
}

#[test]
fn d_channels_as_entry_points() {
    let drawn = Drawn::read(
        "alpha: 0.6.1; 0.9.0 replaces 0.6.1; 0.9.2 replaces 0.9.0
         beta: 0.6.1; 0.9.2 replaces 0.6.1",
    );
    for (id, installed, alpha, beta, all) in [
        ("D1", "0.6.1", "0.9.0", "0.9.2", "0.9.2, 0.9.0"),
        ("D2", "0.9.0", "0.9.2", "", "0.9.2"),
        ("D3", "0.9.2", "", "", ""),
    ] {
        next(id, &drawn, "alpha", installed, alpha);
        next(id, &drawn, "beta", installed, beta);
        assert_eq!(drawn.v1(&[], installed), all, "{id}");
    }
}

#[test]
fn u_a_path_of_two() {
    let drawn = Drawn::read(
        "alpha: 0.1.1; 0.1.2 replaces 0.1.1
         beta: 0.1.1; 0.1.2 replaces 0.1.1; 0.1.3 replaces 0.1.2",
    );
    let path = |channel| drawn.v0(channel, "0.1.1").expect("a line").path;
    assert_eq!(path("beta"), "0.1.2, 0.1.3", "U1");
    assert_eq!(path("alpha"), "0.1.2", "U2");
    assert_eq!(drawn.v1_pick(&["alpha"], "", "0.1.2"), "0.1.2", "U2");
    assert_eq!(drawn.v1_pick(&["beta"], "0.1.3", "0.1.1"), "none", "U3");
    assert_eq!(drawn.v1_pick(&[], ">=0.1.1", "0.1.1"), "0.1.2", "U4");
    assert_eq!(drawn.v1_pick(&[], ">=0.1.1", "0.1.2"), "0.1.3", "U4");
}

#[test]
fn a_subscription_without_a_channel_begins_with_the_default_one() {
    let drawn = Drawn::read(
        "alpha: 1.0.0; 1.1.0 replaces 1.0.0
         stable: 1.0.0; 1.2.0 replaces 1.0.0
         (default): stable",
    );
    let classic = drawn.v0("", "1.0.0").expect("a line");
    assert_eq!(classic.candidates, "1.2.0, 1.1.0");
    let graph = drawn.graph();
    let line = SubscriptionOrder::of(&graph, SubscribedChannel::ToAny).expect("a line");
    let first = line.head().map(|node| graph.name_of(node));
    assert_eq!(first, Some("P.v1.2.0"));
}

#[test]
fn a_channel_that_is_gone_has_words_of_its_own() {
    let drawn = Drawn::read("c: 1.0.0");
    let (channel, package) = ("gone".into(), "P".into());
    let gone = LineError::NoChannel { channel, package };
    assert_eq!(drawn.v0("gone", "1.0.0").map(|_| ()), Err(gone.clone()));
    assert_eq!(
        gone.to_string(),
        "no operators found in channel gone of package P in the catalog"
    );
}

#[test]
fn e_z_rows_keep_to_one_channel() {
    let drawn = Drawn::read("c: 0.6.1; 0.9.0 replaces 0.6.1");
    row("E1", &drawn, "0.6.1", ["0.9.0", "0.9.0"], "0.9.0");
}
