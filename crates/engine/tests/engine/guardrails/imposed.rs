//! The guardrails of administrators: for a package of any author, and with the bypass too.

use olmguard_catalog::guardrail::AdministratorGuardrails;
use olmguard_catalog::olm::Rules;
use olmguard_engine::judge::Policies;
use olmguard_engine::snapshot::{CatalogState, Currency, Snapshot};
use serde_json::{Value, json};

use olmguard_fixtures::guardrails::catalog::{
    self, Asked, Facts, blobs, guardrails, imposing, judged,
};

const POOL: [&str; 5] = ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "2.0.0"];

fn imposed(rules: &Value) -> AdministratorGuardrails {
    catalog::imposed("Catalog", rules)
}

#[test]
fn who_says_it_is_told() {
    let rules =
        json!([{"id": "slowly", "kind": "MaxMinorStep", "step": 1, "reason": "we test each"}]);
    let snapshot = imposing(&blobs(&POOL, "1.0.0"), imposed(&rules));
    let answer = judged(&snapshot, "1.0.0", Asked::range("<2.0.0"));
    assert_eq!(
        answer.message.as_deref(),
        Some(
            "\
p: 1.0.0 -> <2.0.0 refused: an administrator's guardrail slowly forbids 1.0.0 -> 1.3.0 [Guardrail]
Guardrail: slowly (no minor passed by) by an administrator, in rules.yaml:3: we test each
Allowed next: 2.0.0, 1.1.0
Path: 1.0.0 -> 1.1.0 -> 1.2.0 -> 1.3.0
Fix: set spec.source.catalog.version to \">=1.0.0 <1.2.0\" first
Catalog: hub
Help: olmguard explain Guardrail"
        )
    );
}

#[test]
fn the_bypass_lifts_only_what_says_so() {
    let rule = |bypassable: bool| json!([{"id": "slowly", "kind": "MaxMinorStep", "step": 1, "bypassable": bypassable}]);
    let asked = Asked::range("1.3.0").bypassing();
    let holding = judged(
        &imposing(&blobs(&POOL, "1.0.0"), imposed(&rule(false))),
        "1.0.0",
        asked,
    );
    assert_eq!(holding.token.as_str(), "Guardrail");
    let fix = holding.advice.fix.expect("a next step");
    assert_eq!(format!("{:?}", fix.value), "Text(\">=1.0.0 <1.2.0\")");
    let lifted = judged(
        &imposing(&blobs(&POOL, "1.0.0"), imposed(&rule(true))),
        "1.0.0",
        asked,
    );
    assert_eq!(lifted.verdict().as_str(), "allow");
    let expected =
        "an administrator's guardrail slowly forbids 1.0.0 -> 1.3.0; the override lifts it";
    assert!(
        lifted.warnings.iter().any(|w| w == expected),
        "{:?}",
        lifted.warnings
    );
}

/// Rows 16 and 17 depend on a bundle that the content has, so newer content does not matter.
#[test]
fn what_is_forbidden_stays_so_while_a_catalog_is_superseded() {
    let mut blobs = blobs(&POOL, "1.0.0");
    let author = json!([{"id": "via", "kind": "Waypoints", "versions": ["1.2.0"]}]);
    blobs.push(guardrails("Catalog", &author));
    let mut hub = CatalogState::named("hub", catalog::content(&blobs));
    hub.currency = Currency::Superseded;
    let by_author = Facts::from(Snapshot::new(Rules::default(), [hub.clone()]));
    let slowly = imposed(&json!([{"id": "slowly", "kind": "MaxMinorStep", "step": 1}]));
    let by_both = Facts {
        policies: Policies {
            guardrails: slowly,
            ..Policies::default()
        },
        ..by_author.clone()
    };
    for (snapshot, asked, expected) in [
        (&by_author, Asked::range("1.3.0"), "Guardrail"),
        (&by_both, Asked::range("1.3.0").bypassing(), "Guardrail"),
        (&by_both, Asked::range("1.1.0"), "Resolved"),
        (&by_both, Asked::range("1.9.0"), "CatalogOutdated"),
    ] {
        let answer = judged(snapshot, "1.0.0", asked);
        assert_eq!(answer.token.as_str(), expected, "{asked:?}");
    }
}

#[test]
fn author_and_administrator_both_bind() {
    let mut blobs = blobs(&POOL, "1.0.0");
    let author = json!([{"id": "via", "kind": "Waypoints", "versions": ["1.2.0"]}]);
    blobs.push(guardrails("Catalog", &author));
    let rules = json!([{"id": "slowly", "kind": "MaxMinorStep", "step": 2}]);
    let snapshot = imposing(&blobs, imposed(&rules));
    let denied = |to| {
        let answer = judged(&snapshot, "1.0.0", Asked::range(to));
        let causes = answer.causes.into_iter().map(|cause| cause.message);
        causes.collect::<Vec<_>>()
    };
    assert_eq!(
        denied("1.3.0"),
        [
            "the author's guardrail via forbids 1.0.0 -> 1.3.0",
            "an administrator's guardrail slowly forbids 1.0.0 -> 1.3.0"
        ]
    );
    assert_eq!(
        denied("2.0.0"),
        ["the author's guardrail via forbids 1.0.0 -> 2.0.0"]
    );
    assert!(denied("1.2.0").is_empty());
}

#[test]
fn what_cannot_be_read_holds_with_the_bypass() {
    let snapshot = imposing(&blobs(&POOL, "1.0.0"), imposed(&json!([{"id": "x"}])));
    for asked in [Asked::range("1.1.0"), Asked::range("1.1.0").bypassing()] {
        let answer = judged(&snapshot, "1.0.0", asked);
        let message = answer.message.expect("it is refused");
        let second = message.lines().nth(1);
        assert_eq!(
            second,
            Some(
                "Guardrail: by an administrator, in rules.yaml:3: rules[0].kind: missing: expected the kind of a rule"
            )
        );
        assert!(!message.contains("Override"), "{message}");
    }
}

#[test]
fn with_the_bypass_only_what_holds_refuses() {
    let mut blobs = blobs(&POOL, "1.0.0");
    blobs.push(guardrails("Catalog", &json!("unreadable")));
    let rules = json!([{"id": "slowly", "kind": "MaxMinorStep", "step": 1}]);
    let snapshot = imposing(&blobs, imposed(&rules));
    let answer = judged(&snapshot, "1.0.0", Asked::range("1.3.0").bypassing());
    let causes: Vec<_> = answer.causes.iter().map(|cause| &*cause.message).collect();
    assert_eq!(
        causes,
        ["an administrator's guardrail slowly forbids 1.0.0 -> 1.3.0"]
    );
    let message = answer.message.expect("it is refused");
    assert!(!message.contains("author"), "{message}");
    assert_eq!(answer.advice.path, ["1.0.0", "1.1.0", "1.2.0", "1.3.0"]);
}

#[test]
fn the_first_line_says_whose_guardrails_cannot_be_read() {
    let snapshot = imposing(&blobs(&POOL, "1.0.0"), imposed(&json!("none")));
    let answer = judged(&snapshot, "1.0.0", Asked::range("1.1.0"));
    let message = answer.message.expect("it is refused");
    assert_eq!(
        message.lines().next(),
        Some(
            "p: 1.0.0 -> 1.1.0 refused: an administrator's guardrails cannot be read, so they forbid every upgrade [Guardrail]"
        )
    );
}
