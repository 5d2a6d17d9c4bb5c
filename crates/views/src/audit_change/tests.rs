use serde_json::{Value, json};

use super::*;
use olmguard_catalog::olm::Rules;
use olmguard_engine::extension::{Extension, Shape};
use olmguard_engine::judge::{Basis, Policies, Requester};
use olmguard_engine::snapshot::{CatalogState, Content, Snapshot};
use olmguard_fixtures::question::content;
use olmguard_fixtures::written::written;

const CHAIN: &str = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0";
const MORE: &str = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0; 1.3.0 replaces 1.2.0";

/// Creates an object as in a cluster, with a status if something is installed.
fn object(name: &str, range: &str, installed: Option<&str>) -> Value {
    let mut object = json!({
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": {"name": name},
        "spec": {"namespace": "ns", "source": {"sourceType": "Catalog",
            "catalog": {"packageName": "P", "version": range}}},
    });
    if let Some(installed) = installed {
        let bundle = json!({"name": format!("P.v{installed}"), "version": installed});
        object["status"] = json!({"install": {"bundle": bundle}});
    }
    object
}

fn hub(lines: &str) -> Content {
    content(&written(lines).fbc(), &Rules::default())
}

fn report(before: &Content, after: &Content, objects: &[Value]) -> AuditChangeReport {
    let policies = Policies::default();
    let snapshots = [before, after].map(|content| {
        let state = CatalogState::named("hub", content.clone());
        Snapshot::new(Rules::default(), [state])
    });
    let [before, after] = snapshots.each_ref().map(|snapshot| Basis {
        snapshot,
        policies: &policies,
    });
    let extensions = objects.iter().map(|object| {
        let extension = Extension::read(Shape::V1, object);
        let edit = Edit {
            new: &extension,
            old: None,
            installed: &extension.installed,
            schema: &[],
            requester: Requester::unknown(),
        };
        let [before, after] = [before, after].map(|basis| Audit::of(basis, &edit));
        ExtensionChangeReport::of(&edit, &before, &after)
    });
    AuditChangeReport::of(["hub"], extensions)
}

/// Checks the lines about one extension `ext`, without its head and the summary.
#[track_caller]
fn check(before: &str, after: &str, object: &Value, expected: &[&str]) {
    let objects = [object.clone()];
    let text = report(&hub(before), &hub(after), &objects).to_string();
    let lines: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .collect();
    assert_eq!(lines, expected, "{text}");
}

fn pinned(installed: &str) -> Value {
    object("ext", installed, Some(installed))
}

#[test]
fn the_worst_comes_first_and_what_is_the_same_is_counted() {
    let after = "a: 1.0.0; 1.2.0";
    let objects = [
        object("same", "1.2.0", Some("1.2.0")),
        object("stays", ">=1.0.0", Some("1.0.0")),
        object("gone", "1.1.0", Some("1.1.0")),
    ];
    let text = report(&hub(CHAIN), &hub(after), &objects).to_string();
    let expected = [
        "3 extensions with the new catalog \"hub\": 2 with breaking changes, 0 to review, 0 improved, 1 unchanged",
        "gone (P): 1.1.0",
        "  unresolvable: no bundle matches 1.1.0",
        "  bundle gone: no selected catalog has the installed bundle any more",
        "  stranded: a newer version exists, up to 1.2.0, and there is no upgrade path to any of them; before: 1.2.0",
        "stays (P): 1.0.0",
        "  stranded: a newer version exists, up to 1.2.0, and there is no upgrade path to any of them; before: 1.2.0",
        "  stays: OLM no longer upgrades automatically; before: 1.1.0, then 1.2.0",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_new_version_is_named_with_the_edit_that_reaches_it() {
    let reach =
        "reach gained: 1.3.0 is reachable in 1 step: set the version to \"1.3.0\"; before: none";
    check(CHAIN, MORE, &pinned("1.2.0"), &[reach]);
    let lost = "reach lost: no newer version exists; before: 1.3.0";
    check(MORE, CHAIN, &pinned("1.2.0"), &[lost]);
    let direct = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0 skips 1.0.0";
    let other = "other path: 1.2.0 is reachable in 1 step: set the version to \"1.2.0\"; before: 1.1.0, then 1.2.0";
    check(CHAIN, direct, &pinned("1.0.0"), &[other]);
    let newest = "newest: the newest version is 2.0.0; before: 1.2.0";
    check(
        CHAIN,
        &format!("{CHAIN}; 2.0.0"),
        &pinned("1.0.0"),
        &[newest],
    );
}

#[test]
fn what_olm_does_automatically_is_named_as_it_was_too() {
    let open = object("ext", ">=1.0.0", Some("1.2.0"));
    check(
        CHAIN,
        MORE,
        &open,
        &[
            "moves: OLM upgrades automatically to 1.3.0; before: none",
            "reach gained: 1.3.0 is reachable in 1 step: set the version to \"1.3.0\"; before: none",
        ],
    );
    let new = object("ext", ">=1.0.0", None);
    check(
        CHAIN,
        MORE,
        &new,
        &["moves: OLM installs 1.3.0; before: 1.2.0"],
    );
    let rebuilt = written(CHAIN)
        .fbc()
        .replace("example.com/bundle", "example.com/rebuilt");
    let rebuilt = content(&rebuilt, &Rules::default());
    let text = report(&hub(CHAIN), &rebuilt, &[pinned("1.2.0")]).to_string();
    let image = "  other image: 1.2.0 now has image \"example.com/rebuilt:v1\"; before: \"example.com/bundle:v1\"\n";
    assert!(text.contains(image), "{text}");
}

#[test]
fn deprecations_are_named_as_they_begin_and_end() {
    let all = format!("{CHAIN}\n(deprecated): 1.2.0; channel a; package");
    let mut object = pinned("1.2.0");
    object["spec"]["source"]["catalog"]["channels"] = json!(["a"]);
    check(
        CHAIN,
        &all,
        &object,
        &[
            "package deprecated: the package is deprecated: the package is no longer kept",
            "bundle deprecated: the installed bundle is deprecated",
            "channel deprecated: channel \"a\" is deprecated: a is no longer kept",
        ],
    );
    check(
        &all,
        CHAIN,
        &object,
        &[
            "undeprecated: the package is no longer deprecated; the installed bundle is no longer deprecated; \
         channel \"a\" is no longer deprecated",
        ],
    );
}

#[test]
fn channels_that_are_gone_are_named() {
    let both = format!("{CHAIN}\nb: 1.0.0\nc: 1.0.0");
    let mut object = pinned("1.2.0");
    object["spec"]["source"]["catalog"]["channels"] = json!(["b", "c", "a"]);
    check(
        &both,
        CHAIN,
        &object,
        &["channel gone: channels \"b\", \"c\" no longer exist"],
    );
    check(
        CHAIN,
        &both,
        &object,
        &["channel back: channels \"b\", \"c\" exist now"],
    );
}

#[test]
fn a_verdict_is_named_with_its_reason_before_and_after() {
    let waits = object("ext", "1.3.0", Some("1.2.0"));
    check(
        CHAIN,
        MORE,
        &waits,
        &[
            "moves: OLM upgrades automatically to 1.3.0; before: none",
            "reach gained: 1.3.0 is reachable in 1 step: set the version to \"1.3.0\"; before: none",
            "allowed: the spec is allowed; before: no bundle matches 1.3.0",
        ],
    );
    let apart = format!("{CHAIN}; 1.3.0");
    check(
        CHAIN,
        &apart,
        &waits,
        &[
            "stranded: a newer version exists, up to 1.3.0, and there is no upgrade path to any of them; before: none",
            "other reason: 1.3.0 is not a successor of 1.2.0 in catalog hub; before: no bundle matches 1.3.0",
        ],
    );
    let broken = Content::Unreadable("broken".to_owned());
    let text = report(&hub(CHAIN), &broken, &[pinned("1.2.0")]);
    assert!(text.is_undecided());
    let text = text.to_string();
    assert!(text.contains("\n  undecided: "), "{text}");
    let text = report(&broken, &hub(CHAIN), &[pinned("1.2.0")]).to_string();
    assert!(
        text.contains("\n  decided: no fact is missing; before: "),
        "{text}"
    );
}

#[test]
fn json_fits_its_schema_and_has_both_sides() {
    let objects = [
        object("good", "1.2.0", Some("1.2.0")),
        object("moves", ">=1.0.0", Some("1.0.0")),
        json!({"kind": "ClusterExtension"}),
    ];
    let report = report(&hub(CHAIN), &hub(MORE), &objects);
    assert_eq!(
        [Level::Harmful, Level::Notice].map(|level| report.count(level)),
        [0, 1]
    );
    assert!(!report.is_undecided());
    let printed = serde_json::to_value(report).expect("string keys only");
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let generator = settings.into_generator();
    let schema = generator.into_root_schema_for::<AuditChangeReport>();
    let fault = jsonschema::validate(&schema.to_value(), &printed).err();
    assert_eq!(fault.map(|fault| fault.to_string()), None, "{printed}");
    assert_eq!(printed["catalogs"], json!(["hub"]));
    assert_eq!(printed["summary"], json!({"moves": 1, "reach_gained": 2}));
    let worst = &printed["extensions"][0];
    assert_eq!(worst["changes"][0]["level"], "notice");
    assert_eq!(
        worst["before"]["automatic"].as_array().map(Vec::len),
        Some(2)
    );
    assert_eq!(
        worst["after"]["automatic"].as_array().map(Vec::len),
        Some(3)
    );
    assert_eq!(printed["extensions"][2]["changes"], json!([]));
}

/// Foreign names and messages become one printable line.
#[test]
fn hostile_names_stay_in_their_line() {
    let hostile = "ext\u{1b}[31m\n  stranded: no";
    let objects = [object(hostile, ">=1.0.0", Some("1.0.0"))];
    let rebuilt = written(MORE)
        .fbc()
        .replace("example.com/bundle", "evil\\n  moves: no\\u001b[31m");
    let text = report(&hub(CHAIN), &content(&rebuilt, &Rules::default()), &objects).to_string();
    assert!(!text.contains('\u{1b}'), "{text:?}");
    let is_forged =
        |line: &str| line.starts_with("  stranded: no") || line.starts_with("  moves: no");
    assert!(!text.lines().any(is_forged), "{text}");
}
