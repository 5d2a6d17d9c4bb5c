//! 8.2: the resolver.

use olmguard_engine::snapshot::Availability;
use serde_json::json;

use crate::acceptance::Expected::{Fails, FailsWith, Gives, GivesDep, GivesFrom, GivesNoDep};
use crate::acceptance::{D1, D2, WITHOUT, check};
use olmguard_fixtures::question::{Question, ask, ask_at};
use olmguard_fixtures::written::written;

fn d1() -> Question {
    ask(&[("a", 0, WITHOUT), ("b", 0, D1), ("c", 0, WITHOUT)])
}

#[test]
fn rows_8_2_what_does_not_resolve() {
    check(
        "8.2",
        [
            (
                1,
                d1().range("foobar"),
                Fails(
                    r#"desired version range "foobar" is invalid: improper constraint: "foobar""#,
                ),
            ),
            (
                4,
                ask(&[("a", 0, WITHOUT), ("b", 0, WITHOUT), ("c", 0, WITHOUT)]),
                Fails(r#"no bundles found for package "P""#),
            ),
            (
                7,
                d1().range("4.0.0"),
                Fails(r#"no bundles found for package "P" matching version "4.0.0""#),
            ),
            (
                9,
                d1().channels(&["stable"]),
                Fails(r#"no bundles found for package "P" in channels [stable]"#),
            ),
            (
                11,
                d1().channels(&["beta"]).range("3.0.0"),
                Fails(
                    r#"no bundles found for package "P" matching version "3.0.0" in channels [beta]"#,
                ),
            ),
            (
                12,
                d1().channels(&["stable"]).range("1.0.0"),
                Fails(
                    r#"no bundles found for package "P" matching version "1.0.0" in channels [stable]"#,
                ),
            ),
        ],
    );
}

#[test]
fn rows_8_2_one_catalog() {
    check(
        "8.2",
        [
            (5, d1(), GivesDep("3.0.0")),
            (8, d1().range(">=1.0.0 <2.0.0"), GivesDep("1.0.2")),
            (10, d1().channels(&["beta"]), GivesDep("1.0.2")),
            (
                13,
                d1().channels(&["alpha"]).range("0.1.0"),
                GivesDep("0.1.0"),
            ),
            (14, d1().range(">=0.1.0 <=1.0.0"), GivesDep("0.1.0")),
            (15, d1().range(">=1.0.0 <=1.0.1"), GivesDep("1.0.1")),
            (31, d1().channels(&["beta", "alpha"]), GivesDep("2.0.0")),
        ],
    );
}

#[test]
fn rows_8_2_several_catalogs() {
    let tie = |range| ask(&D2).range(range);
    let d1_thrice = ask(&[("a", 1, D1), ("b", 0, D1), ("c", 1, D1)]);
    let prior = ask(&[
        ("a", 1, &written("(none): 1.0.0")),
        ("b", 0, &written("(none): 1.1.0")),
    ]);
    check(
        "8.2",
        [
            (16, tie(">=1.0.0 <=1.0.3"), GivesFrom("1.0.2", "d")),
            (16, tie(">=1.0.0 <=1.0.3"), GivesNoDep("1.0.2")),
            (
                17,
                tie(">=1.0.0 <=1.0.1"),
                FailsWith("in multiple catalogs with the same priority [b c]"),
            ),
            (
                18,
                tie(">=1.0.0 <=1.0.4"),
                FailsWith("in multiple catalogs with the same priority [d f]"),
            ),
            (19, tie(">=1.0.4 <=1.0.5"), GivesNoDep("1.0.5")),
            (29, prior, GivesFrom("1.0.0", "a")),
            (
                30,
                d1_thrice.range(">=1.0.0 <=1.0.1"),
                FailsWith("in multiple catalogs with the same priority [a b c]"),
            ),
        ],
    );
}

#[test]
fn rows_8_2_something_installed() {
    check(
        "8.2",
        [
            (20, d1().installed("0.1.0"), GivesDep("1.0.2")),
            (
                21,
                d1().installed("0.1.0").range("<1.0.0 >=2.0.0"),
                Fails(
                    "error upgrading from currently installed version \"0.1.0\": no bundles found for \
                     package \"P\" matching version \"<1.0.0 >=2.0.0\"",
                ),
            ),
            (
                22,
                d1().installed("1.0.2").range("<1.0.2").bypass(),
                GivesDep("0.1.0"),
            ),
            (
                23,
                d1().installed("1.0.2").range(">0.1.0 <1.0.0").bypass(),
                Fails(
                    "error upgrading from currently installed version \"1.0.2\": no bundles found for \
                     package \"P\" matching version \">0.1.0 <1.0.0\"",
                ),
            ),
        ],
    );
}

#[test]
fn rows_8_2_selectors() {
    let two = || ask(&[("a", 0, D1), ("b", 0, D1)]);
    let absent = ask(&[("a", 0, WITHOUT), ("b", 0, D1)]);
    let expression = json!({"matchExpressions": [{"key": "name", "operator": "bad"}]});
    check(
        "8.2",
        [
            (
                24,
                two().selector(expression),
                Fails(
                    "desired catalog selector is invalid: \"bad\" is not a valid label selector operator",
                ),
            ),
            (
                25,
                two().selector(json!({"matchLabels": {"": "value"}})),
                FailsWith("desired catalog selector is invalid: key: Invalid value:"),
            ),
            (
                26,
                two().selector(json!({"matchLabels": {"name": "&value"}})),
                FailsWith("desired catalog selector is invalid: values[0][name]: Invalid value:"),
            ),
            (27, two().of_catalog("b"), GivesFrom("3.0.0", "b")),
            (
                28,
                absent.of_catalog("a"),
                FailsWith(r#"no bundles found for package "P""#),
            ),
        ],
    );
}

#[test]
fn rows_8_2_unavailable_catalogs() {
    let unavailable = |question: Question, name| {
        question.state(name, |state| state.availability = Availability::Unavailable)
    };
    let both = ask(&[("a", 0, D1), ("b", 0, D1)]).range(">=1.0.0");
    let both = unavailable(unavailable(both, "a"), "b");
    let one = ask(&[("enabled", 1, D1), ("disabled", 0, D1)]).range(">=1.0.0");
    check(
        "8.2",
        [
            (32, both, FailsWith("no bundles found for package")),
            (33, unavailable(one, "disabled"), Gives("3.0.0")),
        ],
    );
}

#[test]
fn rows_8_2_force_semver_upgrade_constraints() {
    let forced = |olm| {
        ask_at(
            olm,
            &["ForceSemverUpgradeConstraints=true"],
            &[("a", 0, D1)],
        )
    };
    for olm in ["1.0", "1.1"] {
        check(
            &format!("8.2 at {olm}"),
            [
                (37, forced(olm).installed("1.0.0"), GivesDep("1.0.2")),
                (
                    38,
                    forced(olm).installed("0.1.0").range("!=0.1.0"),
                    Fails(
                        "error upgrading from currently installed version \"0.1.0\": no bundles found \
                         for package \"P\" matching version \"!=0.1.0\"",
                    ),
                ),
            ],
        );
    }
}
