use serde_json::{Value, json};

use super::*;
use olmguard_catalog::olm::Rules;
use olmguard_engine::extension::{Extension, Shape};
use olmguard_engine::judge::{Policies, Requester, UpgradePolicies, UserInfo};
use olmguard_engine::snapshot::{CatalogEdit, CatalogState, Content, Labels, Snapshot};
use olmguard_fixtures::question::content;
use olmguard_fixtures::written::written;
use olmguard_policy::UpgradePolicy;

const CHAIN: &str = "a: 1.0.0; 1.1.0 replaces 1.0.0";

fn extension(name: &str, range: &str, selector: Option<Value>) -> Extension {
    let mut object = json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
        "metadata": {"name": name},
        "spec": {"namespace": "ns", "source": {"sourceType": "Catalog",
            "catalog": {"packageName": "P", "version": range}}},
        "status": {"install": {"bundle": {"name": "P.v1.0.0", "version": "1.0.0"}}},
    });
    if let Some(selector) = selector {
        object["spec"]["source"]["catalog"]["selector"] = selector;
    }
    Extension::read(Shape::V1, &object)
}

fn catalog(name: &str, lines: &str, priority: i32, tier: &str) -> CatalogState {
    let content: Content = content(&written(lines).fbc(), &Rules::default());
    let labels = [("tier".to_owned(), tier.to_owned())];
    CatalogState {
        labels: Labels::with_name(name, labels.into()),
        priority,
        ..CatalogState::named(name, content)
    }
}

/// A manifest of a catalog with priority 1 and label `tier: a`.
fn hub() -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterCatalog",
        "metadata": {"name": "hub", "labels": {"tier": "a"}},
        "spec": {"source": {"type": "Image", "image": {"ref": "example.com/hub:v1"}}, "priority": 1},
    })
}

/// The catalog `hub`, and another one of lower priority with the same package.
fn two() -> Snapshot {
    let catalogs = [
        catalog("hub", CHAIN, 1, "a"),
        catalog("mirror", CHAIN, 0, "b"),
    ];
    Snapshot::new(Rules::default(), catalogs)
}

fn one() -> Snapshot {
    Snapshot::new(Rules::default(), [catalog("hub", CHAIN, 1, "a")])
}

/// Returns the warnings about an edit of the catalog.
fn warnings(
    now: &Snapshot,
    new: Option<&Value>,
    extensions: &[Extension],
    notes: &[EditNote],
) -> Vec<String> {
    let edit = CatalogEdit::read(Some(&hub()), new).expect("a catalog");
    let after = edit.after(now).snapshot.expect("all is known");
    let policies = Policies::default();
    let sides = [now, &after].map(|snapshot| Basis {
        snapshot,
        policies: &policies,
    });
    let mut report = CatalogEditReport::of("hub");
    for extension in extensions {
        let edit = Edit {
            new: extension,
            old: None,
            installed: &extension.installed,
            schema: &[],
            requester: &by_someone(),
        };
        report.check(&edit, sides);
    }
    assert_eq!(report.checked(), extensions.len());
    report.warnings(notes)
}

/// Conditions on the user are evaluated only with a user.
fn by_someone() -> Requester {
    Requester {
        user: Some(UserInfo::default()),
        ..Requester::unknown().clone()
    }
}

fn with(field: &str, value: Value) -> Value {
    let mut new = hub();
    new["spec"][field] = value;
    new
}

fn pinned() -> Extension {
    extension("lantern", "1.0.0", None)
}

const BREAKS: &str = "this edit of catalog hub: 1 extension with breaking changes, 0 to review, 0 improved, 0 unchanged";

#[test]
fn an_equal_priority_makes_the_choice_ambiguous() {
    let edited = with("priority", json!(0));
    let warnings = warnings(&two(), Some(&edited), &[pinned()], &[]);
    assert_eq!(
        warnings,
        [
            BREAKS,
            "lantern (P): ambiguous: 2 catalogs of the same priority (0) offer it"
        ]
    );
}

#[test]
fn an_unavailable_or_deleted_catalog_leaves_its_extensions_without_a_catalog() {
    let unavailable = with("availabilityMode", json!("Unavailable"));
    for (new, gone) in [
        (
            Some(&unavailable),
            "lantern (P): undecided: every ClusterCatalog that matches is Unavailable",
        ),
        (None, "lantern (P): undecided: there is no ClusterCatalog"),
    ] {
        assert_eq!(warnings(&one(), new, &[pinned()], &[]), [BREAKS, gone]);
        // The other catalog has the same content.
        assert_eq!(warnings(&two(), new, &[pinned()], &[]), [""; 0]);
    }
}

#[test]
fn a_catalog_that_has_less_strands_what_the_other_one_upgraded() {
    let catalogs = [
        catalog("hub", CHAIN, 1, "a"),
        catalog("mirror", "a: 1.0.0; 1.2.0", 0, "b"),
    ];
    let now = Snapshot::new(Rules::default(), catalogs);
    let unavailable = with("availabilityMode", json!("Unavailable"));
    let found = warnings(&now, Some(&unavailable), &[pinned()], &[]);
    assert_eq!(
        found,
        [
            BREAKS,
            "lantern (P): stranded: a newer version exists, up to 1.2.0, and there is no upgrade path to any of them; before: 1.1.0"
        ]
    );
}

#[test]
fn labels_decide_which_extensions_lose_a_catalog() {
    let mut edited = hub();
    edited["metadata"]["labels"]["tier"] = json!("c");
    let selecting = |tier: &str| {
        let selector = json!({"matchLabels": {"tier": tier}});
        extension(&format!("of-{tier}"), "1.0.0", Some(selector))
    };
    let extensions = [selecting("a"), selecting("b"), selecting("c")];
    assert_eq!(
        warnings(&two(), Some(&edited), &extensions, &[]),
        [
            "this edit of catalog hub: 1 extension with breaking changes, 0 to review, 1 improved, 1 unchanged",
            "of-a (P): undecided: the selector matches no ClusterCatalog",
            "of-c (P): reach gained: 1.1.0 is reachable in 1 step: set the version to \"1.1.0\"; before: none",
        ]
    );
}

#[test]
fn the_worst_changes_are_named_and_all_are_counted() {
    let extensions: Vec<_> = (0..20)
        .map(|number| extension(&format!("x-{number:02}"), "1.0.0", None))
        .collect();
    let found = warnings(&one(), None, &extensions, &[EditNote::NotInTime]);
    assert_eq!(found.len(), MOST);
    assert_eq!(found[0], "not checked: the answer was not ready in time");
    assert!(
        found[1].contains(": 20 extensions with breaking changes, "),
        "{found:?}"
    );
    assert!(found[2].starts_with("x-00 (P): undecided: "), "{found:?}");
    assert!(found[4].starts_with("x-02 (P): undecided: "), "{found:?}");
}

/// Refuses for extensions with an open range, which OLM upgrades to 1.1.0 once the other catalog has priority.
fn refusal(rules: &Value, enforcement: &str, extensions: usize) -> Option<CatalogRefusal> {
    refusal_of("a: 1.0.0", CHAIN, rules, (enforcement, extensions))
}

/// Refuses a change of priority from the content of one catalog to the content of another.
fn refusal_of(
    before: &str,
    after: &str,
    rules: &Value,
    (enforcement, extensions): (&str, usize),
) -> Option<CatalogRefusal> {
    let catalogs = [
        catalog("hub", after, -1, "a"),
        catalog("mirror", before, 0, "b"),
    ];
    let now = Snapshot::new(Rules::default(), catalogs);
    let edit = CatalogEdit::read(Some(&hub()), Some(&with("priority", json!(7))));
    let after = edit
        .expect("a catalog")
        .after(&now)
        .snapshot
        .expect("all is known");
    let policy = UpgradePolicy::read(&json!({
        "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy",
        "metadata": {"name": "production"}, "spec": {"enforcement": enforcement, "rules": rules},
    }));
    let policies = Policies {
        upgrades: UpgradePolicies::of([policy]),
        ..Policies::default()
    };
    let mut report = CatalogEditReport::of("hub");
    for number in 0..extensions {
        let extension = extension(&format!("x-{number}"), ">=1.0.0", None);
        let edit = Edit {
            new: &extension,
            old: None,
            installed: &extension.installed,
            schema: &[],
            requester: &by_someone(),
        };
        let sides = [&now, &after].map(|snapshot| Basis {
            snapshot,
            policies: &policies,
        });
        report.check(&edit, sides);
    }
    report.refusal()
}

#[test]
fn a_policy_denies_an_edit_for_the_bundle_of_a_new_automatic_step() {
    let denied = refusal(&json!({"versions": {"deny": "1.1.0"}}), "Deny", 1).expect("it denies");
    let cause = "OLM would upgrade x-0 (P) automatically to 1.1.0: policy production denies 1.1.0 (versions.deny: 1.1.0)";
    assert_eq!(denied.causes, [cause]);
    assert_eq!(
        denied.message.lines().collect::<Vec<_>>(),
        [
            &*format!("ClusterCatalog hub: {cause} [Policy]"),
            "Fix: first set the version of these extensions to a range that the policy allows",
        ]
    );
    for rules in [json!({"step": "Patch"}), json!({"catalogs": ["mirror"]})] {
        assert!(refusal(&rules, "Deny", 1).is_some(), "{rules}");
    }
}

#[test]
fn a_policy_that_warns_or_is_about_edits_denies_no_edit_of_a_catalog() {
    let deny = json!({"versions": {"deny": "1.1.0"}});
    assert_eq!(refusal(&deny, "Warn", 1), None);
    for rules in [
        json!({"range": "Pinned"}),
        json!({"windows": []}),
        json!({"conditions": [{"expression": "user.name == 'jane'"}]}),
        json!({"conditions": [{"expression": "to.minor < 1 || user.name == 'jane'"}]}),
        json!({"unknown": true}),
        json!({"versions": {"deny": "1.2.0"}}),
        json!({}),
    ] {
        assert_eq!(refusal(&rules, "Deny", 1), None, "{rules}");
    }
}

/// A step of the same walk that was denied before must not hide a new denial. Neither must a condition that also reads
/// the edit and denies no step of OLM here.
#[test]
fn an_older_denial_hides_no_new_one() {
    const LONGER: &str = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0";
    for (rules, reason) in [
        (
            json!({"versions": {"deny": "1.1.0 || 1.2.0"}}),
            "policy production denies 1.2.0 (versions.deny: 1.1.0 || 1.2.0)",
        ),
        (
            json!({
                "versions": {"deny": "1.2.0"},
                "conditions": [{"expression": "to.minor < 1 && user.name == 'jane'"}],
            }),
            "policy production denies 1.2.0 (versions.deny: 1.2.0)",
        ),
    ] {
        let denied = refusal_of(CHAIN, LONGER, &rules, ("Deny", 1)).expect("it denies");
        let cause = format!("OLM would upgrade x-0 (P) automatically to 1.2.0: {reason}");
        assert_eq!(denied.causes, [cause]);
        assert_eq!(refusal_of(LONGER, LONGER, &rules, ("Deny", 1)), None);
    }
}

#[test]
fn of_many_denied_steps_the_first_are_named() {
    let denied = refusal(&json!({"versions": {"deny": "1.1.0"}}), "Deny", 9).expect("it denies");
    let lines: Vec<_> = denied.message.lines().collect();
    assert_eq!((denied.causes.len(), lines.len()), (MOST, MOST + 2));
    assert!(
        lines[1].starts_with("Also: OLM would upgrade x-1 (P) "),
        "{lines:?}"
    );
    assert_eq!(lines[MOST], "Also: 4 more");
}

#[test]
fn every_note_is_one_sentence() {
    let hub = || "hub".to_owned();
    for (note, expected) in [
        (
            EditNote::Unreadable("ClusterCatalog \"hub\": spec.priority is \"x\"".to_owned()),
            "not checked: ClusterCatalog \"hub\": spec.priority is \"x\"",
        ),
        (
            EditNote::NotListed("installed extensions are unknown: no answer".to_owned()),
            "installed extensions are unknown: no answer",
        ),
        (
            EditNote::NotInTime,
            "not checked: the answer was not ready in time",
        ),
        (
            EditNote::Unfinished { checked: 3, of: 7 },
            "only 3 of 7 extensions were checked in time",
        ),
        (
            EditNote::UnknownContent(hub()),
            "not checked: the content that catalog hub will have is not loaded here",
        ),
        (
            EditNote::PresentContent(hub()),
            "the content of the new image is not loaded here: checked with what catalog hub has now",
        ),
        (
            EditNote::LoadedAs(hub(), hub()),
            "the new image of catalog hub has the content that is loaded now: checked with it",
        ),
        (
            EditNote::LoadedAs(hub(), "mirror".to_owned()),
            "the new image has the content of catalog mirror: checked with it",
        ),
    ] {
        assert_eq!(note.warning(), expected);
    }
}

/// Foreign names, packages and messages are long or forged.
#[test]
fn no_warning_is_longer_than_a_warning_can_be() {
    let long = "ä".repeat(300);
    for note in [
        EditNote::Unreadable(long.clone()),
        EditNote::NotListed(long.clone()),
        EditNote::UnknownContent(long.clone()),
        EditNote::PresentContent(long.clone()),
        EditNote::LoadedAs(long.clone(), long.clone()),
        EditNote::LoadedAs(long.clone(), "b".repeat(300)),
    ] {
        let warning = note.warning();
        assert!(warning.chars().count() <= 120, "{warning}");
    }
    let forged = extension(&format!("evil\n{}", "x".repeat(300)), "1.0.0", None);
    let report = warnings(&one(), None, &[forged], &[]);
    assert_eq!(report.len(), 2);
    for warning in report {
        assert!(warning.chars().count() <= 120, "{warning}");
        assert!(!warning.contains('\n'), "{warning}");
    }
}
