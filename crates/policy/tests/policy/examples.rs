//! Rules of policies by worked examples: which of them a change violates.

use crate::facts::{Facts, policy, spec};
use olmguard_policy::{
    BypassPermission, Change, ConditionOutcome, ConditionSubject, Enforcement, Maker, PolicyOrigin,
    PolicyRule, PolicyViolation, RangeShape, Step, UpgradePolicy,
};
use serde_json::{Value, json};

pub(crate) const DENY: Enforcement = Enforcement::Deny;
const WARN: Enforcement = Enforcement::Warn;

#[track_caller]
pub(crate) fn says(rules: &Value, facts: &Facts, expected: &[(PolicyRule, Enforcement)]) {
    says_of(rules, &facts.change(), expected);
}

#[track_caller]
fn says_of(rules: &Value, change: &Change<'_>, expected: &[(PolicyRule, Enforcement)]) {
    let policy = policy(rules);
    assert_eq!(policy.faults(), []);
    let found = policy.violations(change);
    let expected = expected.iter().cloned();
    let expected: Vec<_> = expected
        .map(|(rule, enforcement)| PolicyViolation { rule, enforcement })
        .collect();
    assert_eq!(found, expected, "{rules}");
}

fn step(found: Step, largest: Step) -> PolicyRule {
    PolicyRule::Step { found, largest }
}

#[test]
fn a_step_is_limited() {
    let minor = json!({"step": "Minor"});
    says(&minor, &Facts::update("0.6.0", "0.7.0"), &[]);
    says(
        &minor,
        &Facts::update("0.7.0", "1.0.0"),
        &[(step(Step::Major, Step::Minor), DENY)],
    );
    says(
        &minor,
        &Facts::update("1.0.0", "0.7.0"),
        &[(step(Step::Major, Step::Minor), DENY)],
    );
    let patch = json!({"step": "Patch"});
    says(
        &patch,
        &Facts::update("0.6.0", "0.7.0"),
        &[(step(Step::Minor, Step::Patch), DENY)],
    );
    says(&patch, &Facts::update("0.6.0", "0.6.1"), &[]);
    says(&patch, &Facts::install("1.0.0"), &[]);
    says(
        &json!({"step": "Major"}),
        &Facts::update("0.6.0", "2.0.0"),
        &[],
    );
}

#[test]
fn a_step_is_judged_only_of_a_move() {
    let facts = Facts::update("0.6.0", "1.0.0");
    let change = Change {
        is_move: false,
        ..facts.change()
    };
    says_of(&json!({"step": "Patch"}), &change, &[]);
}

#[test]
fn an_unknown_installed_version_is_not_nothing() {
    let facts = Facts::update("0.6.0", "1.0.0");
    let unknown = Change {
        from: PolicyOrigin::Unknown,
        ..facts.change()
    };
    let largest = Step::Major;
    says_of(
        &json!({"step": "Major"}),
        &unknown,
        &[(PolicyRule::StepUnknown { largest }, DENY)],
    );
    for expression in [
        "from == null || to.major == from.major",
        "from != null || true",
        "to.major == 1 || from.major == 1",
    ] {
        let rules = json!({"conditions": [{"expression": expression}]});
        let outcome = ConditionOutcome::Failed {
            error: "from: the installed version is unknown or cannot be read".to_owned(),
        };
        let rule = PolicyRule::Condition {
            index: 0,
            expression: expression.to_owned(),
            about: ConditionSubject::Bundle,
            outcome,
        };
        says_of(&rules, &unknown, &[(rule, DENY)]);
        says_of(&rules, &Facts::install("1.0.0").change(), &[]);
    }
}

/// Every rule about a bundle, each violated by 1.0.0-rc.1 from catalog operatorhubio.
fn of_bundle() -> Value {
    json!({
        "versions": {"allow": ">9", "deny": "*-0"}, "step": "Patch", "prereleases": "Deny", "deprecated": "Deny",
        "catalogs": ["internal"], "conditions": [{"expression": "to.major == 7"}, {"expression": "from.major == 7"},
            {"expression": "catalog == ''"}, {"expression": "!deprecated || namespace == 'x'"}],
    })
}

/// Every rule about an edit, each violated.
fn of_edit() -> Value {
    json!({
        "range": "Pinned", "bypass": "Deny", "windows": [{"schedule": "0 0 1 1 *", "duration": "1s"}],
        "conditions": [{"expression": "user.name == 'x'"}, {"expression": "range == ''"}],
    })
}

/// The fields of the rules that a change violates.
pub(crate) fn violated(rules: &Value, change: &Change<'_>) -> Vec<String> {
    let policy = policy(rules);
    assert_eq!(policy.faults(), []);
    let found = policy.violations(change).into_iter();
    found.map(|violation| violation.rule.path()).collect()
}

#[test]
fn rules_about_a_bundle_are_put_to_each_move_and_those_about_an_edit_once() {
    let facts = Facts::update("0.6.0", "1.0.0-rc.1").with_range("*-0");
    let edit = Change {
        bypass: true,
        deprecated: true,
        ..facts.change()
    };
    let automatic = Change {
        maker: Maker::Olm,
        ..edit
    };
    let stays = Change {
        is_move: false,
        ..edit
    };
    let all_of_bundle = violated(&of_bundle(), &edit);
    assert_eq!(all_of_bundle.len(), 10, "{all_of_bundle:?}");
    assert_eq!(violated(&of_bundle(), &automatic), all_of_bundle);
    assert_eq!(violated(&of_bundle(), &stays), [""; 0]);
    assert_eq!(violated(&of_edit(), &edit).len(), 5);
    assert_eq!(violated(&of_edit(), &automatic), [""; 0]);
    let both = json!({"conditions": [{"expression": "range == to.version || user.name == 'x'"}]});
    for change in [edit, automatic, stays] {
        assert_eq!(violated(&both, &change), ["spec.rules.conditions[0]"]);
    }
    let asked_once = ["range", "bypass", "conditions[0]", "conditions[1]"];
    assert_eq!(
        violated(&of_edit(), &stays),
        asked_once.map(|field| format!("spec.rules.{field}"))
    );
}

#[test]
fn versions_are_allowed_and_denied() {
    let deny = || PolicyRule::VersionDenied {
        deny: "0.7.0".to_owned(),
    };
    let rules = json!({"versions": {"deny": "0.7.0"}});
    says(&rules, &Facts::update("0.6.0", "0.7.0"), &[(deny(), DENY)]);
    says(&rules, &Facts::update("0.6.0", "0.6.1"), &[]);
    let rules = json!({"versions": {"allow": ">=1.2 <3", "deny": "1.4.1 || 1.4.2"}});
    let allow = PolicyRule::VersionNotAllowed {
        allow: ">=1.2 <3".to_owned(),
    };
    says(&rules, &Facts::install("1.1.0"), &[(allow, DENY)]);
    let deny = PolicyRule::VersionDenied {
        deny: "1.4.1 || 1.4.2".to_owned(),
    };
    says(&rules, &Facts::install("1.4.2"), &[(deny, DENY)]);
    says(&rules, &Facts::install("1.4.3"), &[]);
}

#[test]
fn windows_hold_moves_and_first_installs() {
    let rules = json!({"windows": [
        {"schedule": "0 22 * * 1-5", "duration": "6h", "timeZone": "Europe/Berlin"},
    ]});
    // A Monday, 19:00 UTC.
    let facts = Facts::update("0.6.0", "0.6.1");
    let policy = policy(&rules);
    for (facts, is_unbounded) in [
        (&facts, true),
        (&Facts::install("0.6.1"), true),
        (&facts.with_range(">=0.6.0 <0.7.0"), false),
    ] {
        let found = policy.violations(&facts.change());
        let [
            PolicyViolation {
                rule,
                enforcement: DENY,
            },
        ] = &found[..]
        else {
            panic!("{found:?}");
        };
        let PolicyRule::Window {
            opens: Some(opens),
            is_unbounded: found,
        } = rule
        else {
            panic!("{rule:?}");
        };
        assert_eq!(opens.at.to_string(), "2026-11-23T21:00:00Z");
        assert_eq!(opens.local, "2026-11-23T22:00:00+01:00");
        assert_eq!(opens.zone, "Europe/Berlin");
        assert_eq!(*found, is_unbounded);
        assert_eq!(rule.path(), "spec.rules.windows");
    }
    says(&rules, &facts.at("2026-11-23T21:00:00Z"), &[]);
    says_of(
        &rules,
        &Change {
            is_move: false,
            ..facts.change()
        },
        &[],
    );
    says(&json!({"windows": []}), &facts, &[]);
}

#[test]
fn a_range_has_a_shape() {
    use RangeShape::{Any, Bounded, Pinned};

    let facts = Facts::update("0.6.0", "0.6.1");
    let range = |found, needed| [(PolicyRule::Range { found, needed }, DENY)];
    let pinned = json!({"range": "Pinned"});
    says(
        &pinned,
        &facts.with_range(">=0.6.0 <0.7.0"),
        &range(Bounded, Pinned),
    );
    says(&pinned, &facts.with_range("0.6.1"), &[]);
    says(&pinned, &facts, &range(Any, Pinned));
    let bounded = json!({"range": "Bounded"});
    says(&bounded, &facts.with_range(">=0.6.0 <0.7.0"), &[]);
    says(&bounded, &facts.with_range(">=0.6.0"), &range(Any, Bounded));
    says(&json!({"range": "Any"}), &facts, &[]);
}

#[test]
fn a_bypass_is_denied_or_needs_permission() {
    let facts = Facts::update("0.6.0", "1.0.0");
    let unknown = Change {
        bypass: true,
        ..facts.change()
    };
    let asked = Change {
        permission: BypassPermission::AskedByApiServer,
        ..unknown
    };
    let deny = json!({"bypass": "Deny"});
    says_of(&deny, &unknown, &[(PolicyRule::Bypass, DENY)]);
    says_of(&deny, &asked, &[(PolicyRule::Bypass, DENY)]);
    says_of(&deny, &facts.change(), &[]);
    let permission = json!({"bypass": "ByPermission"});
    says_of(
        &permission,
        &unknown,
        &[(PolicyRule::BypassPermission, WARN)],
    );
    says_of(&permission, &asked, &[]);
    says_of(&permission, &facts.change(), &[]);
    says_of(&json!({"bypass": "Allow"}), &unknown, &[]);
}

#[test]
fn without_a_permission_check_a_bypass_by_permission_is_a_fault() {
    let facts = Facts::update("0.6.0", "1.0.0");
    let asked = Change {
        bypass: true,
        permission: BypassPermission::AskedByApiServer,
        ..facts.change()
    };
    let mut policy = policy(&json!({"bypass": "ByPermission"}));
    assert!(policy.asks_for_permission());
    policy.require_permission_check();
    policy.require_permission_check();
    let [fault] = policy.faults() else {
        panic!("{:?}", policy.faults());
    };
    assert_eq!(
        fault.to_string(),
        "spec.rules.bypass: ByPermission needs the ValidatingAdmissionPolicy of olmguard, which is \
         not in use here: install it, or write Deny"
    );
    let found = policy.violations(&asked);
    assert_eq!(found[0].rule, PolicyRule::Unreadable(fault.clone()));
    assert_eq!(found[1].rule, PolicyRule::Bypass);
    assert!(found.iter().all(|violation| violation.enforcement == DENY));
    let mut other = self::policy(&json!({"bypass": "Deny"}));
    other.require_permission_check();
    assert!(other.faults().is_empty() && !other.asks_for_permission());
}

#[test]
fn deprecation_prereleases_and_catalogs() {
    let facts = Facts::update("0.6.0", "0.7.0-rc.1");
    let change = Change {
        deprecated: true,
        ..facts.change()
    };
    says_of(
        &json!({"deprecated": "Deny"}),
        &change,
        &[(PolicyRule::Deprecated, DENY)],
    );
    says_of(
        &json!({"deprecated": "Warn"}),
        &change,
        &[(PolicyRule::Deprecated, WARN)],
    );
    says_of(&json!({"deprecated": "Allow"}), &change, &[]);
    says(&json!({"deprecated": "Deny"}), &facts, &[]);
    says(
        &json!({"prereleases": "Deny"}),
        &facts,
        &[(PolicyRule::Prerelease, DENY)],
    );
    says(&json!({"prereleases": "Allow"}), &facts, &[]);
    says(&json!({"catalogs": ["operatorhubio"]}), &facts, &[]);
    let allowed = vec!["internal".to_owned()];
    says(
        &json!({"catalogs": ["internal"]}),
        &facts,
        &[(PolicyRule::Catalog { allowed }, DENY)],
    );
}

#[test]
fn a_policy_that_warns_never_denies() {
    let mut object = spec(&json!({"enforcement": "Warn", "rules": {
        "versions": {"allow": ">9", "deny": "*"}, "step": "Patch", "deprecated": "Deny",
        "range": "Pinned", "catalogs": ["internal"], "bypass": "Deny",
        "windows": [{"schedule": "0 0 1 1 *", "duration": "1s"}],
        "conditions": [{"expression": "false"}],
    }}));
    let facts = Facts::update("0.6.0", "1.0.0");
    let change = Change {
        bypass: true,
        deprecated: true,
        ..facts.change()
    };
    let policy = UpgradePolicy::read(&object);
    assert_eq!(policy.enforcement(), WARN);
    let found = policy.violations(&change);
    let paths: Vec<String> = found
        .iter()
        .map(|violation| violation.rule.path())
        .collect();
    let order = [
        "versions.allow",
        "versions.deny",
        "step",
        "deprecated",
        "range",
        "catalogs",
        "bypass",
        "windows",
        "conditions[0]",
    ];
    assert_eq!(paths, order.map(|field| format!("spec.rules.{field}")));
    assert!(found.iter().all(|violation| violation.enforcement == WARN));
    object["spec"]["enforcement"] = json!("Deny");
    let found = UpgradePolicy::read(&object).violations(&change);
    assert!(found.iter().all(|violation| violation.enforcement == DENY));
    object["spec"]["enforcement"] = json!("Never");
    assert_eq!(UpgradePolicy::read(&object).enforcement(), DENY);
}

#[test]
fn a_policy_can_be_shared() {
    fn shared<T: Send + Sync + Clone + 'static>(_: &T) {}
    shared(&policy(&json!({"conditions": [{"expression": "true"}]})));
}
