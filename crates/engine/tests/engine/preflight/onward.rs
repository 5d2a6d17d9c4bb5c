//! The effect of a bundle that OLM does not install on audits, automatic upgrades and paths.

use olmguard_catalog::olm::{PreflightMode, Rules};
use olmguard_engine::audit::{Audit, Concern, Difference, Onward, as_set_now, differences};
use olmguard_engine::extension::Policy;
use olmguard_engine::inquiry::Inquiry;
use olmguard_engine::judge::{
    Basis, Policies, Requester, StatedInstalled, Token, UpgradePolicies, WalkEnd, denied_steps,
    judge, pin,
};
use olmguard_engine::resolve::EditContext;
use olmguard_engine::snapshot::Snapshot;
use olmguard_fixtures::question::ask;
use olmguard_fixtures::written::written;
use olmguard_policy::UpgradePolicy;
use serde_json::{Value, json};

use super::{Cluster, OFF, ON, UNKNOWN, bundle_of, extension, modes, watching};

#[test]
fn an_audit_tells_what_can_no_longer_be_installed_and_what_can_again() {
    use Difference::{Allowed, Installable, NotInstallable};
    let good = || Cluster::new(UNKNOWN, &modes(&["AllNamespaces", "OwnNamespace"]));
    let perhaps = || Cluster::new(UNKNOWN, &modes(&["OwnNamespace"]));
    let never = || Cluster::new(UNKNOWN, &modes(&["MultiNamespace"]));
    let rows: [(Cluster, Cluster, &[Difference]); 7] = [
        (good(), good(), &[]),
        (good(), perhaps(), &[NotInstallable]),
        (good(), never(), &[NotInstallable]),
        (perhaps(), never(), &[NotInstallable]),
        (perhaps(), good(), &[Installable]),
        (never(), good(), &[Allowed]),
        (never(), perhaps(), &[Allowed]),
    ];
    let mut extension = extension("ext", "1.x", &watching("ns"));
    extension.installed = bundle_of("1.0.0");
    let requester = Requester::unknown();
    let edit = as_set_now(&extension, requester);
    let words = [NotInstallable, Installable, Allowed];
    for (at, (before, after, expected)) in rows.into_iter().enumerate() {
        let snapshots = [before.snapshot(), after.snapshot()];
        let [before, after] = snapshots
            .each_ref()
            .map(|snapshot| Audit::of(Basis::without_policies(snapshot), &edit));
        let mut found = differences(&before, &after);
        found.retain(|found| words.contains(found));
        assert_eq!(found, expected, "row {at}");
        let is_named = after.concerns().contains(&Concern::NotInstallable);
        assert_eq!(is_named, !checks_of(&after).is_empty(), "row {at}");
        assert!(
            !after.concerns().contains(&Concern::Unresolvable),
            "row {at}"
        );
    }
}

/// OLM prefers 1.2.0, which it does not install, to 1.1.5.
#[test]
fn one_edit_is_not_enough_for_a_path_around_a_bundle() {
    let lines = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.1.5 replaces 1.1.0; 1.2.0 replaces 1.1.0; \
                 1.3.0 replaces 1.2.0 skips 1.1.5";
    let advice = |more: &str| {
        let lines = format!("{lines}\n{more}");
        let question = ask(&[("c", 0, &written(&lines))]);
        question.installed("1.0.0").range("1.3.0").answer().advice
    };
    let free = advice("");
    assert_eq!(free.path, ["1.0.0", "1.1.0", "1.2.0", "1.3.0"]);
    assert!(free.one_edit.is_some());
    let closed = advice("(requires): 1.2.0 olm.csv.metadata");
    assert_eq!(closed.path, ["1.0.0", "1.1.0", "1.1.5", "1.3.0"]);
    assert_eq!(closed.one_edit, None);
}

/// 1.1.0 requires a `spec.config`, and whether the extension has one is unknown.
#[test]
fn unknown_settings_forbid_no_step_with_or_without_the_override() {
    let snapshot = Cluster::new(ON, &modes(&["SingleNamespace"])).snapshot();
    let extension = extension("ext", "1.x", &Value::Null);
    let bound = extension.filter.expect("a filter").without_version();
    let stated = StatedInstalled {
        text: "1.0.0".to_owned(),
        ..StatedInstalled::default()
    };
    for filter in [bound.with_policy(Policy::SelfCertified), bound] {
        let basis = Basis::without_policies(&snapshot);
        let inquiry = Inquiry::of(basis, &filter, &stated, EditContext::unknown());
        let inquiry = inquiry.expect("a question");
        let targets = inquiry.target("1.1.0").expect("a bundle");
        let found = inquiry.path(Some(&targets)).steps;
        assert_eq!(found.map(|steps| steps.len()), Some(1), "{filter:?}");
    }
}

/// OLM stops before the bundle. The next edit avoids it, or no edit exists.
#[test]
fn a_bundle_that_is_not_installed_ends_the_upgrades_of_an_audit() {
    let requester = Requester::unknown();
    let seen = |lines: &str, range: &str| {
        let question = ask(&[("c", 0, &written(lines))]);
        let mut extension = extension("ext", range, &Value::Null);
        extension.installed = bundle_of("1.0.0");
        let snapshot = question.snapshot();
        let basis = Basis::without_policies(&snapshot);
        let audit = Audit::of(basis, &as_set_now(&extension, requester));
        let walk = audit.automatic.as_ref().expect("a walk");
        let is_ended = matches!(walk.end, WalkEnd::NotInstalled(_));
        let onward = match &audit.place.as_ref().expect("a place").onward {
            Onward::Now(next) => next.path.as_slice(),
            Onward::NotInstallable(found) => &[found.refused],
            _ => &[],
        };
        let onward: Vec<_> = onward.iter().filter_map(|step| pin(*step)).collect();
        let concerns: Vec<_> = audit.concerns().into_iter().map(Concern::as_str).collect();
        (concerns, walk.steps.len(), is_ended, onward)
    };
    let of = |concerns: &[&'static str], walk, is_ended, onward: &[&str]| {
        let onward = onward.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        (concerns.to_vec(), walk, is_ended, onward)
    };
    let chain = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0";
    let without = |version| format!("{chain}\n(requires): {version} olm.csv.metadata");
    let open = ">=1.0.0";
    let closed = ["not_installable", "path_not_installable", "unbounded"];
    assert_eq!(
        seen(&without("1.1.0"), open),
        of(&closed, 0, true, &["1.1.0"])
    );
    let closed = ["path_not_installable"];
    assert_eq!(
        seen(&without("1.1.0"), "1.0.0"),
        of(&closed, 0, false, &["1.1.0"])
    );
    let moves = ["moves", "unbounded"];
    assert_eq!(
        seen(&without("1.2.0"), open),
        of(&moves, 1, true, &["1.1.0"])
    );
    assert_eq!(seen(chain, open), of(&moves, 2, false, &["1.1.0", "1.2.0"]));
    let around = format!("{}\nb: 1.2.0 replaces 1.0.0", without("1.1.0"));
    assert_eq!(
        seen(&around, "1.0.0"),
        of(&["behind"], 0, false, &["1.2.0"])
    );
}

/// OLM does not reach the bundle that the policy and the guardrail forbid.
#[test]
fn rules_about_steps_behind_a_bundle_that_is_not_installed_deny_nothing() {
    let chain = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0; 2.0.0 replaces 1.2.0";
    let judged = |lines: &str, rules: &Value, preflight: PreflightMode| {
        let policy = UpgradePolicy::read(&json!({
            "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy",
            "metadata": {"name": "prod"}, "spec": {"rules": rules},
        }));
        let policies = Policies {
            upgrades: UpgradePolicies::of([policy]),
            ..Policies::default()
        };
        let asked = ask(&[("c", 0, &written(lines))]).snapshot();
        let rules = Rules {
            preflight,
            ..asked.rules().clone()
        };
        let snapshot = Snapshot::new(rules, asked.catalogs().to_vec());
        let basis = Basis {
            snapshot: &snapshot,
            policies: &policies,
        };
        let mut extension = extension("ext", ">=1.0.0", &Value::Null);
        extension.installed = bundle_of("1.0.0");
        let edit = as_set_now(&extension, Requester::unknown());
        let concerns = Audit::of(basis, &edit).concerns();
        let is_forbidden = concerns.contains(&Concern::Forbidden);
        let request = edit.request().expect("a filter");
        let installed = request.installed.bundle().expect("a bundle");
        let denied = denied_steps(basis, &request, installed).len();
        (judge(basis, &edit).token(), is_forbidden, denied)
    };
    let (minor, deny) = (json!({"step": "Minor"}), PreflightMode::Deny);
    assert_eq!(judged(chain, &minor, deny), (Token::Policy, true, 1));
    let without = |version: &str| format!("{chain}\n(requires): {version} olm.csv.metadata");
    let ended = judged(&without("1.2.0"), &minor, deny);
    assert_eq!(ended, (Token::Resolved, false, 0));
    // Rules judge the edit itself even if a bundle that is not installed only gives a warning.
    let warn = PreflightMode::Warn;
    let (token, ..) = judged(&without("1.1.0"), &minor, warn);
    assert_eq!(token, Token::Resolved);
    let denied = json!({"versions": {"deny": "1.1.0"}});
    let (token, ..) = judged(&without("1.1.0"), &denied, warn);
    assert_eq!(token, Token::Policy);
}

/// Edges continue, so the catalog author need not add one.
#[test]
fn a_bundle_on_the_way_that_is_not_installed_is_named() {
    let cluster = Cluster::new(OFF, &modes(&["OwnNamespace"])).with_newer();
    let [old, new] = ["1.0.0", "1.2.0"].map(|pin| extension("ext", pin, &Value::Null));
    let answer = cluster.updated(&old, &new, "1.0.0");
    assert_eq!(answer.token, Token::NotASuccessor);
    let message = answer.message.expect("a message");
    let blocked = "Blocked by: P.v1.1.0 does not support the install mode AllNamespaces. ";
    assert!(
        message.contains("No upgrade path from 1.0.0 to 1.2.0 that OLM can install.\n")
            && message.contains(blocked),
        "{message}"
    );
    let installable = Cluster::new(OFF, &modes(&["AllNamespaces"])).with_newer();
    let answer = installable.updated(&old, &new, "1.0.0");
    assert_eq!(answer.advice.path, ["1.0.0", "1.1.0", "1.2.0"]);
}

fn checks_of(audit: &Audit<'_>) -> Vec<&'static str> {
    let refusal = audit.not_installable();
    let checks = refusal.map(|refusal| refusal.faults.checks());
    let checks = checks.unwrap_or_default().into_iter();
    checks
        .map(olmguard_preflight::PreflightCheck::as_str)
        .collect()
}
