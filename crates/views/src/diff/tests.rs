use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::see::Generation;
use olmguard_catalog::{CatalogBuilder, fbc};
use olmguard_engine::extension::{Extension, RecognisedObject, recognise};

fn catalog(blobs: &[Value]) -> Catalog {
    let rules = Rules::default();
    let mut builder = CatalogBuilder::new(&rules);
    let text: String = blobs.iter().map(ToString::to_string).collect();
    fbc::read("c", text.as_bytes(), &mut builder).unwrap();
    builder.finish().expect("no bound")
}

/// A package `p` with one channel `c` and these entries. `2<1!0` replaces 1 and skips 0. Versions are
/// `N.0.0`. A `~` in front omits the bundle.
fn blobs(entries: &[&str]) -> Vec<Value> {
    let name = |version: &str| format!("p.v{version}.0.0");
    let mut blobs = vec![json!({"schema": "olm.package", "name": "p", "defaultChannel": "c"})];
    let mut listed = Vec::new();
    for text in entries {
        let (text, skips) = text.split_once('!').unwrap_or((text, ""));
        let (version, replaces) = text.split_once('<').unwrap_or((text, ""));
        let skips: Vec<_> = skips
            .split(',')
            .filter(|skip| !skip.is_empty())
            .map(name)
            .collect();
        let mut entry = json!({"name": name(version), "skips": skips});
        if !replaces.is_empty() {
            entry["replaces"] = name(replaces).into();
        }
        listed.push(entry);
        blobs.push(bundle(version, "img"));
    }
    blobs.push(json!({"schema": "olm.channel", "package": "p", "name": "c", "entries": listed}));
    blobs
}

fn bundle(version: &str, image: &str) -> Value {
    json!({
        "schema": "olm.bundle", "package": "p", "name": format!("p.v{version}.0.0"),
        "image": format!("example.com/{image}:{version}"), "properties": [
            {"type": "olm.package", "value": {"packageName": "p", "version": format!("{version}.0.0")}}],
    })
}

fn told(old: &[Value], new: &[Value], users: DiffUsers<'_>) -> Vec<String> {
    let diffs = diff(&catalog(old), &catalog(new), None, users);
    let changes = diffs.iter().flat_map(|diff| &diff.changes);
    let line = |change: &Change| {
        let line = format!("{}: {}", change.kind.as_str(), words::sentence(change));
        line.replace("p.v", "")
            .replace(".0.0", "")
            .trim_end_matches(": ")
            .to_owned()
    };
    changes.map(line).collect()
}

#[track_caller]
fn changes(old: &[&str], new: &[&str], expected: &[&str]) {
    assert_eq!(
        told(&blobs(old), &blobs(new), DiffUsers::V1(&Rules::default())),
        expected,
        "{old:?} -> {new:?}"
    );
}

/// OLM v1 resolves to a bundle that it does not install, and does not upgrade any further.
#[test]
fn who_comes_only_to_a_bundle_that_is_never_installed_is_stranded() {
    let old = blobs(&["1", "2<1", "3<2"]);
    let mut new = old.clone();
    let modes = json!({"installModes": [{"type": "AllNamespaces", "supported": false}]});
    let facts = json!({"type": "olm.csv.metadata", "value": modes});
    let second = new.iter_mut().find(|blob| blob["name"] == "p.v2.0.0");
    let properties = second.unwrap()["properties"].as_array_mut();
    properties.unwrap().push(facts);
    let stranded = ["newly-stranded: 1: could upgrade to 2"];
    assert_eq!(told(&old, &new, DiffUsers::V1(&Rules::default())), stranded);
    assert_eq!(told(&old, &new, DiffUsers::V0), [""; 0]);
}

#[test]
fn a_higher_version_counts_however_many_steps_away() {
    // The path from 3 goes down to 2 first, and then up to 4.
    let down = "2<1!3";
    changes(
        &["2<1", "3<2", "4<3"],
        &[down, "4<2"],
        &[
            "bundle-removed: 3 (3)",
            "pick-changed: 3: upgrade to 2; before: upgrade to 4",
            "pick-changed: 2: upgrade to 4; before: upgrade to 3",
            "successors-changed: 3: can upgrade to 2 instead of 4",
            "successors-changed: 2: can upgrade to 4 instead of 3",
        ],
    );
    changes(
        &[down, "3", "4<2"],
        &[down, "3", "4"],
        &[
            "newly-stranded: 3: could upgrade to 2",
            "newly-stranded: 2: could upgrade to 4",
        ],
    );
}

#[test]
fn what_edges_do_to_who_is_installed() {
    changes(&["1", "2<1"], &["1", "2<1"], &[]);
    changes(
        &["1", "2<1"],
        &["1", "2"],
        &["newly-stranded: 1: could upgrade to 2"],
    );
    changes(
        &["1", "2"],
        &["1", "2<1"],
        &[
            "pick-changed: 1: upgrade to 2; before: no upgrade",
            "no-longer-stranded: 1: can upgrade to 2",
        ],
    );
    changes(
        &["1", "2<1"],
        &["1", "2<1", "3<2!1"],
        &[
            "pick-changed: 2: upgrade to 3; before: no upgrade",
            "pick-changed: 1: upgrade to 3; before: upgrade to 2",
            "successors-changed: 1: can also upgrade to 3",
            "no-longer-stranded: 2: can upgrade to 3",
            "bundle-added: 3 (3)",
        ],
    );
    changes(
        &["1", "2<1", "3<2!1"],
        &["1", "2<1", "3<2"],
        &[
            "pick-changed: 1: upgrade to 2; before: upgrade to 3",
            "successors-changed: 1: can no longer upgrade to 3",
        ],
    );
    changes(
        &["1", "2<1", "3!1"],
        &["1", "2<1", "3"],
        &[
            "successors-lost: 1: can no longer upgrade to 3; still to 2",
            "pick-changed: 1: upgrade to 2; before: upgrade to 3",
        ],
    );
}

/// If each version followed all edges again, this would take minutes.
#[test]
fn edges_that_only_go_down_are_followed_once() {
    let versions: Vec<_> = (0..1_000).map(|version| version.to_string()).collect();
    let versions: Vec<_> = versions.iter().map(String::as_str).collect();
    let mut blobs = blobs(&versions);
    let channel = blobs.last_mut().expect("a channel");
    for entry in channel["entries"].as_array_mut().expect("a list") {
        let name = entry["name"].as_str().expect("a name");
        entry["skipRange"] = format!(">{}", name.trim_start_matches("p.v")).into();
    }
    assert_eq!(
        told(&blobs, &blobs, DiffUsers::V1(&Rules::default())),
        [""; 0]
    );
}

#[test]
fn names_that_only_edges_speak_of_count_too() {
    changes(&["2<1"], &["2"], &["newly-stranded: 1: could upgrade to 2"]);
    changes(
        &["3!1,2"],
        &["3!2"],
        &["newly-stranded: 1: could upgrade to 3"],
    );
}

#[test]
fn a_withdrawn_bundle_is_told_with_what_takes_its_place() {
    changes(
        &["1", "2<1", "3<2"],
        &["1", "3<1!2"],
        &[
            "bundle-removed: 2 (2)",
            "pick-changed: 1: upgrade to 3; before: upgrade to 2",
            "successors-changed: 1: can upgrade to 3 instead of 2",
        ],
    );
}

#[test]
fn with_olm_v0_a_skipped_entry_is_no_way_out() {
    // S9 of the seeds: cut off in OLM v0 only.
    let old = blobs(&["1", "2<1"]);
    let new = blobs(&["1", "2<1", "3!2"]);
    assert_eq!(
        told(&old, &new, DiffUsers::V0),
        [
            "newly-stranded: 1 in channel \"c\": could upgrade to 2",
            "pick-changed: 2 in channel \"c\": upgrade to 3; before: no upgrade",
            "no-longer-stranded: 2 in channel \"c\": can upgrade to 3",
            "bundle-added: 3 (3)",
        ]
    );
    let v1 = told(&old, &new, DiffUsers::V1(&Rules::default()));
    assert!(
        !v1.iter().any(|line| line.starts_with("newly-stranded")),
        "{v1:?}"
    );
}

#[test]
fn another_bundle_under_one_version_is_found() {
    let old = [bundle("1", "img")];
    let mut renamed = bundle("1", "img");
    renamed["name"] = "p.v1.0.0-rebuilt".into();
    assert_eq!(
        told(&old, &[renamed], DiffUsers::V1(&Rules::default())),
        [
            "other-bundle: 1 (1) is now 1-rebuilt",
            "pick-changed: 1: upgrade to 1-rebuilt; before: no upgrade"
        ]
    );
    assert_eq!(
        told(
            &old,
            &[bundle("1", "evil")],
            DiffUsers::V1(&Rules::default())
        ),
        ["other-bundle: 1 (1) now has image \"example.com/evil:1\"; before: \"example.com/img:1\""]
    );
    let mut other = bundle("1", "img");
    other["properties"][0]["value"]["version"] = "9.0.0".into();
    assert_eq!(
        told(&old, &[other], DiffUsers::V1(&Rules::default())),
        ["other-bundle: 1 (1) now has version 9"]
    );
}

/// OLM v1 has no other candidate, and fails with an error.
#[test]
fn a_bundle_that_olm_v1_refuses_is_no_upgrade() {
    let entries = ["1", "2<1"];
    let (old, mut new) = (blobs(&entries), blobs(&entries));
    new[2]["properties"].as_array_mut().expect("a list").push(
        json!({"type": "olm.gvk.required", "value": {"group": "g", "kind": "K", "version": "v1"}}),
    );
    let stranded = ["newly-stranded: 1: could upgrade to 2"];
    assert_eq!(told(&old, &new, DiffUsers::V1(&Rules::default())), stranded);
    let mut crash = blobs(&entries);
    crash[3]["entries"][1]["replaces"] = json!(null);
    crash[3]["entries"][1]["skipRange"] = json!("<0.1.0 || || >=1.0.0");
    assert_eq!(
        told(&old, &crash, DiffUsers::V1(&Rules::default())),
        stranded
    );
}

#[test]
fn what_there_is_is_compared() {
    let old = blobs(&["1", "2<1"]);
    let mut new = blobs(&["1", "2<1"]);
    new[0]["defaultChannel"] = "d".into();
    new.push(json!({"schema": "olm.channel", "package": "p", "name": "d", "entries": [{"name": "p.v2.0.0"}]}));
    new.push(
        json!({"schema": "olm.deprecations", "package": "p", "entries": [
        {"reference": {"schema": "olm.package"}, "message": "go\u{1b}"},
        {"reference": {"schema": "olm.channel", "name": "c"}, "message": ""},
        {"reference": {"schema": "olm.bundle", "name": "p.v1.0.0"}, "message": "old"}]}),
    );
    new.push(json!({"schema": "olm.package", "name": "q"}));
    assert_eq!(
        told(&old, &new, DiffUsers::V1(&Rules::default())),
        [
            "deprecated: the package: go\\x1b",
            "deprecated: channel \"c\"",
            "deprecated: bundle 1: old",
            "default-channel-changed: \"d\"; before: \"c\"",
            "channel-added: d",
            "package-added",
        ]
    );
    assert_eq!(
        told(&new, &old, DiffUsers::V1(&Rules::default())),
        [
            "channel-removed: d",
            "default-channel-changed: \"c\"; before: \"d\"",
            "undeprecated: the package",
            "undeprecated: channel \"c\"",
            "undeprecated: bundle 1",
            "package-removed",
        ]
    );
}

#[test]
fn a_package_that_cannot_be_decoded_is_one_change() {
    let old = blobs(&["1"]);
    let mut new = blobs(&["1"]);
    new.push(json!({"schema": "olm.channel", "package": "p", "name": "x", "entries": 3}));
    assert_eq!(
        told(&old, &new, DiffUsers::V1(&Rules::default())),
        ["package-unreadable"]
    );
    assert_eq!(
        told(&new, &old, DiffUsers::V1(&Rules::default())),
        ["package-readable"]
    );
    assert_eq!(told(&new, &new, DiffUsers::V1(&Rules::default())), [""; 0]);
}

#[test]
fn the_text_tells_all_kinds_and_counts_them() {
    let old = catalog(&blobs(&["1", "2<1"]));
    let new = catalog(&blobs(&["1", "2"]));
    let diffs = diff(&old, &new, None, DiffUsers::V1(&Rules::default()));
    assert_eq!(
        words::text(&diffs, Generation::V1),
        "OLM v1 users: 1 breaking change, 0 to review, 0 improvements, in 1 package\n\npackage p\n  \
         NEWLY STRANDED: no upgrade to a higher version any more\n    p.v1.0.0: could upgrade to p.v2.0.0\n"
    );
    assert_eq!(
        words::text(&[], Generation::V0),
        "OLM v0 users: no changes\n"
    );
    let many: Vec<_> = (1..=25).map(|n| n.to_string()).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let gone = diff(
        &catalog(&blobs(&many)),
        &catalog(&blobs(&["1"])),
        None,
        DiffUsers::V1(&Rules::default()),
    );
    let text = words::text(&gone, Generation::V1);
    assert!(
        text.contains("    and 4 more; use -o json to see all\n"),
        "{text}"
    );
}

/// An extension that requests channel `c` and has this version of `p` installed.
fn extension(name: &str, package: &str, version: &str) -> Extension {
    let object = json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension", "metadata": {"name": name},
        "spec": {
            "namespace": "n",
            "source": {"sourceType": "Catalog", "catalog": {"packageName": package, "channels": ["c"]}},
        },
        "status": {"install": {"bundle": {"name": format!("{package}.v{version}"), "version": version}}},
    });
    let RecognisedObject::Extension(shape) = recognise(&object) else {
        panic!("an extension");
    };
    Extension::read(shape, &object)
}

/// Returns the kind and the concerned extensions of each row.
fn weighed(old: &[Value], new: &[Value], extensions: &[Extension]) -> Vec<String> {
    let mut diffs = diff(
        &catalog(old),
        &catalog(new),
        None,
        DiffUsers::V1(&Rules::default()),
    );
    let installed = InstalledExtensions::of(extensions);
    weigh(&mut diffs, &installed);
    let changes = diffs.iter().flat_map(|package| &package.changes);
    let row = |change: &Change| {
        let names = change
            .extensions
            .as_ref()
            .expect("it is known what is installed");
        format!("{}: {}", change.kind.as_str(), names.join(" "))
    };
    changes.map(row).collect()
}

#[test]
fn a_version_concerns_extensions_that_have_it_and_a_channel_ones_that_request_it() {
    let extensions = [
        extension("two", "p", "1.0.0"),
        extension("one", "p", "1.0.0"),
        extension("newest", "p", "2.0.0"),
        extension("other", "q", "1.0.0"),
    ];
    let old = blobs(&["1", "2<1"]);
    assert_eq!(
        weighed(&old, &blobs(&["1", "2"]), &extensions),
        ["newly-stranded: one two"]
    );
    let mut renamed = blobs(&["1", "2<1"]);
    for blob in &mut renamed {
        if blob["schema"] == "olm.channel" {
            blob["name"] = "d".into();
        }
    }
    assert_eq!(
        weighed(&old, &renamed, &extensions)[0],
        "channel-removed: newest one two"
    );
    let gone = vec![json!({"schema": "olm.package", "name": "q"})];
    let all = weighed(&old, &gone, &extensions);
    assert_eq!(
        all,
        ["package-removed: newest one two", "package-added: other"]
    );
}

#[test]
fn changes_that_concern_extensions_come_first_and_heavier_ones_before_others_of_their_kind() {
    let old = blobs(&["1", "2<1", "3<2", "4<3"]);
    let new = blobs(&["1", "2", "3"]);
    let extensions = [
        extension("a", "p", "2.0.0"),
        extension("b", "p", "1.0.0"),
        extension("c", "p", "1.0.0"),
    ];
    let mut diffs = diff(
        &catalog(&old),
        &catalog(&new),
        None,
        DiffUsers::V1(&Rules::default()),
    );
    let installed = InstalledExtensions::of(&extensions);
    weigh(&mut diffs, &installed);
    let text = words::text(&diffs, Generation::V1);
    let expected = [
        "OLM v1 users: 4 breaking changes, 0 to review, 0 improvements, in 1 package; 2 of 4 changes concern installed \
         extensions",
        "",
        "package p",
        "  NEWLY STRANDED: no upgrade to a higher version any more",
        "    p.v1.0.0: could upgrade to p.v2.0.0; concerns 2 installed extensions: b, c",
        "    p.v2.0.0: could upgrade to p.v3.0.0; concerns 1 installed extension: a",
        "  No installed extension is concerned by:",
        "  NEWLY STRANDED: no upgrade to a higher version any more",
        "    p.v3.0.0: could upgrade to p.v4.0.0",
        "  BUNDLE REMOVED: users who pin this version find no bundle",
        "    p.v4.0.0 (4.0.0)",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn of_many_extensions_a_line_names_the_first() {
    let extensions: Vec<_> = (0..7)
        .map(|n| extension(&format!("e{n}"), "p", "1.0.0"))
        .collect();
    let gone = vec![json!({"schema": "olm.package", "name": "q"})];
    let mut diffs = diff(
        &catalog(&blobs(&["1"])),
        &catalog(&gone),
        None,
        DiffUsers::V1(&Rules::default()),
    );
    let installed = InstalledExtensions::of(&extensions);
    weigh(&mut diffs, &installed);
    let text = words::text(&diffs, Generation::V1);
    let line = "\n    concerns 7 installed extensions: e0, e1, e2, e3, e4 and 2 more\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn kinds_stand_in_order_and_have_names_of_their_own() {
    assert!(ChangeKind::ALL.is_sorted());
    let names: BTreeSet<_> = ChangeKind::ALL.iter().map(|kind| kind.as_str()).collect();
    assert_eq!(names.len(), ChangeKind::ALL.len());
    let levels: Vec<_> = ChangeKind::ALL.iter().map(|kind| kind.level()).collect();
    assert!(levels.is_sorted());
}

proptest! {
    #[test]
    fn the_order_of_blobs_changes_nothing(
        edges in proptest::collection::vec((0_usize..8, 0_usize..8), 0..10),
        seed in any::<u64>(),
    ) {
        let texts: Vec<_> = (0..8_usize).map(|n| {
            let from: Vec<_> = edges.iter().filter(|(to, _)| *to == n).map(|(_, from)| from.to_string()).collect();
            match from.split_first() {
                None => n.to_string(),
                Some((first, rest)) => format!("{n}<{first}!{}", rest.join(",")),
            }
        }).collect();
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        let one = blobs(&texts);
        let mut other = one.clone();
        let length = other.len();
        for n in 0..length {
            let with = usize::try_from(seed.rotate_left(u32::try_from(n).unwrap()) % length as u64).unwrap();
            other.swap(n, with);
        }
        for users in [DiffUsers::V0, DiffUsers::V1(&Rules::default())] {
            prop_assert_eq!(diff(&catalog(&one), &catalog(&other), None, users), Vec::new());
        }
    }
}
