//! New contents of catalogs: a release, and other changes that authors make.

use anyhow::Result;
use fastrand::Rng;
use serde_json::{Value, json};

use crate::olm::catalog::Catalog;
use crate::registry::Registry;
use crate::trials::truth::graph::{ELSEWHERE, Graph, elsewhere_blobs, give_image};
use crate::trials::truth::sketch::text;

/// Returns new contents for the first catalog of most graphs.
pub(super) async fn some(
    random: &mut Rng,
    graphs: &[Graph],
    registry: &Registry,
) -> Result<Vec<Catalog>> {
    let mut changed = Vec::new();
    for graph in graphs.iter().filter(|graph| graph.id != ELSEWHERE) {
        let Some(catalog) = graph.catalogs.first().filter(|_| random.u8(..5) > 0) else {
            continue;
        };
        let blobs: Vec<Value> = catalog
            .fbc
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()?;
        let mut blobs = change(random, &graph.package, blobs);
        for blob in blobs
            .iter_mut()
            .filter(|blob| blob.get("image") == Some(&Value::Null))
        {
            give_image(blob, registry).await?;
        }
        let mut new = Catalog::of(&catalog.name, &blobs);
        new.priority = catalog.priority;
        new.labels.clone_from(&catalog.labels);
        changed.push(new);
    }
    Ok(changed)
}

fn change(random: &mut Rng, package: &str, mut blobs: Vec<Value>) -> Vec<Value> {
    match random.u8(..8) {
        0..=3 => release(random, package, &mut blobs),
        4 => withdraw(random, package, &mut blobs),
        5 => deprecate(package, &mut blobs),
        6 => end_a_channel(random, package, &mut blobs),
        _ => return elsewhere_blobs().into(),
    }
    blobs
}

/// Adds a version above all others, which replaces an entry of each channel and perhaps skips all
/// earlier versions.
fn release(random: &mut Rng, package: &str, blobs: &mut Vec<Value>) {
    let name = format!("{package}.v{RELEASED}");
    let is_of_all = random.u8(..4) > 0;
    for channel in blobs
        .iter_mut()
        .filter(|blob| is(blob, "olm.channel", package))
    {
        let Some(entries) = channel.get_mut("entries").and_then(Value::as_array_mut) else {
            continue;
        };
        let replaced = random
            .choice(&*entries)
            .and_then(|entry| text(entry, "/name"));
        let mut entry = json!({ "name": name, "replaces": replaced });
        if let Some(fields) = entry.as_object_mut().filter(|_| is_of_all) {
            let range = format!("<{RELEASED}");
            fields.insert("skipRange".to_owned(), range.into());
        }
        entries.push(entry);
    }
    let version = json!({ "packageName": package, "version": RELEASED });
    blobs.push(json!({
        "schema": "olm.bundle", "package": package, "name": name, "image": null,
        "properties": [{ "type": "olm.package", "value": version }],
    }));
}

/// Removes a bundle and its entries, unless it is the only bundle.
fn withdraw(random: &mut Rng, package: &str, blobs: &mut Vec<Value>) {
    let Some(name) = one_of_several(random, blobs, "olm.bundle", package) else {
        return;
    };
    blobs.retain(|blob| !(is(blob, "olm.bundle", package) && text(blob, "/name") == Some(&name)));
    for channel in blobs
        .iter_mut()
        .filter(|blob| is(blob, "olm.channel", package))
    {
        if let Some(entries) = channel.get_mut("entries").and_then(Value::as_array_mut) {
            entries.retain(|entry| text(entry, "/name") != Some(&name));
        }
    }
}

/// Deprecates the whole package, and nothing else.
fn deprecate(package: &str, blobs: &mut Vec<Value>) {
    blobs.retain(|blob| !is(blob, "olm.deprecations", package));
    blobs.push(json!({
        "schema": "olm.deprecations", "package": package,
        "entries": [{ "reference": { "schema": "olm.package" }, "message": "at its end" }],
    }));
}

/// Removes a channel, unless it is the only one.
fn end_a_channel(random: &mut Rng, package: &str, blobs: &mut Vec<Value>) {
    let Some(name) = one_of_several(random, blobs, "olm.channel", package) else {
        return;
    };
    blobs.retain(|blob| !(is(blob, "olm.channel", package) && text(blob, "/name") == Some(&name)));
}

/// Returns the name of one blob of this schema, if there are several.
fn one_of_several(
    random: &mut Rng,
    blobs: &[Value],
    schema: &str,
    package: &str,
) -> Option<String> {
    let of_schema = blobs.iter().filter(|blob| is(blob, schema, package));
    let names: Vec<&str> = of_schema.filter_map(|blob| text(blob, "/name")).collect();
    let name = random.choice(&names).filter(|_| names.len() > 1);
    name.map(|name| (*name).to_owned())
}

fn is(blob: &Value, schema: &str, package: &str) -> bool {
    text(blob, "/schema") == Some(schema) && text(blob, "/package") == Some(package)
}

/// A version above every version of the graphs, recorded or generated.
const RELEASED: &str = "70.1.0";
