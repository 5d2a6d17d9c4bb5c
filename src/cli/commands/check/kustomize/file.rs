//! One kustomization, as far as it matters to extensions.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::normal;
use crate::manifest::{documents, read_file};

/// What one builds on, and what it changes. Paths are written from where the program runs.
#[derive(Debug)]
pub(super) struct Kustomization {
    pub(super) file: String,
    pub(super) directory: PathBuf,
    /// The directory, as a command takes it.
    pub(super) shown: String,
    pub(super) is_component: bool,
    /// Files, and directories of others. What is no path is among them, and never found.
    pub(super) resources: Vec<PathBuf>,
    pub(super) components: Vec<PathBuf>,
    pub(super) patches: Vec<PathBuf>,
    /// Whether a patch or a transformer may change an extension.
    pub(super) changes: bool,
    /// Whether it makes objects of its own: charts and generators.
    pub(super) is_generated: bool,
}

impl Kustomization {
    /// The one in this file; none if it is none, or cannot be read.
    pub(super) fn read(path: &str) -> Option<Self> {
        let bytes = read_file(Path::new(path)).ok()?;
        let document = documents(&bytes).next()?.ok()?;
        let value = document.value.as_object().map(|_| &document.value)?;
        let api_version = value.get("apiVersion").and_then(Value::as_str);
        let is_one = api_version.is_none_or(|version| version.starts_with(GROUP));
        is_one.then(|| Self::of(path, value))
    }

    fn of(path: &str, value: &Value) -> Self {
        let directory = Path::new(path).parent().unwrap_or(Path::new(""));
        let below = |name: &str| normal(&directory.join(name));
        let named = |key: &str| texts(value.get(key)).map(below).collect::<Vec<_>>();
        let patches: Vec<_> = PATCHES
            .iter()
            .flat_map(|key| items(value.get(key)))
            .collect();
        let is_ours = |patch: &&Value| changes_extensions(patch, directory);
        let has = |key: &&str| items(value.get(key)).next().is_some() || value[*key].is_string();
        Self {
            file: path.to_owned(),
            directory: normal(directory),
            shown: match directory.to_string_lossy() {
                shown if shown.is_empty() => ".".to_owned(),
                shown => shown.into_owned(),
            },
            is_component: value.get("kind").and_then(Value::as_str) == Some("Component"),
            resources: [named("resources"), named("bases")].concat(),
            components: named("components"),
            changes: TRANSFORMERS.iter().any(has) || patches.iter().any(is_ours),
            is_generated: GENERATORS.iter().any(has),
            patches: patches.into_iter().filter_map(file_of).map(below).collect(),
        }
    }
}

/// Whether a patch may change an extension: it, or what it is put to, is of its kind, or no one can tell.
fn changes_extensions(patch: &Value, directory: &Path) -> bool {
    if let Some(kind) = patch.pointer("/target/kind").and_then(Value::as_str) {
        let is_pattern = kind.contains(|c: char| !c.is_ascii_alphanumeric());
        return kind == KIND || is_pattern;
    }
    let text = match file_of(patch) {
        Some(name) => {
            let file = Some(directory.join(name)).filter(|file| file.is_file());
            let Some(Ok(bytes)) = file.map(|file| read_file(&file)) else {
                return true;
            };
            String::from_utf8_lossy(&bytes).into_owned()
        }
        None => patch.to_string(),
    };
    patch.get("target").is_some() || text.contains(KIND)
}

/// The file of a patch; none if it is written in place.
fn file_of(patch: &Value) -> Option<&str> {
    let text = patch.as_str().filter(|text| !text.contains([':', '\n']));
    text.or_else(|| patch.get("path")?.as_str())
}

fn items(list: Option<&Value>) -> impl Iterator<Item = &Value> {
    list.and_then(Value::as_array).into_iter().flatten()
}

fn texts(list: Option<&Value>) -> impl Iterator<Item = &str> {
    items(list).filter_map(Value::as_str)
}

const GROUP: &str = "kustomize.config.k8s.io/";
const KIND: &str = "ClusterExtension";

/// The fields with patches, of each age of kustomize.
const PATCHES: [&str; 3] = ["patches", "patchesStrategicMerge", "patchesJson6902"];

/// The other fields that can change an extension. `namespace` changes only its metadata, which nothing reads.
const TRANSFORMERS: [&str; 4] = ["namePrefix", "nameSuffix", "replacements", "transformers"];

const GENERATORS: [&str; 3] = ["generators", "helmCharts", "helmChartInflationGenerator"];
