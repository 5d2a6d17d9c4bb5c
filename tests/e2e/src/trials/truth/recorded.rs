//! Graphs of `tests/vectors/decisions/synthetic.jsonl`, with the recorded answers of OLM's
//! resolver.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use fastrand::Rng;
use serde::Deserialize;
use serde_json::{Deserializer, Value};

use super::sketch::{Sketch, Source, has_twins, text};

/// Returns some of the graphs that can be installed from.
pub(super) fn some(random: &mut Rng, count: usize) -> Result<Vec<Sketch>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/decisions/synthetic.jsonl");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut sketches = BTreeMap::<String, Sketch>::new();
    for line in text.lines() {
        let case: Case = serde_json::from_str(line)?;
        if let Some(sketch) = case.sketch() {
            let same = sketches
                .entry(format!("{:?}", sketch.sources))
                .or_insert(sketch);
            same.asked.push(case.spec);
        }
    }
    let mut sketches: Vec<_> = sketches.into_values().collect();
    ensure!(
        sketches.len() >= count,
        "only {} graphs are recorded",
        sketches.len()
    );
    random.shuffle(&mut sketches);
    sketches.truncate(count);
    Ok(sketches)
}

#[derive(Deserialize)]
struct Case {
    catalogs: Vec<Recorded>,
    spec: Value,
}

#[derive(Deserialize)]
struct Recorded {
    name: String,
    priority: i32,
    fbc: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(rename = "availabilityMode")]
    availability: Option<String>,
    serving: Option<bool>,
}

impl Case {
    fn sketch(&self) -> Option<Sketch> {
        let package = text(&self.spec, "/packageName")?.to_owned();
        let sources: Option<Vec<_>> = self.catalogs.iter().map(|it| it.source(&package)).collect();
        let sources = sources.filter(|sources| !sources.is_empty())?;
        Some(Sketch {
            package,
            sources,
            asked: Vec::new(),
        })
    }
}

impl Recorded {
    /// Returns the source, or `None` if the record tests more than the graph, or if its result is
    /// random.
    fn source(&self, package: &str) -> Option<Source> {
        let is_plain =
            self.labels.is_empty() && self.availability.is_none() && self.serving.is_none();
        let blobs = Deserializer::from_str(&self.fbc).into_iter::<Value>();
        let source = Source {
            name: self.name.clone(),
            priority: self.priority,
            blobs: blobs.collect::<Result<_, _>>().ok()?,
        };
        let is_about_it = source
            .blobs
            .iter()
            .any(|blob| text(blob, "/package") == Some(package));
        // olmguard accepts a first content without a bundle only after it has stayed the same for a
        // minute.
        let has_bundle = source
            .blobs
            .iter()
            .any(|blob| text(blob, "/schema") == Some("olm.bundle"));
        (is_plain
            && is_about_it
            && has_bundle
            && source.blobs.iter().all(is_spelt_as_usual)
            && !has_twins(&source))
        .then_some(source)
    }
}

/// Whether the keys have the usual case. Go reads them in any case, but such a bundle would be left
/// without an image.
fn is_spelt_as_usual(blob: &Value) -> bool {
    text(blob, "/schema").is_some()
}
