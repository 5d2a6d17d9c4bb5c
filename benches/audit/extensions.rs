//! Extensions of every package of each catalog in turn, with every version installed, pinned and in
//! ranges.

use olmguard_engine::snapshot::Snapshot;
use serde_json::{Value, json};

/// A list of this many extensions with their status.
pub(super) fn list(snapshot: &Snapshot, count: usize) -> Value {
    let all = bundles(snapshot);
    let items = (0..count).map(|number| {
        let at = number * all.len() / count;
        extension(number, &all[at])
    });
    json!({"apiVersion": "v1", "kind": "List", "items": items.collect::<Vec<_>>()})
}

/// A bundle of a catalog that is installed.
struct Installed {
    catalog: String,
    package: String,
    bundle: String,
    version: String,
}

fn bundles(snapshot: &Snapshot) -> Vec<Installed> {
    let mut all = Vec::new();
    for state in snapshot.catalogs() {
        let catalog = state.loaded().expect("a catalog");
        for name in catalog.package_names() {
            let package = catalog.package(name).and_then(Result::ok);
            let bundles = package
                .into_iter()
                .flat_map(olmguard_catalog::Package::bundles);
            all.extend(bundles.filter_map(|(_, bundle)| {
                Some(Installed {
                    catalog: state.name.clone(),
                    package: name.to_owned(),
                    bundle: bundle.name.to_string(),
                    version: bundle.version.as_ref().ok()?.version.to_string(),
                })
            }));
        }
    }
    all
}

fn extension(number: usize, installed: &Installed) -> Value {
    let Installed {
        catalog,
        package,
        bundle,
        version,
    } = installed;
    let range = match number % 3 {
        0 => version.clone(),
        1 => format!(">={version}"),
        _ => format!("~{version}"),
    };
    json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
        "metadata": {"name": format!("extension-{number}")},
        "spec": {"namespace": "ns", "source": {"sourceType": "Catalog", "catalog": {
            "packageName": package, "version": range,
            "selector": {"matchLabels": {"olm.operatorframework.io/metadata.name": catalog}},
        }}},
        "status": {"install": {"bundle": {"name": bundle, "version": version}}},
    })
}
