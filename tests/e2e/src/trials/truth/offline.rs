//! The answers of `olmguard check` to drafts. Pairs are chosen by them, before anything is in the cluster.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use super::RELEASE;
use super::drafts::Draft;
use super::graph::Graph;
use super::stocks::Stocked;
use crate::assets;
use crate::olm::controller::extension;

/// The answer to one draft.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Answer {
    pub(super) token: String,
    pub(super) resolved: Option<Resolved>,
}

/// The bundle to which a draft resolves.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Resolved {
    pub(super) bundle: String,
}

/// Returns one answer for each draft, in order.
pub(super) fn judge(dir: &Path, graphs: &[Graph], drafts: &[Draft]) -> Result<Vec<Answer>> {
    let dir = dir.join("offline");
    fs::create_dir_all(&dir)?;
    fs::write(dir.join("manifests.yaml"), manifests(graphs, drafts))?;
    let mut command = Command::new(assets::guard()?);
    command.args([
        "check",
        "-f",
        "manifests.yaml",
        "-o",
        "json",
        "--olm-release",
        RELEASE,
        // The pairs test resolution only, and their images cannot be pulled.
        "--preflight",
        "off",
    ]);
    for catalog in graphs.iter().flat_map(|graph| &graph.catalogs) {
        let file = format!("{}.jsonl", catalog.name);
        fs::write(dir.join(&file), &catalog.fbc)?;
        command.args(["--catalog", &format!("{}={file}", catalog.name)]);
    }
    let output = command.env_clear().current_dir(&dir).output()?;
    let read = serde_json::from_slice(&output.stdout);
    let report: Report =
        read.with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    ensure!(
        report.results.len() == drafts.len(),
        "{} answers",
        report.results.len()
    );
    Ok(report.results)
}

#[derive(Deserialize)]
struct Report {
    results: Vec<Answer>,
}

fn manifests(graphs: &[Graph], drafts: &[Draft]) -> String {
    let catalogs = graphs.iter().flat_map(|graph| &graph.catalogs);
    let catalogs = catalogs.map(|catalog| catalog.object("registry.example/catalog:latest"));
    let extensions = drafts
        .iter()
        .enumerate()
        .map(|(number, draft)| manifest(number, draft));
    let documents: Vec<String> = catalogs
        .chain(extensions)
        .map(|object| object.to_string())
        .collect();
    documents.join("\n---\n")
}

fn manifest(number: usize, draft: &Draft) -> Value {
    let mut object = extension(&format!("draft-{number}"), &draft.asked);
    if let (Some(Stocked { bundle, .. }), Some(fields)) = (&draft.installed, object.as_object_mut())
    {
        let bundle = json!({ "name": bundle.name, "version": bundle.version });
        fields.insert(
            "status".to_owned(),
            json!({ "install": { "bundle": bundle } }),
        );
    }
    object
}
