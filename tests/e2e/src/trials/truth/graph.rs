//! The catalogs of one package, and their contents.
//!
//! Graphs share a cluster. A label separates them, whatever the names of their packages.

use anyhow::Result;
use fastrand::Rng;
use serde_json::{Value, json};

use super::sketch::{Sketch, Source, text, version};
use super::traits::Traits;
use super::{made, recorded};
use crate::image::Image;
use crate::olm::catalog::Catalog;
use crate::olm::progress::Bundle;
use crate::registry::Registry;

/// One or more catalogs that have a package.
#[derive(Debug)]
pub(super) struct Graph {
    /// The value of its label, and the prefix of its catalogs' names.
    pub(super) id: String,
    pub(super) package: String,
    pub(super) catalogs: Vec<Catalog>,
    /// The bundles with a readable version.
    pub(super) offers: Vec<Offered>,
    pub(super) channels: Vec<String>,
    pub(super) traits: Traits,
    /// The recorded requests for the graph: parts of `spec.source.catalog`.
    pub(super) asked: Vec<Value>,
}

/// A bundle in a catalog.
#[derive(Debug)]
pub(super) struct Offered {
    pub(super) catalog: String,
    pub(super) bundle: Bundle,
}

/// Returns recorded and generated graphs. Every bundle has an image that can be pulled.
pub(super) async fn all(random: &mut Rng, registry: &Registry) -> Result<Vec<Graph>> {
    let mut sketches = recorded::some(random, RECORDED)?;
    sketches.extend((0..MADE).map(|number| made::one(random, number)));
    let mut graphs = Vec::new();
    for (number, sketch) in sketches.into_iter().enumerate() {
        graphs.push(Graph::build(format!("g{number:02}"), sketch, registry).await?);
    }
    graphs.push(elsewhere());
    Ok(graphs)
}

/// Returns a catalog with none of the others' packages. It has one bundle that no edit requests,
/// because olmguard does not accept a catalog without bundles immediately.
fn elsewhere() -> Graph {
    Graph {
        id: ELSEWHERE.to_owned(),
        traits: Traits::default(),
        package: ELSEWHERE.to_owned(),
        catalogs: vec![Catalog::of(ELSEWHERE, &elsewhere_blobs())],
        offers: Vec::new(),
        channels: Vec::new(),
        asked: Vec::new(),
    }
}

/// Returns the blobs of this catalog.
pub(super) fn elsewhere_blobs() -> [Value; 3] {
    let name = format!("{ELSEWHERE}.v1.0.0");
    let version = json!({ "packageName": ELSEWHERE, "version": "1.0.0" });
    [
        json!({ "schema": "olm.package", "name": ELSEWHERE, "defaultChannel": "stable" }),
        json!({ "schema": "olm.channel", "package": ELSEWHERE, "name": "stable", "entries": [{ "name": name }] }),
        json!({
            "schema": "olm.bundle",
            "package": ELSEWHERE,
            "name": name,
            "image": "registry.example/elsewhere:1",
            "properties": [{ "type": "olm.package", "value": version }],
        }),
    ]
}

impl Graph {
    async fn build(id: String, sketch: Sketch, registry: &Registry) -> Result<Self> {
        let traits = Traits::of(&sketch.sources);
        let mut graph = Self {
            id,
            traits,
            package: sketch.package,
            catalogs: Vec::new(),
            offers: Vec::new(),
            channels: Vec::new(),
            asked: sketch.asked,
        };
        for source in sketch.sources {
            graph.add(source, registry).await?;
        }
        Ok(graph)
    }

    async fn add(&mut self, mut source: Source, registry: &Registry) -> Result<()> {
        let name = format!("{}-{}", self.id, source.name);
        for blob in &mut source.blobs {
            self.read(&name, blob);
            give_image(blob, registry).await?;
        }
        let mut catalog = Catalog::of(&name, &source.blobs);
        catalog.priority = source.priority;
        catalog.labels.insert(LABEL.to_owned(), self.id.clone());
        self.catalogs.push(catalog);
        Ok(())
    }

    fn read(&mut self, catalog: &str, blob: &Value) {
        let Some(name) = text(blob, "/name") else {
            return;
        };
        match text(blob, "/schema") {
            Some("olm.channel") if !self.channels.iter().any(|known| known == name) => {
                self.channels.push(name.to_owned());
            }
            Some("olm.bundle") => self.offers.extend(version(blob).map(|version| Offered {
                catalog: catalog.to_owned(),
                bundle: Bundle {
                    name: name.to_owned(),
                    version: version.to_owned(),
                },
            })),
            _ => {}
        }
    }

    /// Returns the selector of its catalogs.
    pub(super) fn selector(&self) -> Value {
        json!({ "matchLabels": { LABEL: self.id } })
    }
}

/// Pushes an image for a bundle, and writes its reference into the blob.
pub(super) async fn give_image(blob: &mut Value, registry: &Registry) -> Result<()> {
    let (Some("olm.bundle"), Some(package), Some(name)) = (
        text(blob, "/schema"),
        text(blob, "/package"),
        text(blob, "/name"),
    ) else {
        return Ok(());
    };
    let image = Image::bundle(package, name, version(blob).unwrap_or("unreadable"))?;
    let reference = registry.push(&format!("bundles/{package}"), &image).await?;
    if let Some(fields) = blob.as_object_mut() {
        fields.insert("image".to_owned(), reference.into());
    }
    Ok(())
}

/// The name of [`elsewhere`].
pub(super) const ELSEWHERE: &str = "elsewhere";

const LABEL: &str = "e2e/graph";

/// The number of graphs of each kind.
const RECORDED: usize = 16;
const MADE: usize = 8;
