//! 8.8: the part of the end-to-end runs that resolution can answer.

use std::collections::BTreeMap;

use olmguard_engine::snapshot::Labels;
use serde_json::json;

use crate::acceptance::Expected::{Fails, FailsWith, Gives, GivesFrom};
use crate::acceptance::{D1, D4, D4_V2, D5, D5_V2, D6, check};
use olmguard_fixtures::question::{Question, ask, ask_at};
use olmguard_fixtures::written::{Written, written};

fn d4() -> Question {
    ask(&[("a", 0, D4)])
}

fn d4_at(version: &str) -> Question {
    d4().installed_as(&format!("P.{version}"), version, None)
}

#[test]
fn rows_8_8_upstream_head() {
    let two = ask(&[("test", 0, D4), ("extra", 0, D4)]);
    let v2 = ask(&[("a", 0, D4_V2)]).installed_as("P.1.2.0", "1.2.0", None);
    check(
        "8.8",
        [
            (
                1,
                ask(&[("test", 0, D4), ("extra", 0, D4)]).of_catalog("test"),
                Gives("1.2.0"),
            ),
            (
                2,
                two,
                FailsWith(
                    "found bundles for package \"P\" in multiple catalogs with the same priority",
                ),
            ),
            (3, d4_at("1.0.0").range("1.0.1"), Gives("1.0.1")),
            (
                4,
                d4_at("1.0.0").range("1.2.0"),
                Fails(
                    "error upgrading from currently installed version \"1.0.0\": no bundles found for \
                     package \"P\" matching version \"1.2.0\"",
                ),
            ),
            (5, d4_at("1.0.0").range("1.2.0").bypass(), Gives("1.2.0")),
            (6, d4(), Gives("1.2.0")),
            (7, v2, Gives("1.3.0")),
            (9, d4_at("1.0.0").range("1.0.4").bypass(), Gives("1.0.4")),
            (11, d4_at("1.0.0").range("1.0.2").bypass(), Gives("1.0.2")),
        ],
    );
}

#[test]
fn rows_8_8_go_e2e_of_v1_0_to_v1_5() {
    let d5 = |olm| ask_at(olm, &[], &[("test-catalog", 0, D5)]).package("test");
    for olm in ["1.0", "1.2", "1.5"] {
        let at = |version: &str| {
            d5(olm).installed_as(&format!("test-operator.{version}"), version, None)
        };
        let two = [("test-catalog", 0, D5), ("extra-test-catalog", 0, D5)];
        let v2 = ask_at(olm, &[], &[("test-catalog", 0, D5_V2)]).package("test");
        check(
            &format!("8.8, D5 at {olm}"),
            [
                (
                    1,
                    ask_at(olm, &[], &two).package("test"),
                    FailsWith(
                        "in multiple catalogs with the same priority \
                         [extra-test-catalog test-catalog]",
                    ),
                ),
                (
                    2,
                    at("1.0.0").range("1.2.0"),
                    Fails(
                        "error upgrading from currently installed version \"1.0.0\": no bundles \
                         found for package \"test\" matching version \"1.2.0\"",
                    ),
                ),
                (3, at("1.0.0").range("1.2.0").bypass(), Gives("1.2.0")),
                (4, at("1.0.0").range("1.0.1"), Gives("1.0.1")),
                (5, d5(olm), Gives("1.2.0")),
                (
                    6,
                    v2.installed_as("test-operator.1.2.0", "1.2.0", None),
                    Gives("2.0.0"),
                ),
            ],
        );
    }
}

#[test]
fn rows_8_8_v0_10_that_still_hold() {
    let d6 = || {
        ask(&[("a", 0, D6)])
            .package("prometheus")
            .channels(&["beta"])
    };
    let at = |q: Question, version: &str| {
        q.installed_as(&format!("operatorhub/prometheus/{version}"), version, None)
    };
    let gates = ["ForceSemverUpgradeConstraints=true"];
    let forced = || {
        ask_at("1.0", &gates, &[("a", 0, D6)])
            .package("prometheus")
            .channels(&["beta"])
    };
    check(
        "8.8, D6",
        [
            (1, d6().range("1.0.0"), Gives("1.0.0")),
            (2, d6(), Gives("2.0.0")),
            (
                3,
                d6().channels(&["alpha"]).range("0.47.0"),
                FailsWith("no bundles found"),
            ),
            (
                4,
                d6().channels(&["non-existent"]),
                FailsWith("no bundles found"),
            ),
            (
                5,
                d6().channels(&["non-existent"]).range("0.57.0"),
                FailsWith("no bundles found"),
            ),
            (
                6,
                at(forced(), "1.0.0").range("2.0.0"),
                FailsWith("error upgrading"),
            ),
            (7, at(forced(), "1.0.0").range("1.2.0"), Gives("1.2.0")),
            (
                8,
                at(d6(), "1.0.0").range("1.2.0"),
                FailsWith("error upgrading"),
            ),
            (9, at(d6(), "1.0.0").range("1.0.1"), Gives("1.0.1")),
            (
                10,
                at(d6(), "1.0.0").range("2.0.0").bypass(),
                Gives("2.0.0"),
            ),
            (
                11,
                at(forced(), "1.0.0").range("2.0.0").bypass(),
                Gives("2.0.0"),
            ),
            (
                12,
                at(d6(), "1.0.1").range("1.0.0"),
                FailsWith("error upgrading"),
            ),
            (
                13,
                at(forced(), "1.0.1").range("1.0.0"),
                FailsWith("error upgrading"),
            ),
            (
                14,
                at(d6(), "2.0.0").range("1.0.0").bypass(),
                Gives("1.0.0"),
            ),
        ],
    );
}

#[test]
fn rows_8_8_openshift_75501() {
    let any = || ask(&[("a", 0, D1)]);
    check(
        "8.8, 75501",
        [
            (
                1,
                any().range("30.0.0"),
                FailsWith("no bundles found for package"),
            ),
            (
                2,
                any().package("unknown"),
                FailsWith("no bundles found for package"),
            ),
        ],
    );
}

#[test]
fn rows_8_8_openshift_76685() {
    const ONE: &Written<'_> = &written("stable: 1.0.1");
    const TWO: &Written<'_> = &written("stable: 2.0.0");
    const THREE: &Written<'_> = &written("stable: 3.0.0");
    let labelled = |catalogs: &[(&str, i32, &Written<'_>)]| {
        catalogs
            .iter()
            .fold(ask(catalogs), |question, (name, _, _)| {
                let label = name.to_string();
                question.state(name, |state| {
                    let labels = BTreeMap::from([("olmv1-test".to_owned(), label)]);
                    state.labels = Labels::with_name(&state.name, labels);
                })
            })
    };
    let equal = || labelled(&[("1", 0, ONE), ("2", 0, TWO)]);
    let prior = || labelled(&[("1", 100, ONE), ("2", 1000, TWO)]);
    let three = || labelled(&[("1", 100, ONE), ("2", 1000, TWO), ("3", 0, THREE)]);
    let expression = |operator: &str, values: &[&str]| json!([{"key": "olmv1-test", "operator": operator, "values": values}]);
    let third = json!({"matchLabels": {"olmv1-test": "3"},
        "matchExpressions": expression("In", &["1", "2", "3"])});
    check(
        "8.8, 76685",
        [
            (
                1,
                equal(),
                FailsWith("multiple catalogs with the same priority"),
            ),
            (2, equal().of_catalog("1"), GivesFrom("1.0.1", "1")),
            (3, prior(), GivesFrom("2.0.0", "2")),
            (4, prior().of_catalog("1"), GivesFrom("1.0.1", "1")),
            (
                5,
                three().selector(json!({"matchLabels": {"olmv1-test": "3"}})),
                Gives("3.0.0"),
            ),
            (
                6,
                three().selector(json!({"matchExpressions": expression("NotIn", &["3"])})),
                Gives("2.0.0"),
            ),
            (7, three().selector(third), Gives("3.0.0")),
        ],
    );
}

#[test]
fn rows_8_8_openshift_74618() {
    const LINES: [(&str, &str); 3] = [
        (
            "olm.gvk.required",
            "a: 1.0.0\n (requires): 1.0.0 olm.gvk.required",
        ),
        (
            "olm.package.required",
            "a: 1.0.0\n (requires): 1.0.0 olm.package.required",
        ),
        (
            "olm.constraint",
            "a: 1.0.0\n (requires): 1.0.0 olm.constraint",
        ),
    ];
    for (kind, lines) in LINES {
        let upstream = ask(&[("a", 0, &written(lines))])
            .answer()
            .upstream
            .expect(kind);
        let part = format!(
            "has a dependency declared via property \"{kind}\" which is currently not supported"
        );
        assert!(upstream.contains(&part), "8.8, 74618: {upstream}");
    }
}
