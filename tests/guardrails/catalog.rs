//! A package of versions and its guardrails, and edits that are judged by them.

use std::sync::Arc;

use olmguard::catalog::{CatalogBuilder, fbc};
use olmguard::explain::{Answer, answer};
use olmguard::extension::{Extension, Installed, InstalledBundle, Shape};
use olmguard::guardrail::{Imposed, ImposedBy, read};
use olmguard::judge::Edit;
use olmguard::olm::Rules;
use olmguard::snapshot::{CatalogState, Content, Snapshot};
use serde_json::{Value, json};

/// The blobs of package `p`: an entry for each version, which replaces the one before and has a
/// skipRange from `least` up to itself.
pub(crate) fn blobs(versions: &[&str], least: &str) -> Vec<Value> {
    let mut before: Option<&str> = None;
    let mut entries = Vec::new();
    for version in versions {
        let skip_range = format!(">={least} <{version}");
        let mut entry = json!({"name": name(version), "skipRange": skip_range});
        if let Some(before) = before {
            entry["replaces"] = name(before).into();
        }
        entries.push(entry);
        before = Some(version);
    }
    let mut blobs = vec![
        json!({"schema": "olm.package", "name": "p", "defaultChannel": "c"}),
        json!({"schema": "olm.channel", "package": "p", "name": "c", "entries": entries}),
    ];
    blobs.extend(versions.iter().map(|version| {
        let value = json!({"packageName": "p", "version": version});
        json!({"schema": "olm.bundle", "package": "p", "name": name(version),
            "image": format!("registry.example/p:{version}"),
            "properties": [{"type": "olm.package", "value": value}]})
    }));
    blobs
}

pub(crate) fn name(version: &str) -> String {
    format!("p.v{version}")
}

/// The blob of an author.
pub(crate) fn guardrails(graph: &str, rules: &Value) -> Value {
    json!({"schema": "olmguard.guardrails.v1alpha1", "package": "p", "graph": graph, "rules": rules})
}

/// A catalog of these blobs.
pub(crate) fn content(blobs: &[Value]) -> Content {
    let lines: Vec<_> = blobs.iter().map(Value::to_string).collect();
    let rules = Rules::default();
    let mut builder = CatalogBuilder::new(&rules);
    fbc::read("catalog.json", lines.join("\n").as_bytes(), &mut builder).expect("a catalog");
    Content::Loaded(Arc::new(builder.finish().expect("no bound")))
}

/// Catalog `hub` alone.
pub(crate) fn snapshot(blobs: &[Value]) -> Snapshot {
    let hub = CatalogState::named("hub", content(blobs));
    Snapshot::new(Rules::default(), [hub])
}

/// What an administrator says of `p`, in one document.
pub(crate) fn imposed(graph: &str, rules: &Value) -> Imposed {
    let mut imposed = Imposed::default();
    let stated = read(&json!({"graph": graph, "rules": rules}));
    let place = "rules.yaml:3".into();
    imposed.add("p", ImposedBy { place, stated });
    imposed
}

/// The same with guardrails of an administrator.
pub(crate) fn imposing(blobs: &[Value], imposed: Imposed) -> Snapshot {
    snapshot(blobs).imposing(Arc::new(imposed))
}

/// What is asked of package `p`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked<'a> {
    pub(crate) range: Option<&'a str>,
    pub(crate) bypass: bool,
    pub(crate) channels: &'a [&'a str],
}

impl<'a> Asked<'a> {
    pub(crate) fn range(range: &'a str) -> Self {
        Self {
            range: Some(range),
            ..Self::default()
        }
    }

    pub(crate) fn bypassing(self) -> Self {
        Self {
            bypass: true,
            ..self
        }
    }
}

/// What is installed where this version is.
pub(crate) fn installed(version: &str) -> Installed {
    Installed::Bundle(InstalledBundle {
        name: Some(name(version)),
        version: version.to_owned(),
        release: None,
    })
}

/// What becomes of an edit where this version is installed.
pub(crate) fn judged(snapshot: &Snapshot, version: &str, asked: Asked<'_>) -> Answer {
    judged_from(snapshot, &installed(version), asked)
}

/// What becomes of an edit.
pub(crate) fn judged_from(snapshot: &Snapshot, installed: &Installed, asked: Asked<'_>) -> Answer {
    let mut catalog = json!({"packageName": "p"});
    if let Some(range) = asked.range {
        catalog["version"] = range.into();
    }
    if !asked.channels.is_empty() {
        catalog["channels"] = asked.channels.into();
    }
    if asked.bypass {
        catalog["upgradeConstraintPolicy"] = "SelfCertified".into();
    }
    let manifest = json!({
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": {"name": "e"},
        "spec": {"source": {"sourceType": "Catalog", "catalog": catalog}},
    });
    let edit = Edit {
        new: &Extension::read(Shape::V1, &manifest),
        old: None,
        installed,
        schema: &[],
    };
    answer(snapshot, &edit)
}
