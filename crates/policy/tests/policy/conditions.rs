//! Conditions of policies: when they are evaluated, their total cost, and their violations.

use crate::examples::{DENY, says, violated};
use crate::facts::{Facts, named, policy};
use olmguard_policy::{
    Change, ConditionOutcome, ConditionSubject, Conditions, PolicyRule, PolicyViolation,
    UpgradePolicy,
};
use serde_json::json;

/// An audit has no user, so conditions that depend on the user cannot be decided.
#[test]
fn a_condition_on_the_user_is_not_evaluated_without_a_user() {
    let rules = json!({"conditions": [
        {"expression": "user.name == 'x'"},
        {"expression": "to.minor < 7 || user.groups.exists(g, g == 'platform')"},
        {"expression": "to.minor < 7"},
    ]});
    let facts = Facts::update("0.6.0", "0.7.0");
    let all = [0, 1, 2].map(|number| format!("spec.rules.conditions[{number}]"));
    assert_eq!(violated(&rules, &facts.change()), all);
    let by_no_one = facts.by_no_one();
    assert_eq!(violated(&rules, &by_no_one.change()), all[2..]);
}

#[test]
fn conditions_of_all_policies_are_bounded_together() {
    let costly = json!({"conditions": [
        {"expression": "user.groups.all(g, user.groups.all(h, g != h || true))"},
    ]});
    let mut policies: Vec<_> = (0..100).map(|_| policy(&costly)).collect();
    policies.push(policy(&json!({"step": "Minor"})));
    for _ in 0..2 {
        UpgradePolicy::bound_together(&mut policies);
        let refused = policies
            .iter()
            .position(|policy| !policy.faults().is_empty());
        let refused = refused.expect("some are too costly");
        assert!(refused >= 4, "{refused} policies fit");
        let (accepted, others) = policies.split_at(refused);
        assert!(accepted.iter().all(UpgradePolicy::has_conditions));
        let (cheap, others) = others.split_last().expect("the last");
        assert_eq!(cheap.faults(), []);
        for policy in others {
            let [fault] = policy.faults() else {
                panic!("{:?}", policy.faults());
            };
            assert_eq!(
                fault.to_string(),
                "spec.rules.conditions: the conditions of all UpgradePolicies are too costly together: expected \
                 fewer, simpler or over smaller lists"
            );
            let found = policy.violations(&Facts::update("0.6.0", "0.6.1").change());
            let rules: Vec<_> = found.into_iter().map(|found| found.rule).collect();
            assert_eq!(rules, [PolicyRule::Unreadable(fault.clone())]);
        }
    }
}

#[test]
fn which_policies_are_too_costly_together_does_not_rest_on_their_order() {
    let mut policies: Vec<_> = ["f", "i", "a", "e", "h", "c", "g", "b", "d"]
        .map(named_costly)
        .into();
    for _ in 0..2 {
        assert_eq!(too_costly(&policies), ["h", "i"]);
        UpgradePolicy::bound_together(&mut policies);
        let invalid = policies.iter().filter(|policy| !policy.faults().is_empty());
        let mut invalid: Vec<_> = invalid.map(UpgradePolicy::name).collect();
        invalid.sort_unstable();
        assert_eq!(invalid, ["h", "i"]);
        policies.reverse();
    }
    policies.retain(|policy| policy.name() > "b");
    assert_eq!(
        too_costly(&policies),
        [""; 0],
        "what was refused still counts, and fits"
    );
}

/// A policy whose conditions cost more than an eighth of the total limit, and less than a seventh.
fn named_costly(name: &str) -> UpgradePolicy {
    let all = json!({"expression": "user.groups.all(g, user.groups.all(h, g != h || true))"});
    let rules = json!({"rules": {"conditions": [all]}});
    UpgradePolicy::read(&named(name, &rules))
}

fn too_costly(policies: &[UpgradePolicy]) -> Vec<&str> {
    let beyond = UpgradePolicy::too_costly_together(policies);
    beyond.into_iter().map(UpgradePolicy::name).collect()
}

#[test]
fn conditions_that_are_not_evaluated_in_time_are_not_met() {
    let rules = json!({"step": "Patch", "conditions": [{"expression": "true"}]});
    let policies = [policy(&rules)];
    let facts = Facts::update("0.6.0", "0.7.0");
    let found = |conditions| {
        let found = UpgradePolicy::violations_of(&policies, &facts.change(), conditions);
        let rules = found.into_iter().map(|(_, found)| found.rule.path());
        rules.collect::<Vec<_>>()
    };
    let step = "spec.rules.step";
    assert_eq!(found(Conditions::ALL), [step]);
    assert_eq!(found(Conditions::Skipped), [step]);
    assert_eq!(
        found(Conditions::EvaluatedUntil(&|| true)),
        [step, "spec.rules.conditions[0]"]
    );
}

#[test]
fn a_condition_has_its_place_and_message() {
    let rules = json!({"conditions": [
        {"expression": "true"},
        {
            "expression": "from == null || to.major == from.major",
            "message": "major upgrades are the platform team's",
        },
        {"expression": "labels.tier == 'production'"},
    ]});
    let condition = |index, expression: &str, about, outcome| PolicyRule::Condition {
        index,
        expression: expression.to_owned(),
        about,
        outcome,
    };
    let message = Some("major upgrades are the platform team's".to_owned());
    let major = condition(
        1,
        "from == null || to.major == from.major",
        ConditionSubject::Bundle,
        ConditionOutcome::False { message },
    );
    let error = "there is no key \"tier\"".to_owned();
    let tier = condition(
        2,
        "labels.tier == 'production'",
        ConditionSubject::Edit,
        ConditionOutcome::Failed { error },
    );
    assert_eq!(major.path(), "spec.rules.conditions[1]");
    says(
        &rules,
        &Facts::update("0.7.0", "1.0.0"),
        &[(major, DENY), (tier, DENY)],
    );
}

/// Automatic upgrades have neither a user nor the time of an edit, so fewer rules apply to them.
#[test]
fn a_rule_is_of_the_bundle_of_each_step_or_of_the_edit() {
    let condition = |about| PolicyRule::Condition {
        index: 0,
        expression: "false".to_owned(),
        about,
        outcome: ConditionOutcome::False { message: None },
    };
    let of = |rule: PolicyRule| (rule.is_of_bundle(), rule.is_of_each_step());
    assert_eq!(of(PolicyRule::Prerelease), (true, true));
    assert_eq!(of(PolicyRule::Bypass), (false, false));
    assert_eq!(of(condition(ConditionSubject::Bundle)), (true, true));
    assert_eq!(of(condition(ConditionSubject::Both)), (false, true));
    assert_eq!(of(condition(ConditionSubject::Edit)), (false, false));
}

#[test]
fn a_condition_that_does_not_compile_refuses_every_move() {
    let policy = policy(&json!({"conditions": [{"expression": "to.major =="}]}));
    let [fault] = policy.faults() else {
        panic!("{:?}", policy.faults());
    };
    assert_eq!(
        fault.to_string(),
        "spec.rules.conditions[0].expression: not a valid CEL expression: unexpected end of the text"
    );
    assert_eq!(fault.at(), Some(11));
    let facts = Facts::update("0.6.0", "0.6.1");
    let found = policy.violations(&facts.change());
    let rule = PolicyRule::Unreadable(fault.clone());
    assert_eq!(rule.path(), "spec.rules.conditions[0].expression");
    assert_eq!(
        found,
        [PolicyViolation {
            rule,
            enforcement: DENY
        }]
    );
    let stays = Change {
        is_move: false,
        ..facts.change()
    };
    assert_eq!(policy.violations(&stays), []);
}

/// Conditions share the values that they read. A value over its limit fails only the conditions that read it.
#[test]
fn policies_together_say_what_each_says() {
    let expressions = [
        "to.minor == 7",
        "from.major == to.major",
        "labels.all(key, key == 'x')",
        "to.minor < 7 && size(labels) > 0",
        "package == 'nothing'",
        "to.major == 0",
    ];
    let policies = expressions.map(|expression| {
        policy(&json!({"step": "Patch", "conditions": [{"expression": expression}]}))
    });
    let facts = Facts::update("0.6.0", "0.7.0").with_label("x", &"a".repeat(100_000));
    let change = facts.change();
    let together = UpgradePolicy::violations_of(&policies, &change, Conditions::ALL);
    let each = policies.iter().flat_map(|policy| {
        let violations = policy.violations(&change).into_iter();
        violations.map(move |violation| (policy.name().to_owned(), violation))
    });
    let together: Vec<_> = together
        .into_iter()
        .map(|(policy, violation)| (policy.name().to_owned(), violation))
        .collect();
    assert_eq!(together, each.collect::<Vec<_>>());
    let failed = together.iter().filter(|(_, violation)| {
        matches!(
            violation.rule,
            PolicyRule::Condition {
                outcome: ConditionOutcome::Failed { .. },
                ..
            }
        )
    });
    assert_eq!(failed.count(), 2, "{together:?}");
}
