//! Random graphs: rising versions, including prereleases, and edges of every kind.

use fastrand::Rng;
use serde::Serialize;
use serde_json::{Value, json};

use super::sketch::{Sketch, Source};

/// Returns a package in one catalog, in two that tie, or in two with different priorities, in turn.
pub(super) fn one(random: &mut Rng, number: usize) -> Sketch {
    let versions = versions(random);
    let some: Vec<_> = versions
        .iter()
        .filter(|_| random.u8(..4) > 0)
        .cloned()
        .collect();
    let one = source(random, "one", &versions);
    let mut two = source(random, "two", &some);
    two.priority = match number % 3 {
        0 => 0,
        1 => random.i32(1..10),
        _ => random.i32(-10..0),
    };
    let is_alone = number.is_multiple_of(2);
    Sketch {
        package: PACKAGE.to_owned(),
        sources: if is_alone { vec![one] } else { vec![one, two] },
        asked: Vec::new(),
    }
}

fn versions(random: &mut Rng) -> Vec<String> {
    let (mut major, mut minor, mut patch) = (random.u8(..2), 0, 0);
    let mut versions = Vec::new();
    for _ in 0..random.usize(4..9) {
        match random.u8(..6) {
            0 => (major, minor, patch) = (major + 1, 0, 0),
            1 | 2 => (minor, patch) = (minor + 1, 0),
            _ => patch += 1,
        }
        if random.u8(..4) == 0 {
            versions.push(format!("{major}.{minor}.{patch}-rc.{}", random.u8(..12)));
        }
        versions.push(format!("{major}.{minor}.{patch}"));
    }
    versions
}

fn source(random: &mut Rng, name: &str, versions: &[String]) -> Source {
    let mut blobs =
        vec![json!({ "schema": "olm.package", "name": PACKAGE, "defaultChannel": "stable" })];
    let fast: Vec<_> = versions.iter().filter(|_| random.bool()).cloned().collect();
    blobs.push(channel(random, "stable", versions));
    blobs.push(channel(random, "fast", &fast));
    blobs.extend(versions.iter().map(|version| bundle(random, version)));
    blobs.extend(deprecations(random, versions));
    Source {
        name: name.to_owned(),
        priority: 0,
        blobs,
    }
}

fn channel(random: &mut Rng, name: &str, versions: &[String]) -> Value {
    let entries: Vec<Entry> = (0..versions.len())
        .map(|at| entry(random, versions, at))
        .collect();
    json!({ "schema": "olm.channel", "package": PACKAGE, "name": name, "entries": entries })
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skips: Option<[String; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skip_range: Option<String>,
}

fn entry(random: &mut Rng, versions: &[String], at: usize) -> Entry {
    let (earlier, rest) = versions.split_at(at);
    let mut entry = Entry {
        name: rest.first().map(|version| name(version)),
        ..Entry::default()
    };
    let (Some(first), Some(last)) = (earlier.first(), earlier.last()) else {
        return entry;
    };
    if random.u8(..5) > 0 {
        entry.replaces = Some(name(last));
    }
    if random.u8(..4) == 0 {
        entry.skips = random.choice(earlier).map(|version| [name(version)]);
    }
    if random.u8(..4) == 0 {
        // With a comma it is not a valid range, and OLM ignores it.
        entry.skip_range = random.choice([
            format!(">={first} <{last}"),
            format!("<{last}"),
            format!(">={first}, <{last}"),
        ]);
    }
    entry
}

fn bundle(random: &mut Rng, version: &str) -> Value {
    let package = json!({ "packageName": PACKAGE, "version": version });
    let mut properties = vec![json!({ "type": "olm.package", "value": package })];
    if random.u8(..6) == 0 {
        let kinds = ["olm.gvk.required", "olm.package.required", "olm.constraint"];
        properties.push(json!({ "type": random.choice(kinds), "value": {} }));
    }
    json!({
        "schema": "olm.bundle", "package": PACKAGE, "name": name(version), "image": "", "properties": properties,
    })
}

fn deprecations(random: &mut Rng, versions: &[String]) -> Option<Value> {
    let withdrawn = versions.iter().filter(|_| random.u8(..4) == 0);
    let entries: Vec<_> = withdrawn
        .map(|version| json!({ "reference": { "schema": "olm.bundle", "name": name(version) }, "message": "withdrawn" }))
        .collect();
    (!entries.is_empty())
        .then(|| json!({ "schema": "olm.deprecations", "package": PACKAGE, "entries": entries }))
}

fn name(version: &str) -> String {
    format!("{PACKAGE}.v{version}")
}

const PACKAGE: &str = "lantern";
