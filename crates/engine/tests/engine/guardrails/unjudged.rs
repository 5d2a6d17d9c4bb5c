//! Edits that are let through though nobody can put guardrails to them: each is a warning.

use olmguard_catalog::guardrail::AdministratorGuardrails;
use olmguard_engine::extension::{Installed, UnknownCause};
use serde_json::json;

use olmguard_fixtures::guardrails::catalog::{
    Asked, blobs, guardrails, imposed, imposing, installed, judged_from, snapshot,
};

const POOL: [&str; 5] = ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "2.0.0"];

#[test]
fn what_is_installed_nobody_knows_where_is_let_through_with_a_warning() {
    let expected =
        "guardrails were not applied: the installed version is unknown or cannot be read";
    let warned = |imposed: AdministratorGuardrails, from: &Installed, asked: Asked<'_>| {
        let answer = judged_from(&imposing(&blobs(&POOL, "1.0.0"), imposed), from, asked);
        let is_warned = answer.warnings.iter().any(|warning| warning == expected);
        (answer.token.as_str(), is_warned)
    };
    let rule = |bypassable: bool| {
        imposed(
            "Catalog",
            &json!([{"id": "slowly", "kind": "MaxMinorStep", "step": 1, "bypassable": bypassable}]),
        )
    };
    let unknown = Installed::Unknown(UnknownCause::Condition);
    let unreadable = installed("one");
    let asked = Asked::range("1.3.0").bypassing();
    for from in [&unknown, &unreadable] {
        assert_eq!(warned(rule(false), from, asked), ("Bypassed", true));
        assert_eq!(warned(rule(true), from, asked), ("Bypassed", false));
        assert_eq!(
            warned(imposed("Catalog", &json!([])), from, asked),
            ("Bypassed", false)
        );
        assert_eq!(
            warned(imposed("Catalog", &json!(7)), from, asked),
            ("Bypassed", true)
        );
        let semver = imposed("Semver", &json!([]));
        assert_eq!(warned(semver, from, asked), ("Bypassed", true));
    }
    let bound = Asked::range("1.3.0");
    assert_eq!(
        warned(rule(false), &unknown, bound),
        ("InstalledUnknown", false)
    );
    assert_eq!(
        warned(rule(false), &Installed::Nothing, asked),
        ("Resolved", false)
    );
}

#[test]
fn of_an_author_nothing_is_missed_where_the_bypass_lifts_it() {
    let mut blobs = blobs(&POOL, "1.0.0");
    let author = json!([{"id": "via", "kind": "Waypoints", "versions": ["1.2.0"]}]);
    blobs.push(guardrails("Semver", &author));
    let unknown = Installed::Unknown(UnknownCause::Condition);
    let asked = Asked::range("1.3.0").bypassing();
    let answer = judged_from(&snapshot(&blobs), &unknown, asked);
    assert_eq!(
        answer.warnings,
        [
            "upgradeConstraintPolicy is SelfCertified: a jump from an unknown installed version; data loss is possible"
        ]
    );
}
