//! 8.9: rows that close gaps in upstream's own tests.

use olmguard_engine::snapshot::{Availability, ServingState};
use serde_json::json;

use crate::acceptance::Expected::{Fails, FailsWith, Gives, GivesFrom};
use crate::acceptance::{D1, D4, D7, WITHOUT, check};
use olmguard_fixtures::question::{Question, ask};
use olmguard_fixtures::written::{Written, written};

fn d1() -> Question {
    ask(&[("a", 0, D1)])
}

fn d7(installed: &str) -> Question {
    ask(&[("a", 0, D7)]).installed(installed)
}

fn only(written: &Written<'_>) -> Question {
    ask(&[("a", 0, written)])
}

#[test]
fn rows_8_9_edges_of_the_asked_channels() {
    check(
        "8.9",
        [
            (
                1,
                d1().installed("1.0.2").channels(&["beta"]),
                Gives("1.0.2"),
            ),
            (
                2,
                d1().installed("1.0.2").channels(&["gamma"]),
                Fails(
                    "error upgrading from currently installed version \"1.0.2\": no bundles found for \
                     package \"P\" in channels [gamma]",
                ),
            ),
            (3, d1().installed("2.0.0"), Gives("3.0.0")),
            (
                4,
                d1().installed("2.0.0").channels(&["alpha"]),
                Gives("2.0.0"),
            ),
            (
                5,
                d1().installed("2.0.0").channels(&["gamma"]),
                Gives("3.0.0"),
            ),
            (
                6,
                d1().installed("0.1.0").channels(&["gamma"]),
                FailsWith("error upgrading"),
            ),
            (7, d1().installed("1.0.1"), Gives("2.0.0")),
            (8, d1().installed("1.0.1").range("1.0.1"), Gives("1.0.1")),
            (
                9,
                d1().installed("0.1.0").range(">=1.0.0 <=1.0.1"),
                Gives("1.0.1"),
            ),
            (10, d1().installed("3.0.0"), Gives("3.0.0")),
        ],
    );
}

#[test]
fn rows_8_9_downgrades_bypass_and_strangers() {
    check(
        "8.9",
        [
            (
                11,
                d1().installed("3.0.0").range("2.0.0"),
                FailsWith("error upgrading from currently installed version \"3.0.0\": "),
            ),
            (
                12,
                d1().installed("3.0.0").range("2.0.0").bypass(),
                Gives("2.0.0"),
            ),
            (13, d1().installed("1.0.2").bypass(), Gives("3.0.0")),
            (14, d1().installed("9.9.9"), FailsWith("error upgrading")),
            (
                15,
                d1().installed_as("other.v1.0.2", "1.0.2", None)
                    .range("1.0.2"),
                Gives("1.0.2"),
            ),
            (
                16,
                d1().installed("garbage"),
                Fails(
                    "error walking catalogs: error finding upgrade edges: failed to get version and \
                     release of installed bundle: No Major.Minor.Patch elements found",
                ),
            ),
            (
                17,
                ask(&[("a", 0, WITHOUT)]).installed("garbage"),
                Fails(
                    "error upgrading from currently installed version \"garbage\": no bundles found \
                     for package \"P\"",
                ),
            ),
        ],
    );
}

#[test]
fn rows_8_9_whole_channels() {
    let d4 = || only(D4).installed_as("P.1.0.0", "1.0.0", None);
    let next = only(D4)
        .installed_as("P.1.0.1", "1.0.1", None)
        .channels(&["beta"]);
    let stuck = only(D4).installed_as("P.1.0.2", "1.0.2", None);
    check(
        "8.9",
        [
            (18, d4().channels(&["alpha"]), Gives("1.0.2")),
            (19, d4().channels(&["beta"]), Gives("1.0.1")),
            (19, next, Gives("1.2.0")),
            (20, d4(), Gives("1.0.2")),
            (20, stuck, Gives("1.0.2")),
            (21, d7("0.1.0"), Gives("0.4.0")),
            (22, d7("0.1.0").channels(&["alpha"]), Gives("0.2.0")),
            (23, d7("0.1.0").channels(&["beta"]), Gives("0.2.0")),
            (
                24,
                d7("0.3.0").channels(&["beta"]),
                FailsWith("error upgrading"),
            ),
            (25, d7("0.3.0").channels(&["stable"]), Gives("0.4.0")),
            (
                26,
                d7("0.5.0").channels(&["stable"]),
                FailsWith("error upgrading"),
            ),
            (27, d7("0.4.0").channels(&["alpha", "beta"]), Gives("0.6.0")),
        ],
    );
}

#[test]
fn rows_8_9_small_graphs() {
    let skipped =
        &written("stable: 3.0.0 skips 2.0.0; 2.0.0 skipRange >=1.0.0 <2.0.0\n (none): 1.0.0");
    let chain = &written("stable: 1.0.0; 1.0.1 replaces 1.0.0; 1.0.2 replaces 1.0.1");
    let apart = &written("stable: 1.0.0\n (none): 5.0.0");
    let comma = &written("stable: 1.0.0; 1.1.0 skipRange >=1.0.0, <1.1.0");
    let deprecated = &written("stable: 1.0.0; 1.1.0 replaces 1.0.0\n (deprecated): 1.1.0");
    let down = &written("stable: 1.1.0; 1.0.0 skipRange >1.0.0 <1.2.0\n (deprecated): 1.1.0");
    check(
        "8.9",
        [
            (28, only(skipped).installed("1.0.0"), Gives("2.0.0")),
            (29, only(skipped).range("2.0.0"), Gives("2.0.0")),
            (
                30,
                only(chain).installed("1.0.0").range("1.0.2"),
                FailsWith("error upgrading"),
            ),
            (
                30,
                only(chain).installed("1.0.0").range(">=1.0.1"),
                Gives("1.0.1"),
            ),
            (31, only(apart), Gives("5.0.0")),
            (31, only(apart).channels(&["stable"]), Gives("1.0.0")),
            (32, only(comma).installed("1.0.0"), Gives("1.0.0")),
            (33, only(deprecated).installed("1.0.0"), Gives("1.0.0")),
            (34, only(down).installed("1.1.0"), Gives("1.0.0")),
        ],
    );
}

#[test]
fn rows_8_9_several_catalogs() {
    let one = &written("(none): 1.0.0");
    let two = &written("(none): 2.0.0");
    let two_deprecated = &written("(none): 2.0.0\n (deprecated): 2.0.0");
    let served = || ask(&[("A", 0, one), ("B", 0, WITHOUT)]);
    let not_serving = served().state("B", |state| state.serving = ServingState::KnownNot);
    let unavailable = served().state("B", |state| {
        state.serving = ServingState::KnownNot;
        state.availability = Availability::Unavailable;
    });
    check(
        "8.9",
        [
            (
                35,
                ask(&[("A", 100, two_deprecated), ("B", 0, one)]),
                GivesFrom("1.0.0", "B"),
            ),
            (
                36,
                ask(&[("A", 10, one), ("B", 0, two)]).range(">=2.0.0"),
                GivesFrom("2.0.0", "B"),
            ),
            (
                37,
                ask(&[("A", 0, one), ("B", 0, one)]).installed("1.0.0"),
                Fails(
                    "error upgrading from currently installed version \"1.0.0\": found bundles for \
                     package \"P\" in multiple catalogs with the same priority [A B]",
                ),
            ),
            (
                38,
                not_serving,
                Fails(
                    "error walking catalogs: error getting package \"P\" from catalog \"B\": catalog \
                     \"B\" is not being served",
                ),
            ),
            (39, unavailable, GivesFrom("1.0.0", "A")),
            (
                48,
                served().selector(json!({"matchLabels": {"no": "such"}})),
                Fails("no bundles found for package \"P\""),
            ),
        ],
    );
}

#[test]
fn rows_8_9_versions_and_validation() {
    let releases = &written("(none): 1.0.0+1; 1.0.0+2");
    let candidate = &written("(none): 1.0.0; 2.0.0-rc.1");
    let required = &written("(none): 1.0.0; 2.0.0\n (requires): 2.0.0 olm.gvk.required");
    let broken = &written("(none): 1.0");
    check(
        "8.9",
        [
            (40, only(releases).range("1.0.0"), Gives("1.0.0+2")),
            (41, only(releases).installed("1.0.0+1"), Gives("1.0.0+1")),
            (42, only(candidate), Gives("2.0.0-rc.1")),
            (43, only(candidate).range(">=1.0.0"), Gives("1.0.0")),
            (
                44,
                only(required),
                FailsWith("validating bundle \"P.v2.0.0\": "),
            ),
            (44, only(required).range("<2.0.0"), Gives("1.0.0")),
            (
                45,
                only(broken),
                Fails(
                    "error getting resolved bundle version for bundle \"P.v1.0\": No \
                     Major.Minor.Patch elements found",
                ),
            ),
            (
                46,
                only(broken).range("*"),
                Fails("no bundles found for package \"P\" matching version \"*\""),
            ),
            (
                47,
                d1().range("1.0.0-01"),
                Fails("desired version range \"1.0.0-01\" is invalid: constraint parser error"),
            ),
        ],
    );
}
