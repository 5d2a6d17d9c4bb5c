//! `olmguard audit --snapshot FILE --catalog NAME=PATH`: the differences once that catalog is replaced.

use std::fs;

use olmguard_support::schema::assert_fits;
use serde_json::{Value, json};

use super::{audit, list, object};
use crate::folder::Folder;
use crate::saved::{named, olm, save};

/// Returns a scene with the catalog `hub` in a snapshot, and its new version: without 1.1.0, with 1.3.0.
fn scene() -> Folder {
    let scene = super::scene();
    let path = |name: &str| scene.path().join(name);
    let old = fs::read_to_string(path("hub.yaml")).expect("a catalog");
    let next = old.replace("- {name: p.v1.1.0, replaces: p.v1.0.0}\n", "");
    let next = next.replace(
        "- {name: p.v1.2.0, replaces: p.v1.1.0}\n",
        "- {name: p.v1.2.0}\n- {name: p.v1.3.0, replaces: p.v1.2.0}\n",
    );
    let gone = "---\nschema: olm.bundle\npackage: p\nname: p.v1.1.0\nimage: example.com/p:1.1.0\n\
                properties:\n- type: olm.package\n  value: {packageName: p, version: 1.1.0}\n";
    assert!(next.contains(gone), "{next}");
    let next = next.replace(gone, "");
    let bundle = "---\nschema: olm.bundle\npackage: p\nname: p.v1.3.0\nimage: example.com/p:1.3.0\n\
                  properties:\n- type: olm.package\n  value: {packageName: p, version: 1.3.0}\n";
    scene.write("next.yaml", &format!("{next}{bundle}"));
    for name in ["hub", "next"] {
        let catalogs = [(named("hub"), Some(&*path(&format!("{name}.yaml"))))];
        save(
            &path(&format!("{name}.snapshot")),
            Some(olm("1.11", &[])),
            &catalogs,
        );
    }
    scene.write("list.json", &list(&extensions()));
    scene
}

fn extensions() -> [Value; 4] {
    [
        object("follows", ">=1.2.0", "1.2.0"),
        object("newest", "1.2.0", "1.2.0"),
        object("pinned", "1.1.0", "1.1.0"),
        object("denied", "2.0.0", "1.3.0"),
    ]
}

const NOW: &[&str] = &["list.json", "--snapshot=hub.snapshot"];

const NEXT: &[&str] = &[
    "list.json",
    "--snapshot=hub.snapshot",
    "--catalog=hub=next.yaml",
];

fn with<'a>(flags: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [flags, more].concat()
}

#[test]
fn a_new_catalog_is_reported_by_what_is_different_the_worst_first() {
    let (code, stdout, stderr) = audit(&scene(), NEXT, "");
    assert_eq!((code, &*stderr), (Some(1), ""));
    let reach =
        "  reach gained: 1.3.0 is reachable in 1 step: set the version to \"1.3.0\"; before: none";
    let expected = [
        "4 extensions with the new catalog \"hub\": 1 with breaking changes, 1 to review, 2 improved, 0 unchanged",
        "pinned (p): 1.1.0",
        "  unresolvable: no bundle matches 1.1.0",
        "  bundle gone: no selected catalog has the installed bundle any more",
        "  stranded: 2 newer versions exist, up to 1.3.0, and there is no upgrade path to any of them; before: 1.2.0",
        "follows (p): 1.2.0",
        "  moves: OLM upgrades automatically to 1.3.0; before: none",
        reach,
        "newest (p): 1.2.0",
        reach,
        "denied (p): 1.3.0",
        "  bundle back: a selected catalog has the installed bundle",
    ];
    assert_eq!(stdout.lines().collect::<Vec<_>>(), expected);
}

/// The preview is correct: each side equals an audit before and after the catalog is replaced.
#[test]
fn each_side_is_the_audit_of_its_time() {
    let scene = scene();
    let json = |flags: &[&str]| -> Value {
        let (_, stdout, stderr) = audit(&scene, &with(flags, &["-o", "json"]), "");
        serde_json::from_str(&stdout).expect(&stderr)
    };
    let preview = json(NEXT);
    assert_fits("schemas/olmguard.audit-change.v1.json", &preview);
    let sides = [
        ("before", json(NOW)),
        ("after", json(&["list.json", "--snapshot=next.snapshot"])),
    ];
    for (side, audit) in sides {
        let audited = audit["extensions"].as_array().expect("a list");
        assert_eq!(audited.len(), 4);
        for extension in preview["extensions"].as_array().expect("a list") {
            let extension = &extension[side];
            assert!(audited.contains(extension), "{side}: {extension}");
        }
    }
}

#[test]
fn a_catalog_that_stays_as_it_is_changes_nothing() {
    let (code, stdout, _) = audit(&scene(), &with(NOW, &["--catalog=hub=hub.yaml"]), "");
    assert_eq!(code, Some(0));
    let expected = "4 extensions with the new catalog \"hub\": 0 with breaking changes, 0 to review, 0 improved, \
                    4 unchanged\n";
    assert_eq!(stdout, expected);
}

#[test]
fn a_catalog_that_the_snapshot_does_not_have_is_added_with_a_warning() {
    let (code, stdout, stderr) = audit(&scene(), &with(NOW, &["--catalog=hab=hub.yaml"]), "");
    assert_eq!(code, Some(1));
    assert!(stdout.contains("  ambiguous: "), "{stdout}");
    let expected = "warning: catalog \"hab\" is not in the snapshot or the cluster: the report is about adding it";
    assert!(stderr.contains(expected), "{stderr}");
}

#[test]
fn a_new_catalog_that_cannot_be_read_leaves_its_users_undecided() {
    let (code, stdout, stderr) = audit(&scene(), &with(NOW, &["--catalog=hub=none.yaml"]), "");
    assert_eq!(code, Some(3), "{stderr}");
    assert!(stdout.contains("  undecided: "), "{stdout}");
    assert!(stderr.contains("error: catalog \"hub\": "), "{stderr}");
}

#[test]
fn the_comment_folds_the_changes_away() {
    let (code, stdout, _) = audit(&scene(), &with(NEXT, &["-o", "markdown"]), "");
    assert_eq!(code, Some(1));
    let begin = "<!-- olmguard audit changes -->\n### olmguard audit: ";
    assert!(stdout.starts_with(begin), "{stdout}");
    let row = "| `pinned` | `p` | `1.1.0` | unresolvable, bundle gone, stranded |\n";
    assert!(stdout.contains(row), "{stdout}");
    let fold = "<details><summary><code>follows</code>: notice</summary>";
    assert!(stdout.contains(fold), "{stdout}");
}

#[test]
fn a_form_without_changes_is_wrong_usage() {
    for (flags, form) in [
        (&["-o", "html"][..], "-o html"),
        (&["-o", "junit"], "-o junit"),
        (&["--report"], "--report"),
    ] {
        let (code, stdout, stderr) = audit(&scene(), &with(NEXT, flags), "");
        assert_eq!((code, &*stdout), (Some(2), ""), "{form}");
        let expected = format!("error: {form} has no form for what --catalog changes");
        assert!(stderr.contains(&expected), "{stderr}");
        // The form is refused before anything is read.
        let unread = ["gone.yaml", "--snapshot=gone", "--catalog=hub=gone.yaml"];
        let (code, _, stderr) = audit(&scene(), &with(&unread, flags), "");
        assert_eq!(code, Some(2), "{form}");
        assert!(stderr.starts_with(&expected), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

#[test]
fn hostile_names_stay_in_their_line_in_each_form() {
    let scene = scene();
    let hostile = "x\u{1b}[31m`|<b>\n  stranded: no";
    let mut object = object("x", ">=1.2.0", "1.2.0");
    object["metadata"]["name"] = json!(hostile);
    scene.write("list.json", &list(&[object]));
    for form in ["text", "json", "yaml", "markdown"] {
        let (_, stdout, _) = audit(&scene, &with(NEXT, &["-o", form]), "");
        assert!(!stdout.contains('\u{1b}'), "{form}: {stdout:?}");
        let is_forged = stdout
            .lines()
            .any(|line| line.starts_with("  stranded: no"));
        assert!(!is_forged, "{form}: {stdout}");
    }
}
