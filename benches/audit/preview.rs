//! 2,000 extensions with five catalogs in a snapshot, and the effect of replacing one of the catalogs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

use olmguard::source::Progress;
use olmguard::source::archive::{ArchiveFacts, FetchedContent, SavedPolicies, write};
use olmguard_engine::snapshot::{CatalogState, Content};
use serde_json::{Value, json};

use super::{Aims, audit, extensions, timed};
use crate::run::Run;
use crate::world::World;

const EXTENSIONS: usize = 2_000;

/// A catalog without the package of the small catalogs.
const OTHER: &str = r#"{"schema":"olm.package","name":"other","defaultChannel":"a"}
{"schema":"olm.channel","package":"other","name":"a","entries":[{"name":"other.v1.0.0"}]}
{"schema":"olm.bundle","package":"other","name":"other.v1.0.0","image":"example.com/other:v1","properties":[{"type":"olm.package","value":{"packageName":"other","version":"1.0.0"}}]}
"#;

const AIMS: Aims = Aims {
    seconds: 2.0,
    mib: 150.0,
};

pub(super) fn measure(run: &Run, world: &World, folder: &Path) {
    let count = run.count(EXTENSIONS, 12);
    let list = folder.join("list.json");
    let extensions = extensions::list(&world.snapshot(), count);
    fs::write(&list, extensions.to_string()).expect("a file");
    // A whole catalog is replaced by another. The small catalogs are all equal, so their replacement has another
    // package.
    let [content, _, _, replaced, _] = world.names();
    let other = folder.join("other.json");
    fs::write(&other, OTHER).expect("a file");
    let new = match world {
        World::Whole(_) => world.file(content),
        World::Small => other,
    };
    let [snapshot, next] = ["five", "next"].map(|name| folder.join(format!("{name}.snapshot")));
    save(world, &snapshot, None);
    save(world, &next, Some((replaced, &new)));
    let given = format!("--catalog={replaced}={}", new.display());
    let audited = |row, snapshot: &Path, more: &[&str]| {
        let mut command = audit();
        command
            .arg(&list)
            .arg("--snapshot")
            .arg(snapshot)
            .args(more);
        let output = timed(run, row, &AIMS, &command);
        serde_json::from_slice::<Value>(&output).expect("a report")
    };
    let before = audited("audit of 2,000 extensions", &snapshot, &[]);
    let preview = audited("the same with a new catalog", &snapshot, &[&given]);
    let after = audited("audit after the replacement", &next, &[]);
    explained(&preview, [&before, &after], count);
}

/// Compares a preview with the audits before and after the replacement, extension by extension.
fn explained(preview: &Value, audits: [&Value; 2], count: usize) {
    let [before, after] = audits.map(by_name);
    let extensions = preview["extensions"].as_array().expect("a list");
    assert_eq!(extensions.len(), count);
    let mut changed = 0;
    for extension in extensions {
        let name = extension["name"].as_str().expect("a name");
        assert_eq!(extension["before"], *before[name], "{name}");
        assert_eq!(extension["after"], *after[name], "{name}");
        let is_changed = extension["changes"] != json!([]);
        let differs = facts(before[name]) != facts(after[name]);
        assert!(is_changed || !differs, "{name}: {extension}");
        changed += usize::from(is_changed);
    }
    assert!(changed > 0, "the new catalog changes something");
    println!("  {changed} of {count} extensions change, each for a reason that the preview names");
}

fn by_name(audit: &Value) -> BTreeMap<&str, &Value> {
    let extensions = audit["extensions"].as_array().expect("a list").iter();
    let named = extensions.map(|one| (one["name"].as_str().expect("a name"), one));
    named.collect()
}

/// The facts whose changes a preview must explain: the verdict, and every version and finding of a report.
fn facts(extension: &Value) -> Vec<String> {
    let list = |value: &Value, field: &str| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        items.map(|item| item[field].to_string()).collect()
    };
    let singles = [
        &extension["verdict"],
        &extension["newest"]["version"],
        &extension["resolved"]["version"],
        &extension["next"]["one_edit"]["value"],
    ];
    let lists = [
        list(&extension["automatic"], "version"),
        list(&extension["next"]["path"], "version"),
        list(&extension["findings"], "id"),
    ];
    let singles = singles.into_iter().map(ToString::to_string);
    singles.chain(lists.concat()).collect()
}

/// Saves a snapshot of the five catalogs, optionally with the content of another file for one of them.
fn save(world: &World, to: &Path, replaced: Option<(&str, &Path)>) {
    let moment = "2026-11-21T14:30:00Z".to_owned();
    let facts = ArchiveFacts::new(moment, None, SavedPolicies::default());
    let contents = world.names().map(|name| {
        let other = replaced.filter(|(one, _)| *one == name);
        let bytes = match (other, world) {
            (Some((_, file)), World::Small) => fs::read(file).expect("a file"),
            (Some((_, file)), World::Whole(_)) => {
                let file = File::open(file).expect("a catalog");
                zstd::decode_all(file).expect("zstd")
            }
            (None, _) => world.content(name),
        };
        FetchedContent::read_from(name, &mut &*bytes, &Progress::default()).expect("a catalog")
    });
    let states = world
        .names()
        .map(|name| CatalogState::named(name, Content::Missing));
    let catalogs = states.iter().zip(contents.iter().map(Some));
    write(File::create(to).expect("a file"), &facts, catalogs).expect("it is written");
}
