//! Properties of every object and every change.

use crate::facts::{Facts, policy, spec};
use olmguard_policy::{Change, UpgradePolicy};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Any JSON, with the keys and words of a policy among others.
fn any_json() -> impl Strategy<Value = Value> {
    let words = [
        "",
        "Deny",
        "Warn",
        "Minor",
        "ByPermission",
        "*",
        ">=1",
        "0 22 * * *",
        "1h",
        "UTC",
        "true",
        "olmguard.dev/v1alpha1",
        "UpgradePolicy",
        "a-*",
        "In",
        "to.major == 1",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop::sample::select(Vec::from(words)).prop_map(Value::from),
    ];
    let keys = [
        "apiVersion",
        "kind",
        "metadata",
        "name",
        "spec",
        "enforcement",
        "match",
        "packages",
        "extensionSelector",
        "matchLabels",
        "matchExpressions",
        "key",
        "operator",
        "values",
        "namespaces",
        "rules",
        "versions",
        "allow",
        "deny",
        "step",
        "prereleases",
        "deprecated",
        "range",
        "catalogs",
        "bypass",
        "windows",
        "schedule",
        "duration",
        "timeZone",
        "conditions",
        "expression",
        "message",
        "other",
        "",
    ];
    let key = prop::sample::select(Vec::from(keys)).prop_map(str::to_owned);
    leaf.prop_recursive(6, 64, 8, move |inner| {
        let entries = prop::collection::vec((key.clone(), inner.clone()), 0..8);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            entries.prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Rules that can be read, and some that cannot.
fn rules() -> Vec<(&'static str, Value)> {
    vec![
        (
            "versions",
            json!({"allow": ">=0.6.0 <1.0.0", "deny": "0.6.1"}),
        ),
        ("step", json!("Patch")),
        ("prereleases", json!("Deny")),
        ("deprecated", json!("Warn")),
        ("range", json!("Bounded")),
        ("catalogs", json!(["operatorhubio"])),
        ("bypass", json!("ByPermission")),
        (
            "windows",
            json!([{"schedule": "0 20 * * *", "duration": "2h"}]),
        ),
        (
            "conditions",
            json!([{"expression": "to.minor < 7"}, {"expression": "labels.a == ''"}]),
        ),
        ("wrong", json!(1)),
    ]
}

fn changes() -> impl Strategy<Value = (Facts, bool, bool, bool)> {
    let version = || prop::sample::select(vec!["0.6.0", "0.6.1", "0.7.0", "1.0.0-rc.1", "1.4.1"]);
    let time = prop::sample::select(vec!["2026-11-23T19:00:00Z", "2026-11-23T21:00:00Z"]);
    let range = prop::sample::select(vec!["*", "0.6.1", "<2"]);
    let facts = (prop::option::of(version()), version(), time, range);
    let facts = facts.prop_map(|(from, to, time, range)| {
        let facts = from.map_or_else(|| Facts::install(to), |from| Facts::update(from, to));
        facts.at(time).with_range(range)
    });
    (facts, any::<bool>(), any::<bool>(), any::<bool>())
}

/// Five fields that are often valid.
fn schedules() -> impl Strategy<Value = String> {
    let field = |words: &[&'static str]| {
        prop_oneof![
            8 => prop::sample::select(words.to_vec()).prop_map(str::to_owned),
            1 => "[0-9*,/LW#?+-]{1,6}",
        ]
    };
    let days = [
        "*", "1", "29", "30,31", "L", "15W", "L-3", "1-7", "?", "*/9",
    ];
    let weekdays = [
        "*", "1-5", "0", "7", "5L", "1#5", "+1", "MON,SUN", "?", "*/2",
    ];
    let fields = (
        field(&["*", "0", "30", "*/7", "0-30/5", "59"]),
        field(&["*", "2", "23", "*/5", "1-3", "0,2"]),
        field(&days),
        field(&["*", "2", "2,4", "12", "JAN-MAR", "*/5"]),
        field(&weekdays),
    );
    fields.prop_map(|(a, b, c, d, e)| [a, b, c, d, e].join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any object can be read and judged, and a second reading gives the same result.
    #[test]
    fn any_object_is_read(object in any_json(), inner in any_json()) {
        let facts = Facts::update("0.6.0", "1.0.0");
        let known = spec(&inner);
        let rules = spec(&json!({"rules": inner, "match": object}));
        for object in [object, known, rules] {
            let policy = UpgradePolicy::read(&object);
            let change = facts.change();
            let found = policy.violations(&change);
            prop_assert_eq!(policy.faults().is_empty(), !found.iter().any(|violation| {
                matches!(violation.rule, olmguard_policy::PolicyRule::Unreadable(_))
            }));
            let again = UpgradePolicy::read(&object);
            prop_assert_eq!(format!("{:?}", policy.faults()), format!("{:?}", again.faults()));
            prop_assert_eq!(found, again.violations(&change));
            prop_assert_eq!(policy.matches(&change.subject), again.matches(&change.subject));
        }
    }

    /// A policy only restricts: an additional rule never removes a violation.
    #[test]
    fn an_added_rule_takes_no_violation_away(
        chosen in prop::collection::vec(any::<bool>(), 10),
        added in 0..10_usize,
        (facts, bypass, deprecated, is_move) in changes(),
    ) {
        let change = Change { bypass, deprecated, is_move, ..facts.change() };
        let all = rules();
        let mut written: Map<String, Value> = Map::new();
        for ((key, rule), _) in all.iter().zip(&chosen).filter(|(_, is_chosen)| **is_chosen) {
            written.insert((*key).to_owned(), rule.clone());
        }
        let before = policy(&Value::Object(written.clone())).violations(&change);
        let (key, rule) = &all[added];
        written.insert((*key).to_owned(), rule.clone());
        let after = policy(&Value::Object(written)).violations(&change);
        for violation in &before {
            prop_assert!(after.contains(violation), "{violation:?} is missing in {after:?}");
        }
    }

    /// Any schedule, zone and time is evaluated without a panic.
    #[test]
    fn any_window_is_judged(
        schedule in schedules(),
        zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "Pacific/Apia", "America/St_Johns"]),
        seconds in any::<i64>(),
    ) {
        let policy = policy(&json!({"windows": [
            {"schedule": schedule, "duration": "1h", "timeZone": zone},
        ]}));
        let facts = Facts::update("0.6.0", "0.6.1");
        for seconds in [seconds, seconds % 100_000_000_000] {
            let now = olmguard_policy::Moment::from_unix_seconds(seconds);
            policy.violations(&Change { now, ..facts.change() });
        }
    }
}

/// A thread of a server has 2 MiB.
#[test]
fn deep_expressions_need_little_stack() {
    for (before, after) in [
        ("(", ")"),
        ("[", "]"),
        ("-(", ")"),
        ("true?1:", ""),
        ("1+", ""),
    ] {
        let text = [&before.repeat(60), "1", &after.repeat(60)].concat();
        let thread = std::thread::Builder::new().stack_size(1 << 20);
        let read = thread.spawn(move || {
            let policy = policy(&json!({"conditions": [{"expression": text}]}));
            policy
                .violations(&Facts::update("0.6.0", "0.7.0").change())
                .len()
        });
        assert!(read.unwrap().join().is_ok(), "{before}");
    }
}
