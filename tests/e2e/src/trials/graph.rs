//! Generated catalogs, as JSON lines.

use serde_json::json;

/// Returns a package whose versions are successors in this order, all in one channel.
pub(super) fn chain(package: &str, versions: &[&str]) -> String {
    let name = |version: &str| format!("{package}.v{version}");
    let olm_package =
        json!({ "schema": "olm.package", "name": package, "defaultChannel": "stable" });
    let first = versions.iter().take(1);
    let first = first.map(|version| json!({ "name": name(version) }));
    let pairs = versions.iter().zip(versions.iter().skip(1));
    let others =
        pairs.map(|(before, version)| json!({ "name": name(version), "replaces": name(before) }));
    let channel = json!({
        "schema": "olm.channel", "package": package, "name": "stable",
        "entries": first.chain(others).collect::<Vec<_>>(),
    });
    let bundles = versions.iter().map(|version| {
        json!({
            "schema": "olm.bundle", "package": package, "name": name(version),
            "image": format!("registry.example/{package}:{version}"),
            "properties": [{ "type": "olm.package", "value": { "packageName": package, "version": version } }],
        })
    });
    let blobs = [olm_package, channel].into_iter().chain(bundles);
    blobs.map(|blob| blob.to_string() + "\n").collect()
}
