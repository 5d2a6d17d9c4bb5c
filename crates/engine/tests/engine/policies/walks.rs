//! Upgrade policies over the whole walk: the automatic steps of OLM after an edit are forbidden like the edit itself.

use olmguard_catalog::olm::Rules;
use olmguard_engine::explain::{Answer, answer, answer_until};
use olmguard_engine::extension::{Extension, Installed, InstalledBundle, Shape, UnknownCause};
use olmguard_engine::judge::{
    Basis, Edit, FixValue, Policies, Requester, Stop, Token, UpgradePolicies, UserInfo, walk,
};
use olmguard_engine::snapshot::{CatalogState, Snapshot};
use olmguard_fixtures::guardrails::catalog::imposed;
use olmguard_fixtures::question::content;
use olmguard_policy::{Moment, UpgradePolicy};
use serde_json::{Value, json};

use crate::policies::{AT, policy};

/// One package in some catalogs, one extension of it, and the rules of administrators.
#[derive(Clone)]
struct World {
    catalogs: Vec<(&'static str, Vec<Value>)>,
    installed: Installed,
    policies: Vec<Value>,
    /// The rules of an administrator's guardrails.
    guardrails: Value,
}

/// A package whose versions each replace the previous one.
fn chain(versions: &[&str]) -> Vec<Value> {
    let mut blobs = vec![json!({"schema": "olm.package", "name": "p", "defaultChannel": "stable"})];
    let mut before: Option<String> = None;
    let entries: Vec<Value> = versions
        .iter()
        .map(|version| {
            let name = format!("p.v{version}");
            match before.replace(name.clone()) {
                None => json!({"name": name}),
                Some(before) => json!({"name": name, "replaces": before}),
            }
        })
        .collect();
    blobs.push(
        json!({"schema": "olm.channel", "package": "p", "name": "stable", "entries": entries}),
    );
    blobs.extend(versions.iter().map(|version| {
        json!({
            "schema": "olm.bundle", "package": "p", "name": format!("p.v{version}"), "image": "example.com/p:v",
            "properties": [{"type": "olm.package", "value": {"packageName": "p", "version": version}}],
        })
    }));
    blobs
}

fn deprecated(version: &str) -> Value {
    json!({"schema": "olm.deprecations", "package": "p", "entries": [
        {"reference": {"schema": "olm.bundle", "name": format!("p.v{version}")}, "message": "no"},
    ]})
}

fn at(version: &str) -> Installed {
    Installed::Bundle(InstalledBundle {
        name: Some(format!("p.v{version}")),
        version: version.to_owned(),
        release: None,
    })
}

fn extension(version: &str, upgrade: Option<&str>) -> Extension {
    let mut catalog = json!({"packageName": "p", "version": version});
    if let Some(word) = upgrade {
        catalog["upgradeConstraintPolicy"] = word.into();
    }
    requesting(&catalog)
}

fn requesting(catalog: &Value) -> Extension {
    Extension::read(
        Shape::V1,
        &json!({
            "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension", "metadata": {"name": "p"},
            "spec": {"namespace": "p", "source": {"sourceType": "Catalog", "catalog": catalog}},
        }),
    )
}

impl World {
    fn of(versions: &[&str]) -> Self {
        Self {
            catalogs: vec![("hub", chain(versions))],
            installed: at(versions[0]),
            policies: Vec::new(),
            guardrails: json!([]),
        }
    }

    fn ruled(mut self, rules: &Value) -> Self {
        let name = format!("rule{}", self.policies.len());
        self.policies.push(policy(&name, &json!({"rules": rules})));
        self
    }

    fn from(&self, installed: Installed) -> Self {
        Self {
            installed,
            ..self.clone()
        }
    }

    fn snapshot(&self) -> Snapshot {
        let rules = Rules::default();
        let catalogs = self.catalogs.iter().map(|(name, blobs)| {
            let lines: Vec<_> = blobs.iter().map(Value::to_string).collect();
            let mut state = CatalogState::named(name, content(&lines.join("\n"), &rules));
            // Of two catalogs with a successor, OLM chooses the one with higher priority.
            state.priority = i32::from(*name == "mirror");
            state
        });
        let catalogs: Vec<_> = catalogs.collect();
        Snapshot::new(rules, catalogs)
    }

    fn policies(&self) -> Policies {
        Policies {
            upgrades: UpgradePolicies::of(self.policies.iter().map(UpgradePolicy::read)),
            guardrails: imposed("Catalog", &self.guardrails),
            ..Policies::default()
        }
    }

    /// The answer to an edit, with the earlier request.
    fn edit(&self, new: &Extension, old: Option<&Extension>) -> Answer {
        self.asked(new, old, answer)
    }

    fn asked<T>(
        &self,
        new: &Extension,
        old: Option<&Extension>,
        ask: impl FnOnce(Basis<'_>, &Edit<'_>) -> T,
    ) -> T {
        let (snapshot, policies) = (self.snapshot(), self.policies());
        let basis = Basis {
            snapshot: &snapshot,
            policies: &policies,
        };
        let requester = Requester {
            user: Some(UserInfo {
                name: "ann".to_owned(),
                groups: (0..256).map(|number| format!("g{number}")).collect(),
            }),
            at: Moment::parse(AT).expect("a time"),
        };
        let edit = Edit {
            new,
            old,
            installed: &self.installed,
            schema: &[],
            requester: &requester,
        };
        ask(basis, &edit)
    }

    /// The answer to an edit to this range.
    fn to(&self, range: &str) -> Answer {
        self.edit(&extension(range, None), None)
    }

    /// The versions that OLM reaches automatically after an edit to this range.
    fn moves(&self, new: &Extension) -> Vec<String> {
        let snapshot = self.snapshot();
        let filter = new.filter.as_ref().expect("a filter");
        let Some(installed) = self.installed.bundle() else {
            return Vec::new();
        };
        let walk = walk(Basis::without_policies(&snapshot), filter, None, installed);
        let versions = walk.steps.iter().map(|step| {
            let read = step.bundle().version.as_ref().expect("a version");
            read.version.to_string()
        });
        versions.collect()
    }
}

fn first_line(answer: &Answer) -> &str {
    let message = answer.message.as_deref().unwrap_or_default();
    message.lines().next().unwrap_or_default()
}

const RANGE: &str = ">=1.0.0-0 <9.0.0-0";

/// All rules except `deprecated`, because OLM never continues to a deprecated bundle from another one.
#[test]
fn every_rule_about_a_bundle_is_put_to_each_step() {
    let plain = World::of(&["1.0.0", "1.1.0", "2.0.0", "3.0.0"]);
    let with_rc = World::of(&["1.0.0", "1.1.0", "1.2.0-rc.1", "1.2.0"]);
    let mut over_two = World::of(&["1.0.0", "1.1.0"]);
    over_two
        .catalogs
        .push(("mirror", chain(&["1.1.0", "2.0.0"])));
    let rows = [
        (
            &plain,
            json!({"versions": {"deny": "2.0.0"}}),
            "denies 2.0.0 (versions.deny: 2.0.0), in the step 1.1.0 -> 2.0.0",
        ),
        (
            &plain,
            json!({"versions": {"deny": "3.0.0"}}),
            "denies 3.0.0 (versions.deny: 3.0.0), in the step 2.0.0 -> 3.0.0",
        ),
        (
            &plain,
            json!({"versions": {"allow": "<2"}}),
            "allows only <2, not 2.0.0, in the step 1.1.0 -> 2.0.0",
        ),
        (
            &plain,
            json!({"step": "Minor"}),
            "allows Minor steps at most, and this is a Major step, in the step 1.1.0 -> 2.0.0",
        ),
        (
            &plain,
            json!({"conditions": [{"expression": "to.major == 1"}]}),
            ": condition 1 is false: to.major == 1, in the step 1.1.0 -> 2.0.0",
        ),
        (
            &plain,
            json!({"conditions": [{"expression": "from == null || to.major == from.major", "message": "no majors"}]}),
            ": no majors, in the step 1.1.0 -> 2.0.0",
        ),
        (
            &with_rc,
            json!({"prereleases": "Deny"}),
            "denies prereleases: 1.2.0-rc.1, in the step 1.1.0 -> 1.2.0-rc.1",
        ),
        (
            &over_two,
            json!({"catalogs": ["hub"]}),
            "does not allow catalog mirror, in the step 1.1.0 -> 2.0.0",
        ),
    ];
    for (world, rules, expected) in rows {
        let world = world.clone().ruled(&rules);
        for bounded in [false, true] {
            let world = if bounded {
                world.clone().ruled(&json!({"range": "Bounded"}))
            } else {
                world.clone()
            };
            let answer = world.to(RANGE);
            assert_eq!(answer.token, Token::Policy, "{rules}");
            let line = first_line(&answer);
            assert!(line.contains(expected), "{line}\n{expected}");
            assert!(
                line.ends_with(" that OLM then takes automatically [Policy]"),
                "{line}"
            );
            let resolved = answer.resolved.as_ref().expect("it resolves");
            assert_eq!(resolved.version, "1.1.0");
        }
        assert_eq!(world.to("1.1.0").token, Token::Resolved, "{rules}");
    }
}

#[test]
fn what_a_walk_is_refused_for_is_advised_around() {
    let world = World::of(&["1.0.0", "1.1.0", "2.0.0", "3.0.0"])
        .ruled(&json!({"versions": {"deny": "2.0.0"}}));
    let answer = world.to(">=1.0.0 <9");
    let message = answer.message.as_deref().unwrap_or_default();
    let lines: Vec<_> = message
        .lines()
        .filter(|line| !line.starts_with("Catalog: ") && !line.starts_with("Help: "))
        .collect();
    assert_eq!(
        lines,
        [
            "p: 1.0.0 -> >=1.0.0 <9 refused: policy rule0 denies 2.0.0 (versions.deny: 2.0.0), in the step 1.1.0 -> \
             2.0.0 that OLM then takes automatically [Policy]",
            "Rule: UpgradePolicy rule0, spec.rules.versions.deny",
            "Allowed next: 1.1.0",
            "Path: 1.0.0 -> 1.1.0",
            "Fix: set spec.source.catalog.version to \">=1.0.0 <2.0.0\"",
        ]
    );
    let Some(FixValue::Text(range)) = answer.advice.fix.map(|fix| fix.value) else {
        panic!("a range");
    };
    assert_eq!(world.to(&range).token, Token::Resolved);
}

#[test]
fn rules_about_the_edit_are_asked_once() {
    let world = World::of(&["1.0.0", "1.1.0", "2.0.0"])
        .ruled(&json!({"windows": [{"schedule": "* * * * *", "duration": "1m"}], "range": "Bounded", "bypass": "Deny"}))
        .ruled(&json!({"conditions": [{"expression": "operation == 'UPDATE' && user.name == 'ann'"}]}));
    assert_eq!(world.to(RANGE).token, Token::Resolved);
}

#[test]
fn what_denies_the_edit_hides_no_step_that_is_denied() {
    let world = World::of(&["1.0.0", "1.1.0", "2.0.0"])
        .ruled(&json!({"windows": [{"schedule": "0 0 1 1 *", "duration": "1m"}]}))
        .ruled(&json!({"versions": {"deny": "2.0.0"}}));
    let answer = world.to(RANGE);
    let rules: Vec<_> = answer.policies.iter().map(|found| &*found.rule).collect();
    assert_eq!(rules, ["spec.rules.windows", "spec.rules.versions.deny"]);
}

#[test]
fn a_policy_that_warns_warns_once_of_a_walk() {
    let mut world = World::of(&["1.0.0", "1.1.0-rc.1", "1.2.0-rc.1", "1.3.0-rc.1"]);
    let spec = json!({"enforcement": "Warn", "rules": {"prereleases": "Deny"}});
    world.policies.push(policy("warns", &spec));
    let answer = world.to(RANGE);
    assert_eq!(answer.token, Token::Resolved);
    let about = |warning: &&String| warning.contains("policy warns");
    let warnings: Vec<_> = answer.warnings.iter().filter(about).collect();
    assert_eq!(warnings, ["policy warns warns of prereleases: 1.1.0-rc.1"]);
}

#[test]
fn a_denial_names_the_catalog_of_the_bundle() {
    let mut world = World::of(&["1.0.0", "1.1.0"]).ruled(&json!({"versions": {"deny": "1.1.0"}}));
    world.catalogs.push(("mirror", chain(&["1.0.0", "1.1.0"])));
    let denied = world.edit(&extension("1.1.0", None), Some(&extension("1.0.0", None)));
    assert_eq!(denied.token, Token::Policy, "{:?}", denied.message);
    assert_eq!(denied.catalog.map(|it| it.name), Some("mirror".to_owned()));
}

#[test]
fn turning_the_bypass_off_is_a_move_like_any_other() {
    let world = World::of(&["1.0.0", "1.2.0", "2.0.0", "2.1.0"]);
    let (free, strict) = (
        extension(RANGE, Some("SelfCertified")),
        extension(RANGE, None),
    );
    let ruled = world.clone().ruled(&json!({"versions": {"deny": "1.2.0"}}));
    assert_eq!(
        ruled.edit(&free, Some(&extension("1.0.0", None))).token,
        Token::Bypassed
    );
    let off = ruled.edit(&strict, Some(&free));
    assert_eq!(off.token, Token::Policy, "{:?}", off.message);
    let later = world.clone().ruled(&json!({"versions": {"deny": "2.0.0"}}));
    assert_eq!(later.edit(&strict, Some(&free)).token, Token::Policy);
    let mut guarded = World::of(&["1.0.0", "1.1.0-rc.1", "2.0.0"]);
    guarded.guardrails = json!([{"id": "no-rc", "kind": "Prerelease", "action": "Deny"}]);
    assert_eq!(guarded.edit(&strict, Some(&free)).token, Token::Guardrail);
    // An edit passes if it moves nothing, if no rule forbids it, or if OLM refuses it anyway.
    let stays = ruled.from(at("2.1.0"));
    for world in [&world, &stays] {
        let off = world.edit(&strict, Some(&free));
        assert_eq!(
            (off.token, off.warnings.len()),
            (Token::NotJudged, 0),
            "{:?}",
            off.warnings
        );
    }
    let pin = |word| extension("2.1.0", word);
    let off = ruled.edit(&pin(None), Some(&pin(Some("SelfCertified"))));
    assert_eq!(off.token, Token::NotJudged);
    assert_eq!(
        off.warnings,
        ["without the override this extension no longer resolves: NotASuccessor"]
    );
}

/// The edit passes, but the findings about the step that OLM then takes are still reported.
#[test]
fn turning_the_bypass_off_warns_as_any_move_does() {
    let mut world = World::of(&["1.0.0", "1.1.0", "1.2.0"]);
    let warn = |rules: Value| json!({"enforcement": "Warn", "rules": rules});
    let deny = warn(json!({"versions": {"deny": "1.2.0"}, "step": "Patch"}));
    world.policies.push(policy("warns", &deny));
    let (free, strict) = (
        extension(RANGE, Some("SelfCertified")),
        extension(RANGE, None),
    );
    let off = world.edit(&strict, Some(&free));
    let about = |warning: &&String| warning.contains("policy warns");
    let as_any = world.to(RANGE);
    assert_eq!(off.token, Token::NotJudged);
    assert_eq!(off.warnings.iter().filter(about).count(), 2, "{off:?}");
    assert_eq!(
        off.warnings,
        as_any
            .warnings
            .into_iter()
            .filter(|it| about(&it))
            .collect::<Vec<_>>()
    );
    let stays = world.from(at("1.2.0")).edit(&strict, Some(&free));
    assert_eq!((stays.token, stays.warnings.len()), (Token::NotJudged, 0));
}

#[test]
fn an_unknown_installed_version_is_not_nothing() {
    let cases = [
        (
            json!({"step": "Patch"}),
            "policy rule0 allows Patch steps at most, and the installed version is unknown or cannot be read",
        ),
        (
            json!({"conditions": [{"expression": "from == null || to.major == from.major"}]}),
            "policy rule0: condition 1 cannot be evaluated: from: the installed version is unknown or cannot be read",
        ),
    ];
    let unreadable = Installed::Bundle(InstalledBundle {
        name: Some("p.vX".to_owned()),
        version: "not-a-version".to_owned(),
        release: None,
    });
    let world = World::of(&["1.0.0", "2.0.0"]);
    let free = extension("2.0.0", Some("SelfCertified"));
    for installed in [Installed::Unknown(UnknownCause::Condition), unreadable] {
        for (rules, expected) in &cases {
            let world = world.from(installed.clone()).ruled(rules);
            let answer = world.edit(&free, None);
            assert_eq!(answer.token, Token::Policy);
            assert!(
                first_line(&answer).contains(expected),
                "{}",
                first_line(&answer)
            );
        }
        let other = world
            .from(installed)
            .ruled(&json!({"versions": {"deny": "1.0.0"}}));
        assert_eq!(other.edit(&free, None).token, Token::Bypassed);
    }
    for (rules, _) in &cases {
        let install = world.from(Installed::Nothing).ruled(rules);
        assert_eq!(install.to("2.0.0").token, Token::Resolved);
    }
}

#[test]
fn a_requested_channel_that_is_deprecated_counts_for_its_own_bundles() {
    let request = json!({"packageName": "p", "version": "1.1.0", "channels": ["old", "stable"]});
    let of_channel = |name: &str| {
        json!({"schema": "olm.deprecations", "package": "p", "entries": [
            {"reference": {"schema": "olm.channel", "name": name}, "message": "no"},
        ]})
    };
    for (name, expected) in [("old", Token::Resolved), ("stable", Token::Policy)] {
        let mut world = World::of(&["1.0.0", "1.1.0"]).ruled(&json!({"deprecated": "Deny"}));
        let entries = json!([{"name": "p.v1.0.0"}]);
        world.catalogs[0].1.extend([
            json!({"schema": "olm.channel", "package": "p", "name": "old", "entries": entries}),
            of_channel(name),
        ]);
        let found = world.edit(&requesting(&request), Some(&extension("1.0.0", None)));
        assert_eq!(found.token, expected, "{name}");
    }
}

#[test]
fn what_is_installed_can_always_be_pinned() {
    let mut world = World::of(&["1.0.0", "1.1.0-rc.1", "1.2.0"]).from(at("1.1.0-rc.1"));
    world.catalogs[0].1.push(deprecated("1.1.0-rc.1"));
    for rules in [
        json!({"versions": {"deny": "1.1.0-rc.1"}}),
        json!({"versions": {"allow": ">=2"}}),
        json!({"step": "Patch"}),
        json!({"prereleases": "Deny"}),
        json!({"deprecated": "Deny"}),
        json!({"catalogs": ["other"]}),
        json!({"conditions": [{"expression": "to.prerelease == ''"}]}),
        json!({"conditions": [{"expression": "broken("}]}),
        json!({"windows": [{"schedule": "0 0 1 1 *", "duration": "1m"}]}),
    ] {
        let ruled = world.clone().ruled(&rules);
        assert_eq!(ruled.to("1.1.0-rc.1").token, Token::Unchanged, "{rules}");
    }
    let own = world.ruled(&json!({"conditions": [{"expression": "user.name == 'eve'"}]}));
    assert_eq!(own.to("1.1.0-rc.1").token, Token::Policy);
}

#[test]
fn a_denial_that_is_known_is_handed_over_before_conditions_are_evaluated() {
    let heavy = json!({"conditions": [
        {"expression": "user.groups.all(g, user.groups.all(h, g != h || true))"},
    ]});
    let world = World::of(&["1.0.0", "1.1.0"]).ruled(&json!({"versions": {"deny": "1.1.0"}}));
    let world = (0..4).fold(world, |world, _| world.ruled(&heavy));
    let new = extension("1.1.0", None);
    let (known, last) = world.asked(&new, None, |basis, edit| {
        let stop = Stop::default();
        let mut known = None;
        let last = answer_until(basis, edit, &stop, |refused| {
            // From here on the time is over, and no condition is evaluated any more.
            stop.set();
            known = Some(refused);
        });
        (known.expect("it was refused"), last)
    });
    let rules = |answer: &Answer| {
        answer
            .policies
            .iter()
            .map(|found| found.rule.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(known.token, Token::Policy);
    assert_eq!(rules(&known), ["spec.rules.versions.deny"]);
    assert_eq!((last.token, rules(&last).len()), (Token::Policy, 5));
}

#[test]
fn a_walk_of_very_many_steps_is_put_to_policies_so_far() {
    let versions: Vec<_> = (0..=20).map(|minor| format!("1.{minor}.0")).collect();
    let versions: Vec<_> = versions.iter().map(String::as_str).collect();
    let costly = json!({"conditions": [
        {"expression": "to.minor >= 0 && user.groups.all(g, user.groups.all(h, g != h || true))"},
    ]});
    let world = World::of(&versions).ruled(&costly);
    let denied = world
        .clone()
        .ruled(&json!({"versions": {"deny": "1.19.0"}}));
    assert_eq!(
        denied.to(RANGE).token,
        Token::Policy,
        "other rules are put to all steps"
    );
    let answer = world.to(RANGE);
    assert_eq!(answer.token, Token::Resolved);
    let warning = answer
        .warnings
        .iter()
        .find(|warning| warning.contains("upgrade policies"));
    let steps = warning.and_then(|text| {
        let rest = text.strip_prefix("OLM goes on by itself for more than ")?;
        rest.strip_suffix(" steps: upgrade policies were applied to so many only")?
            .parse::<usize>()
            .ok()
    });
    let steps = steps.unwrap_or_else(|| panic!("{:?}", answer.warnings));
    assert!((1..20).contains(&steps), "{steps}");
    let of_the_last = json!({"conditions": [
        {"expression": "to.minor < 20 && user.groups.all(g, user.groups.all(h, g != h || true))"},
    ]});
    assert_eq!(
        World::of(&versions).ruled(&of_the_last).to(RANGE).token,
        Token::Resolved,
        "conditions are put to the first steps alone"
    );
}

mod sequences {
    use olmguard_engine::judge::Verdict;
    use proptest::prelude::*;

    use super::*;

    const VERSIONS: [&str; 6] = ["1.0.0", "1.1.0", "1.2.0-rc.1", "1.2.0", "2.0.0", "3.0.0"];

    /// A rule of a policy about a bundle, and the versions that it forbids regardless of the path.
    fn rules() -> impl Strategy<Value = (Value, Vec<&'static str>)> {
        let denied = prop::sample::subsequence(VERSIONS[1..].to_vec(), 1..=2);
        prop_oneof![
            denied.prop_map(|denied| (json!({"versions": {"deny": denied.join(" || ")}}), denied)),
            Just((
                json!({"versions": {"allow": "<2"}}),
                vec!["2.0.0", "3.0.0", "1.2.0-rc.1"]
            )),
            Just((json!({"prereleases": "Deny"}), vec!["1.2.0-rc.1"])),
            Just((
                json!({"conditions": [{"expression": "to.major < 3"}]}),
                vec!["3.0.0"]
            )),
        ]
    }

    /// A package whose entries replace or skip random earlier ones.
    fn graph() -> impl Strategy<Value = Vec<Value>> {
        let edges = (1..VERSIONS.len())
            .map(|at| (0..at, any::<bool>()))
            .collect::<Vec<_>>();
        edges.prop_map(|edges| {
            let mut blobs = chain(&VERSIONS);
            let mut entries = vec![json!({"name": "p.v1.0.0"})];
            entries.extend(
                edges
                    .iter()
                    .zip(&VERSIONS[1..])
                    .map(|((from, skips), version)| {
                        let from = format!("p.v{}", VERSIONS[*from]);
                        let mut entry = json!({"name": format!("p.v{version}"), "replaces": from});
                        if *skips {
                            entry["skipRange"] = json!("<1.2.0");
                        }
                        entry
                    }),
            );
            blobs[1]["entries"] = entries.into();
            blobs
        })
    }

    fn edits() -> impl Strategy<Value = Vec<(&'static str, bool)>> {
        let ranges = vec![
            "*",
            ">=1.0.0-0 <9.0.0-0",
            ">=1.0.0 <2",
            "1.1.0",
            "1.2.0-rc.1",
            "1.2.0",
            "2.0.0",
            "3.0.0",
            ">=1.1.0 <=3.0.0",
        ];
        prop::collection::vec((prop::sample::select(ranges), any::<bool>()), 1..5)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        /// No sequence of allowed edits, and no automatic step of OLM after one, ends at a bundle that a matching
        /// policy forbids regardless of the path.
        #[test]
        fn end_at_nothing_that_is_forbidden(
            blobs in graph(), (rules, forbidden) in rules(), edits in edits(), pauses in prop::collection::vec(any::<bool>(), 5),
        ) {
            let mut world = World::of(&VERSIONS).ruled(&rules);
            world.catalogs[0].1 = blobs;
            let mut old = extension("1.0.0", None);
            for ((range, bypasses), pauses) in edits.into_iter().zip(pauses) {
                let new = extension(range, bypasses.then_some("SelfCertified"));
                let answer = world.edit(&new, Some(&old));
                if matches!(answer.verdict(), Verdict::Deny | Verdict::Undecided) {
                    continue;
                }
                let moves = world.moves(&new);
                for version in &moves {
                    prop_assert!(!forbidden.contains(&version.as_str()), "{range}: {moves:?}");
                }
                // The next edit can come before OLM has done anything, or after it has done everything.
                if let Some(last) = moves.last().filter(|_| pauses) {
                    world.installed = at(last);
                }
                old = new;
            }
        }
    }
}
