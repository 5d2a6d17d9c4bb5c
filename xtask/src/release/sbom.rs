//! The components of olmguard: `CycloneDX` 1.5, with every package of `Cargo.lock`.
//!
//! Packages that are linked into the program for a processor of a release are `required`. Packages
//! that are only used to build or test it, and packages for other systems, are `excluded`.

mod lock;
mod metadata;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use self::lock::Checksums;
use self::metadata::{Metadata, Package};
use super::error::{ReleaseError, read};
use crate::build::{Build, Target};
use crate::program::{Program, root};

/// The document, from cargo's description of the packages.
pub(super) fn of(build: &Build) -> Result<Vec<u8>, ReleaseError> {
    let metadata = Program::cargo("metadata --locked --format-version 1").output()?;
    let lock = read(&root().join("Cargo.lock"))?;
    let sbom = Sbom {
        metadata: serde_json::from_str(&metadata)?,
        checksums: lock::checksums(&String::from_utf8_lossy(&lock)),
        linked: linked()?,
    };
    let mut text = serde_json::to_vec_pretty(&sbom.document(build))?;
    text.push(b'\n');
    Ok(text)
}

/// The packages that are linked into the program, as `name@version`.
fn linked() -> Result<BTreeSet<String>, ReleaseError> {
    let tree = "tree --locked --package olmguard --edges normal,no-proc-macro --prefix none";
    let targets = Target::DELIVERED.iter();
    let tree = targets.fold(Program::cargo(tree), |tree, target| {
        tree.arg("--target").arg(target.triple())
    });
    Ok(lock::listed(&tree.output()?))
}

struct Sbom {
    metadata: Metadata,
    checksums: Checksums,
    linked: BTreeSet<String>,
}

/// A package as a component, with its keys in order.
type Component = BTreeMap<&'static str, Value>;

impl Sbom {
    fn document(&self, build: &Build) -> Value {
        let mut packages: Vec<_> = self.metadata.packages.iter().collect();
        packages.sort_by_key(|package| package.reference());
        let (this, others): (Vec<_>, Vec<_>) = packages
            .into_iter()
            .partition(|package| package.is(&build.package.name));
        let date = build.commit.iter().map(|commit| json!(commit.date));
        let metadata = date.map(|date| ("timestamp", date));
        let this = this.iter().map(|this| json!(self.component(this)));
        let metadata: BTreeMap<_, _> = metadata
            .chain(this.map(|this| ("component", this)))
            .collect();
        let components = others.iter().map(|other| self.library(other));
        json!({
            "bomFormat": "CycloneDX",
            "specVersion": "1.5",
            "version": 1,
            "metadata": metadata,
            "components": components.collect::<Vec<_>>(),
            "dependencies": self.dependencies(),
        })
    }

    fn library(&self, package: &Package) -> Component {
        let is_linked = self.linked.contains(&package.reference());
        let scope = if is_linked { "required" } else { "excluded" };
        let mut library = self.component(package);
        library.insert("type", json!("library"));
        library.insert("scope", json!(scope));
        library
    }

    fn component(&self, package: &Package) -> Component {
        let reference = package.reference();
        let checksum = self.checksums.get(&reference);
        let hashes = checksum.map(|sum| json!([{"alg": "SHA-256", "content": sum}]));
        let licence = package.licence();
        let licences = licence.map(|text| json!([{"expression": text}]));
        let fields = [
            ("type", Some(json!("application"))),
            ("bom-ref", Some(json!(reference))),
            ("name", Some(json!(package.name))),
            ("version", Some(json!(package.version))),
            ("hashes", hashes),
            ("licenses", licences),
            ("purl", package.url().map(|url| json!(url))),
        ];
        let fields = fields.into_iter();
        fields
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }

    /// The packages with which each package is built.
    fn dependencies(&self) -> Vec<Value> {
        let used = self.metadata.used();
        let used = used.iter();
        used.map(|(package, used)| json!({"ref": package, "dependsOn": used}))
            .collect()
    }
}
