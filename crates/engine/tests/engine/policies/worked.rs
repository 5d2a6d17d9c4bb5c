//! The worked examples of upgrade policies, one test for each rule, with the text of the denial.

use olmguard_engine::explain::Answer;
use olmguard_engine::judge::{FixValue, Token};
use serde_json::{Value, json};

use crate::policies::Scene;

/// The lines of a denial, without those about the catalog and the help.
fn lines(answer: &Answer) -> Vec<&str> {
    let message = answer.message.as_deref().unwrap_or_default();
    let is_about_edit = |line: &&str| !line.starts_with("Catalog: ") && !line.starts_with("Help: ");
    message.lines().filter(is_about_edit).collect()
}

fn allows(scene: &Scene) {
    let answer = scene.answer();
    assert_eq!(answer.token, Token::Resolved, "{:?}", answer.message);
}

fn denies(scene: &Scene, expected: &[&str]) -> Answer {
    let answer = scene.answer();
    assert_eq!(answer.token, Token::Policy, "{:?}", answer.message);
    assert_eq!(lines(&answer), expected);
    answer
}

#[test]
fn a_step_within_the_largest_one_passes() {
    allows(&Scene::to("0.7.0").ruled("prod", &json!({"rules": {"step": "Minor"}})));
}

#[test]
fn a_larger_step_is_denied_and_the_allowed_ones_are_named() {
    denies(
        &Scene::to("0.7.0").ruled("prod", &json!({"rules": {"step": "Patch"}})),
        &[
            "argocd-operator: 0.6.0 -> 0.7.0 refused: policy prod allows Patch steps at most, and this is a Minor \
             step [Policy]",
            "Rule: UpgradePolicy prod, spec.rules.step",
            "Allowed next: 0.6.1",
            "No upgrade path from 0.6.0 to 0.7.0 that all policies allow. Highest reachable: 0.6.1.",
        ],
    );
    denies(
        &Scene::to("1.0.0")
            .from("0.7.0")
            .ruled("prod", &json!({"rules": {"step": "Minor"}})),
        &[
            "argocd-operator: 0.7.0 -> 1.0.0 refused: policy prod allows Minor steps at most, and this is a Major \
             step [Policy]",
            "Rule: UpgradePolicy prod, spec.rules.step",
            "No upgrade path from 0.7.0 to 1.0.0 that all policies allow.",
        ],
    );
}

#[test]
fn a_denied_version_is_left_out_by_the_range_of_the_fix() {
    let scene =
        Scene::to(">=0.6.0").ruled("prod", &json!({"rules": {"versions": {"deny": "0.7.0"}}}));
    let answer = denies(
        &scene,
        &[
            "argocd-operator: 0.6.0 -> >=0.6.0 refused: policy prod denies 0.7.0 (versions.deny: 0.7.0) [Policy]",
            "Rule: UpgradePolicy prod, spec.rules.versions.deny",
            "Allowed next: 0.6.1",
            "Path: 0.6.0 -> 0.6.1",
            "Fix: set spec.source.catalog.version to \">=0.6.0 <0.7.0\"",
        ],
    );
    let fix = answer.advice.fix.expect("a fix");
    let FixValue::Text(range) = fix.value else {
        panic!("a range");
    };
    allows(&scene.with_version(&range));
}

/// No path avoids the version, but the range can be kept without it.
#[test]
fn a_range_without_the_denied_version_stays_where_it_is() {
    let denied = json!({"rules": {"versions": {"deny": "1.0.0"}}});
    let scene = Scene::to(">=0.6.0").from("0.7.0").ruled("prod", &denied);
    let answer = scene.answer();
    assert_eq!(answer.token, Token::Policy);
    let fix = "Fix: set spec.source.catalog.version to \">=0.6.0 !=1.0.0\"";
    assert!(lines(&answer).contains(&fix), "{:?}", answer.message);
    assert_eq!(
        scene.with_version(">=0.6.0 !=1.0.0").answer().token,
        Token::Unchanged
    );
    // A closed window denies every move. Without the version, nothing remains of the edit.
    let closed = json!({"rules": {"windows": [{"schedule": "0 22 * * *", "duration": "1h"}]}});
    let closed = Scene::to("0.6.x").ruled("nights", &closed).answer();
    assert_eq!(closed.advice.fix, None);
    assert!(lines(&closed).contains(&"Wait until the next window opens."));
    let groups = Scene::to(">=0.6.0 <0.6.1 || >=0.7.0").from("0.7.0");
    assert_eq!(groups.ruled("prod", &denied).answer().advice.fix, None);
}

#[test]
fn of_very_many_rules_those_that_are_not_named_are_counted() {
    let mut scene = Scene::to("0.7.0");
    for number in 0..40 {
        scene = scene.ruled(
            &format!("p{number:02}"),
            &json!({"rules": {"step": "Patch"}}),
        );
    }
    let answer = scene.answer();
    let lines = lines(&answer);
    let counted = |label: &str| {
        let line = lines.iter().find_map(|line| line.strip_prefix(label));
        let line = line.expect("a line");
        let (named, more) = line.rsplit_once(" and ").expect("more");
        let more: usize = more.strip_suffix(" more").expect("more").parse().unwrap();
        named.split("; ").count() + more
    };
    assert_eq!((counted("Also: "), counted("Rule: ")), (39, 40));
}

#[test]
fn waiting_helps_only_where_time_is_all_that_is_missing() {
    let window = |hour: u8| {
        let schedule = format!("0 {hour} * * *");
        json!({"rules": {"windows": [{"schedule": schedule, "duration": "1h"}]}})
    };
    let needed = |scene: &Scene| scene.answer().needed.expect("something");
    let nights = Scene::to("0.6.1").ruled("nights", &window(22));
    assert_eq!(needed(&nights), "Wait until the next window opens.");
    assert_eq!(
        needed(&nights.clone().ruled("mornings", &window(3))),
        "Wait until the windows of all these policies are open at the same time."
    );
    let shaped = |hour: u8, range: &str| {
        let mut rules = window(hour);
        rules["rules"]["range"] = range.into();
        rules
    };
    let wide = Scene::to(">=0.6.0").ruled("nights", &shaped(22, "Bounded"));
    assert_eq!(
        needed(&wide),
        "When the next window opens, set a range that the policies accept."
    );
    assert_eq!(
        needed(&wide.ruled("mornings", &shaped(3, "Pinned"))),
        "When the windows of all these policies are open at the same time, set a range that they accept."
    );
    let denied = json!({"rules": {"versions": {"deny": "0.6.1"}}});
    assert_eq!(
        needed(&nights.ruled("denied", &denied)),
        "No upgrade path from 0.6.0 to 0.6.1 that all policies allow."
    );
}

#[test]
fn a_closed_window_names_its_next_opening() {
    let nights = json!({"rules": {"windows": [
        {"schedule": "0 22 * * 1-5", "duration": "6h", "timeZone": "Europe/Berlin"},
    ]}});
    let closed = Scene::to("0.6.1").ruled("nights", &nights);
    denies(
        &closed,
        &[
            "argocd-operator: 0.6.0 -> 0.6.1 refused: policy nights allows changes of version only in its windows; the \
             next opens at 2026-11-20T22:00:00+01:00 Europe/Berlin (2026-11-20T21:00:00Z) [Policy]",
            "Rule: UpgradePolicy nights, spec.rules.windows",
            "Wait until the next window opens.",
        ],
    );
    assert_eq!(closed.answer_to_labels().token, Token::NotJudged);
    let install = closed.clone().install();
    assert_eq!(install.answer().token, Token::Policy);
    for open in ["2026-11-20T21:00:00Z", "2026-11-21T02:59:59Z"] {
        allows(&Scene {
            at: open,
            ..closed.clone()
        });
    }
    let unbounded = closed.with_version(">=0.6.1").answer();
    assert!(lines(&unbounded).contains(
        &"Note: the range has no upper bound: a window does not stop OLM from installing newer versions automatically"
    ));
}

#[test]
fn a_range_that_is_too_wide_is_replaced_by_what_it_resolves_to() {
    denies(
        &Scene::to(">=0.6.1 <0.7.0").ruled("prod", &json!({"rules": {"range": "Pinned"}})),
        &[
            "argocd-operator: 0.6.0 -> >=0.6.1 <0.7.0 refused: policy prod requires one exact version, not \
             >=0.6.1 <0.7.0 [Policy]",
            "Rule: UpgradePolicy prod, spec.rules.range",
            "Allowed next: 0.7.0, 0.6.1",
            "Fix: set spec.source.catalog.version to \"0.6.1\"",
        ],
    );
    let bounded = Scene::to(">=0.6.0 <0.7.0 || >=0.7.0")
        .ruled("prod", &json!({"rules": {"range": "Bounded"}}));
    let answer = bounded.answer();
    let fix = lines(&answer)
        .into_iter()
        .find(|line| line.starts_with("Fix"));
    assert_eq!(
        fix,
        Some("Fix: set spec.source.catalog.version to \">=0.6.0 <1.0.0\"")
    );
    allows(&bounded.with_version(">=0.6.0 <1.0.0"));
}

#[test]
fn the_bypass_is_bound_by_policies() {
    let denied = json!({"rules": {"bypass": "Deny"}});
    denies(
        &Scene::to("1.0.0").bypassing().ruled("prod", &denied),
        &[
            "argocd-operator: 0.6.0 -> 1.0.0 refused: policy prod does not allow the override [Policy]",
            "Rule: UpgradePolicy prod, spec.rules.bypass",
            "Remove the override: olmguard path shows which upgrades are possible without it.",
        ],
    );
    let answer = Scene::to("0.7.0")
        .bypassing()
        .ruled("prod", &denied)
        .answer();
    assert!(
        lines(&answer).contains(
            &"Fix: set spec.source.catalog.upgradeConstraintPolicy to \"CatalogProvided\""
        )
    );
    let by_permission = json!({"rules": {"bypass": "ByPermission"}});
    let asked = Scene::to("1.0.0")
        .bypassing()
        .ruled("prod", &by_permission)
        .answer();
    assert_eq!(asked.token, Token::Bypassed);
    assert_eq!(
        asked.warnings[..2],
        [
            "upgradeConstraintPolicy is SelfCertified: this skips upgrade edges; data loss is possible",
            "policy prod requires the permission \"bypass\" for the override: the API server checks it"
        ]
    );
}

/// Only users with the permission can follow the advice, if the policy denies.
#[test]
fn the_override_names_the_permission_that_it_needs() {
    let overrides = |spec: &Value| {
        let answer = Scene::to("1.0.0").ruled("prod", spec).answer();
        assert_eq!(answer.token, Token::NotASuccessor);
        let lines = lines(&answer).into_iter();
        let found = lines.filter(|line| line.starts_with("Override"));
        found.map(str::to_owned).collect::<Vec<_>>()
    };
    let set = "Override: set spec.source.catalog.upgradeConstraintPolicy to SelfCertified; data loss is possible";
    let by_permission = json!({"rules": {"bypass": "ByPermission"}});
    assert_eq!(
        overrides(&by_permission),
        [format!("{set}; it needs the permission \"bypass\"")]
    );
    let warns = json!({"enforcement": "Warn", "rules": {"bypass": "ByPermission"}});
    assert_eq!(overrides(&warns), [set]);
    assert_eq!(overrides(&json!({"rules": {"bypass": "Allow"}})), [set]);
    assert_eq!(overrides(&json!({"rules": {"bypass": "Deny"}})), [""; 0]);
}

#[test]
fn of_two_policies_the_one_that_denies_is_enough() {
    let answer = denies(
        &Scene::to("0.7.0")
            .ruled(
                "a",
                &json!({"enforcement": "Warn", "rules": {"step": "Patch"}}),
            )
            .ruled("b", &json!({"rules": {"step": "Patch"}})),
        &[
            "argocd-operator: 0.6.0 -> 0.7.0 refused: policy b allows Patch steps at most, and this is a Minor \
             step [Policy]",
            "Rule: UpgradePolicy b, spec.rules.step",
            "Allowed next: 0.6.1",
            "No upgrade path from 0.6.0 to 0.7.0 that all policies allow. Highest reachable: 0.6.1.",
        ],
    );
    assert_eq!(
        answer.warnings,
        ["policy a allows Patch steps at most, and this is a Minor step"]
    );
    let enforcements: Vec<_> = answer
        .policies
        .iter()
        .map(|found| found.enforcement)
        .collect();
    assert_eq!(enforcements, ["Deny", "Warn"]);
}

#[test]
fn every_rule_that_denies_is_a_cause_and_the_first_is_line_1() {
    let answer = denies(
        &Scene::to(">=1.4.1").bypassing().ruled(
            "prod",
            &json!({"rules": {"deprecated": "Deny", "range": "Bounded", "catalogs": ["other"]}}),
        ),
        &[
            "argocd-operator: 0.6.0 -> >=1.4.1 refused: policy prod denies what is deprecated: 1.4.1 [Policy]",
            "Also: policy prod requires a range with an upper bound, not >=1.4.1; policy prod does not allow catalog \
             operatorhubio",
            "Rule: UpgradePolicy prod, spec.rules.deprecated; UpgradePolicy prod, spec.rules.range; UpgradePolicy prod, \
             spec.rules.catalogs",
            "No upgrade path from 0.6.0 to 1.4.1 that all policies allow.",
        ],
    );
    let fields: Vec<_> = answer.causes.iter().map(|cause| &*cause.field).collect();
    assert_eq!(
        fields,
        [
            "spec.source.catalog.version",
            "spec.source.catalog.version",
            "spec.source.catalog.selector"
        ]
    );
}

#[test]
fn a_condition_that_cannot_be_evaluated_says_why() {
    let missing = json!({"rules": {"conditions": [{"expression": "labels.team == 'a'"}]}});
    let answer = Scene::to("0.6.1").ruled("prod", &missing).answer();
    assert_eq!(
        lines(&answer)[0],
        "argocd-operator: 0.6.0 -> 0.6.1 refused: policy prod: condition 1 cannot be evaluated: there is no key \"team\" \
         [Policy]"
    );
}

#[test]
fn a_policy_that_cannot_be_read_denies_the_moves_it_matches() {
    let broken = json!({"rules": {"conditions": [{"expression": "1 +"}]}});
    let scene = Scene::to("0.6.1").ruled("prod", &broken);
    let answer = scene.answer();
    assert_eq!(answer.token, Token::Policy);
    let lines = lines(&answer);
    assert_eq!(
        lines[..3],
        [
            "argocd-operator: 0.6.0 -> 0.6.1 refused: policy prod is not valid, so it denies every change of version \
             [Policy]",
            "Cause: spec.rules.conditions[0].expression: not a valid CEL expression: unexpected end of the text",
            "Rule: UpgradePolicy prod, spec.rules.conditions[0].expression",
        ]
    );
    assert_eq!(
        lines.last(),
        Some(&"Fix UpgradePolicy prod: it is not valid.")
    );
    let mut warns = broken;
    warns["enforcement"] = json!("Warn");
    assert_eq!(
        Scene::to("0.6.1").ruled("prod", &warns).answer().warnings,
        ["policy prod is not valid, so it warns of every change of version"]
    );
    assert_eq!(scene.answer_to_labels().token, Token::NotJudged);
    let elsewhere =
        json!({"match": {"packages": ["other"]}, "rules": {"conditions": [{"expression": "1 +"}]}});
    allows(&Scene::to("0.6.1").ruled("prod", &elsewhere));
}

#[test]
fn a_condition_decides_by_who_asks() {
    let platform = json!({"rules": {"conditions": [{
        "expression": "from == null || to.major == from.major || user.groups.exists(g, g == 'platform')",
        "message": "major upgrades are the platform team's",
    }]}});
    let scene = Scene::to("1.0.0").from("0.7.0").ruled("prod", &platform);
    denies(
        &scene,
        &[
            "argocd-operator: 0.7.0 -> 1.0.0 refused: policy prod: condition not met: major \
             upgrades are the platform team's [Policy]",
            "Rule: UpgradePolicy prod, spec.rules.conditions[0]",
            "No upgrade path from 0.7.0 to 1.0.0 that all policies allow.",
        ],
    );
    allows(&Scene {
        groups: vec!["platform".to_owned()],
        ..scene
    });
}

#[test]
fn policies_bind_what_they_match() {
    let spec = |matching| json!({"match": matching, "rules": {"step": "Patch"}});
    for (matching, binds) in [
        (json!({}), true),
        (json!({"packages": ["argocd-*"]}), true),
        (json!({"packages": ["argo"]}), false),
        (
            json!({"extensionSelector": {"matchLabels": {"tier": "production"}}}),
            true,
        ),
        (
            json!({"extensionSelector": {"matchLabels": {"tier": "test"}}}),
            false,
        ),
        (json!({"namespaces": ["argocd"]}), true),
        (
            json!({"namespaces": ["other"], "packages": ["argocd-operator"]}),
            false,
        ),
    ] {
        let token = Scene::to("0.7.0")
            .ruled("prod", &spec(matching.clone()))
            .answer()
            .token;
        let expected = if binds {
            Token::Policy
        } else {
            Token::Resolved
        };
        assert_eq!(token, expected, "{matching}");
    }
}

#[test]
fn what_is_not_a_successor_is_refused_as_ever_and_names_the_policy_that_closes_the_path() {
    let frozen = json!({"rules": {"versions": {"deny": "*"}}});
    let answer = Scene::to("1.0.0").ruled("freeze", &frozen).answer();
    assert_eq!(answer.token, Token::NotASuccessor);
    let lines = lines(&answer);
    assert!(
        lines.contains(&"Blocked by: policy freeze denies 0.7.0 (versions.deny: *)"),
        "{lines:#?}"
    );
    assert!(
        lines.contains(&"No upgrade path from 0.6.0 to 1.0.0 that all policies allow."),
        "{lines:#?}"
    );
}

/// Nothing is installed before OLM has applied the first edit.
#[test]
fn an_edit_of_an_extension_of_which_nothing_is_installed_is_an_update() {
    let scene = Scene::to("0.7.0").install().ruled(
        "created-once",
        &json!({"rules": {"conditions": [{"expression": "operation == 'CREATE'"}]}}),
    );
    let old = Scene::to("0.6.1").install().extension();
    assert_eq!(scene.answer().token, Token::Resolved);
    assert_eq!(scene.answer_to(Some(&old)).token, Token::Policy);
}
