//! 2,000 extensions over five whole catalogs in a snapshot.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::run::{olmguard_audit, run};
use olmguard::source::archive::{ArchiveFacts, FetchedContent, SavedPolicies, write};
use olmguard::source::{Progress, load};
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::{CatalogState, Content};
use serde_json::{Value, json};

const CATALOGS: [&str; 5] = ["v4.16", "v4.17", "v4.18", "v4.19", "v4.20"];

/// The catalog that a preview replaces, and the one whose content it then has.
const REPLACED: (&str, &str) = ("v4.19", "v4.16");

const EXTENSIONS: usize = 2_000;

pub(crate) fn print(folder: &Path) {
    let list = folder.join("list.json");
    let snapshot = folder.join("five.snapshot");
    let next = folder.join("next.snapshot");
    fs::write(&list, extensions(EXTENSIONS).to_string()).expect("a file");
    save(&snapshot, |name| name);
    save(
        &next,
        |name| if name == REPLACED.0 { REPLACED.1 } else { name },
    );
    let given = format!("--catalog={}={}", REPLACED.0, file(REPLACED.1).display());
    let before = audit("audit of 2,000 extensions", &list, &snapshot, &[]);
    let preview = audit("the same with a new catalog", &list, &snapshot, &[&given]);
    let after = audit("audit after the replacement", &list, &next, &[]);
    unexplained(&preview, &before, &after);
}

/// Compares a preview with what then happens, extension by extension.
fn unexplained(preview: &Value, before: &Value, after: &Value) {
    let [before, after] = [before, after].map(by_name);
    let extensions = preview["extensions"].as_array().expect("a list");
    assert_eq!(extensions.len(), EXTENSIONS);
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
    println!("{changed} of {EXTENSIONS} extensions change, 0 differences unexplained");
}

fn by_name(audit: &Value) -> BTreeMap<&str, &Value> {
    let extensions = audit["extensions"].as_array().expect("a list");
    let named = extensions.iter();
    named
        .map(|one| (one["name"].as_str().expect("a name"), one))
        .collect()
}

fn audit(what: &str, list: &Path, snapshot: &Path, more: &[&str]) -> Value {
    let mut command = olmguard_audit();
    command.arg(list).arg("--snapshot").arg(snapshot).args(more);
    let output = run(what, &mut command);
    serde_json::from_slice(&output).expect("a report")
}

/// What a preview explains if it differs: the verdict, and every version and finding of a report.
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

/// Extensions of every package of each catalog in turn, at every version, pinned and in ranges.
pub(crate) fn extensions(count: usize) -> Value {
    let rules = Rules::default();
    let states = CATALOGS.map(|name| load(name, &file(name), &rules));
    let bundles = states.iter().flat_map(|state| {
        let catalog = state.loaded().expect("a catalog");
        let packages = catalog.package_names().filter_map(|name| {
            let package = catalog.package(name)?.ok()?;
            Some((name.to_owned(), package))
        });
        packages.flat_map(|(name, package)| {
            let bundles = package.bundles();
            bundles.map(move |(_, bundle)| (state.name.clone(), name.clone(), bundle))
        })
    });
    let all: Vec<_> = bundles.collect();
    assert!(all.len() >= count, "the catalogs have enough bundles");
    let items = (0..count).map(|n| {
        let (catalog, package, bundle) = &all[n * all.len() / count];
        let version = bundle.version.as_ref().map_or_else(
            |_| "1.0.0".to_owned(),
            |version| version.version.to_string(),
        );
        let range = match n % 3 {
            0 => version.clone(),
            1 => format!(">={version}"),
            _ => format!("~{version}"),
        };
        json!({
            "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
            "metadata": {"name": format!("extension-{n}")},
            "spec": {"namespace": "ns", "source": {"sourceType": "Catalog", "catalog": {
                "packageName": package, "version": range,
                "selector": {"matchLabels": {"olm.operatorframework.io/metadata.name": catalog}},
            }}},
            "status": {"install": {"bundle": {"name": bundle.name, "version": version}}},
        })
    });
    json!({"apiVersion": "v1", "kind": "List", "items": items.collect::<Vec<_>>()})
}

/// A snapshot of the five, each with the content of the catalog that `content` names.
fn save(to: &Path, content: impl Fn(&'static str) -> &'static str) {
    let facts = ArchiveFacts::new(
        "2026-11-21T14:30:00Z".to_owned(),
        None,
        SavedPolicies::default(),
    );
    let contents = CATALOGS.map(|name| {
        let bytes = fs::read(file(content(name))).expect("a catalog");
        let mut body = zstd::Decoder::new(&*bytes).expect("zstd");
        FetchedContent::read_from(name, &mut body, &Progress::default()).expect("a catalog")
    });
    let states = CATALOGS.map(|name| CatalogState::named(name, Content::Missing));
    let catalogs = states.iter().zip(contents.iter().map(Some));
    write(File::create(to).expect("a file"), &facts, catalogs).expect("it is written");
}

fn file(name: &str) -> PathBuf {
    let shared = std::env::var_os("OLMGUARD_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    shared.join(format!("catalogs/community-{name}.jsonl.zst"))
}
