use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::catalog::{CatalogBuilder, fbc};
use crate::extension::{Filter, InstalledBundle};
use crate::resolve::Query;
use crate::snapshot::{CatalogState, Content, Snapshot};

/// A catalog of package `p` whose one channel has these entries, named like their versions.
fn catalog(entries: &Value) -> Content {
    let names = entries.as_array().expect("a list").iter();
    let versions = names.map(|entry| entry["name"].as_str().expect("a name"));
    let mut blobs: Vec<Value> = versions
        .map(|version| {
            let value = json!({"packageName": "p", "version": version});
            json!({"schema": "olm.bundle", "package": "p", "name": version,
                "properties": [{"type": "olm.package", "value": value}]})
        })
        .collect();
    blobs.push(json!({"schema": "olm.channel", "package": "p", "name": "c", "entries": entries}));
    let lines: Vec<_> = blobs.iter().map(Value::to_string).collect();
    let rules = Rules::default();
    let mut builder = CatalogBuilder::new(&rules);
    fbc::read("catalog", lines.join("\n").as_bytes(), &mut builder).expect("a catalog");
    Content::Loaded(Arc::new(builder.finish()))
}

fn search<T>(catalogs: &[(&str, Value)], look: impl FnOnce(&[Offer<'_>], &Origin<'_>) -> T) -> T {
    let state = |(name, entries): &(&str, Value)| CatalogState::named(name, catalog(entries));
    let snapshot = Snapshot::new(Rules::default(), catalogs.iter().map(state));
    let filter = Filter {
        package: "p".to_owned(),
        ..Filter::default()
    };
    let query = Query::compile(&filter, &snapshot).expect("a filter without texts");
    let offers = query.offers(&query.in_play(&snapshot)).expect("loaded");
    let installed = InstalledBundle {
        name: Some("1.0.0".to_owned()),
        version: "1.0.0".to_owned(),
        release: None,
    };
    let origin = Origin::read(&installed, snapshot.rules()).expect("a version");
    look(&offers, &origin)
}

fn names(hops: &[Choice<'_>]) -> Vec<String> {
    hops.iter()
        .map(|hop| hop.bundle().name.to_string())
        .collect()
}

#[test]
fn a_version_that_crashes_in_one_catalog_is_pinned_in_none() {
    let sound = json!([
        {"name": "1.0.0"},
        {"name": "1.1.0", "replaces": "1.0.0"},
        {"name": "1.2.0", "skips": ["1.0.0"]},
        {"name": "1.3.0", "skips": ["1.0.0"]},
    ]);
    let broken = json!([{"name": "1.2.0", "skipRange": "<0.1.0 || || >9.0.0"}]);
    let hops = |catalogs: &[_]| search(catalogs, |offers, from| names(&next_hops(offers, from)));
    let alone = hops(&[("a", sound.clone())]);
    assert_eq!(alone, ["1.3.0", "1.2.0", "1.1.0"]);
    for other in ["0", "b"] {
        let both = hops(&[("a", sound.clone()), (other, broken.clone())]);
        assert_eq!(both, ["1.3.0", "1.1.0"], "the broken one is called {other}");
    }
}
