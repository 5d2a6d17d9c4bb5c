//! A package in shorthand, for the tests of these reports. Each line of `entries` is a channel,
//! `CHANNEL: ENTRY; ENTRY`. An entry is `VERSION [KEY VALUE]...` with the keys of a catalog.

use std::sync::Arc;

use serde_json::{Value, json};

use olmguard_catalog::olm::{EdgeSource, Rules};
use olmguard_catalog::{CatalogBuilder, fbc};
use olmguard_engine::extension::Filter;
use olmguard_engine::judge::StatedInstalled;
use olmguard_engine::snapshot::{CatalogState, Content, Snapshot};

/// Builds a snapshot of catalogs, each with the package `p` of these lines.
pub(crate) fn snapshot(edges: EdgeSource, catalogs: &[(&str, &str)]) -> Snapshot {
    let plain: Vec<_> = catalogs
        .iter()
        .map(|(name, lines)| (*name, *lines, 0))
        .collect();
    of_priorities(edges, &plain)
}

/// Builds a snapshot of catalogs with priorities.
pub(crate) fn of_priorities(edges: EdgeSource, catalogs: &[(&str, &str, i32)]) -> Snapshot {
    let rules = Rules::default().with_edges(edges);
    let states = catalogs.iter().map(|(name, lines, priority)| {
        let mut builder = CatalogBuilder::new(&rules);
        let blobs: Vec<String> = blobs(lines).iter().map(Value::to_string).collect();
        fbc::read(name, blobs.join("\n").as_bytes(), &mut builder).expect("a catalog");
        let content = Content::Loaded(Arc::new(builder.finish().expect("no bound")));
        CatalogState {
            priority: *priority,
            ..CatalogState::named(name, content)
        }
    });
    let states: Vec<_> = states.collect();
    Snapshot::new(rules, states)
}

/// Requests the package `p`.
pub(crate) fn filter(channels: &[&str], range: Option<&str>) -> Filter {
    Filter {
        package: "p".to_owned(),
        channels: channels.iter().map(|&channel| channel.to_owned()).collect(),
        version: range.map(str::to_owned),
        ..Filter::default()
    }
}

/// Parses `VERSION`, `NAME` or `VERSION,bundle=NAME`.
pub(crate) fn said(text: &str) -> StatedInstalled {
    let (text, bundle) = match text.split_once(",bundle=") {
        Some((version, name)) => (version, Some(name.to_owned())),
        None => (text, None),
    };
    StatedInstalled {
        text: text.to_owned(),
        bundle,
        ..StatedInstalled::default()
    }
}

fn blobs(lines: &str) -> Vec<Value> {
    let mut blobs = Vec::new();
    let mut versions = std::collections::BTreeMap::<String, Vec<Value>>::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (channel, entries) = line.split_once(": ").expect("CHANNEL: ENTRIES");
        if channel == "(default)" {
            blobs.push(json!({"schema": "olm.package", "name": "p", "defaultChannel": entries}));
            continue;
        }
        let mut written = Vec::new();
        for entry in entries.split("; ") {
            let (version, rest) = entry.split_once(' ').unwrap_or((entry, ""));
            let properties = versions.entry(version.to_owned()).or_default();
            let mut object = json!({"name": format!("p.v{version}")});
            for (key, value) in pairs(rest) {
                match key {
                    "requires" => properties.push(json!({"type": value, "value": {}})),
                    "replaces" => object[key] = json!(format!("p.v{value}")),
                    "skips" => object[key] = json!([format!("p.v{value}")]),
                    _ => object[key] = json!(value),
                }
            }
            written.push(object);
        }
        if channel == "(deprecated)" {
            let entry = |object: &Value| {
                let reference = json!({"schema": "olm.bundle", "name": object["name"]});
                json!({"reference": reference, "message": "gone\u{1b}[31m"})
            };
            let entries: Vec<_> = written.iter().map(entry).collect();
            blobs.push(json!({"schema": "olm.deprecations", "package": "p", "entries": entries}));
        } else if channel != "(none)" {
            blobs.push(
                json!({"schema": "olm.channel", "package": "p", "name": channel,
                "entries": written}),
            );
        }
    }
    for (version, mut properties) in versions {
        properties.push(json!({"type": "olm.package",
            "value": {"packageName": "p", "version": version}}));
        blobs.push(json!({"schema": "olm.bundle", "package": "p",
            "name": format!("p.v{version}"), "properties": properties}));
    }
    blobs
}

/// Splits `KEY VALUE` pairs. A value that contains spaces is in parentheses.
fn pairs(text: &str) -> Vec<(&str, &str)> {
    let mut pairs = Vec::new();
    let mut rest = text;
    while let Some((key, after)) = rest.split_once(' ') {
        let (value, left) = match after.strip_prefix('(') {
            Some(long) => long.split_once(')').expect("a closed value"),
            None => after.split_once(' ').unwrap_or((after, "")),
        };
        pairs.push((key, value));
        rest = left.trim_start();
    }
    pairs
}
