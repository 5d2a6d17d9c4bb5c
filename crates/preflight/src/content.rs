//! What is in the images of bundles, as far as they have been read, and the CRDs that a bundle would replace.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::bundle::RegistryBundle;
use crate::crd::{self, ComparedCrd, CrdComparison, CrdError, CrdGeneration};

/// Why operator-controller reads no bundle in an image, in one line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnreadableBundle(pub String);

/// Contents of bundles, and the CRDs of a cluster.
#[derive(Clone, Debug, Default)]
pub struct BundleContents {
    bundles: BTreeMap<String, Result<RegistryBundle, UnreadableBundle>>,
    crds: Option<BTreeMap<String, Value>>,
}

impl BundleContents {
    /// Bundles by the image references that catalogs have for them.
    pub fn of(
        bundles: impl IntoIterator<Item = (String, Result<RegistryBundle, UnreadableBundle>)>,
    ) -> Self {
        Self {
            bundles: bundles.into_iter().collect(),
            crds: None,
        }
    }

    /// The same with the CRDs of the cluster, by their names: those of the bundles, where the cluster has them.
    #[must_use]
    pub fn with_crds(self, crds: BTreeMap<String, Value>) -> Self {
        Self {
            crds: Some(crds),
            ..self
        }
    }

    /// The bundle in an image, if the image is known.
    pub fn image(&self, image: &str) -> Option<Result<&RegistryBundle, &UnreadableBundle>> {
        self.bundles.get(image).map(Result::as_ref)
    }

    /// The bundle in an image, if the image is known and has one.
    pub fn bundle(&self, image: &str) -> Option<&RegistryBundle> {
        self.image(image)?.ok()
    }

    /// The names of all CRDs of the bundles.
    pub fn crd_names(&self) -> BTreeSet<&str> {
        let bundles = self.bundles.values().flatten();
        let crds = bundles.flat_map(RegistryBundle::crds);
        crds.filter_map(crd_name).collect()
    }

    /// The CRDs of the cluster, if they are known.
    pub fn crds(&self) -> Option<&BTreeMap<String, Value>> {
        self.crds.as_ref()
    }
}

/// The CRDs that a bundle would replace.
#[derive(Clone, Copy, Debug)]
pub enum ReplacedCrds<'a> {
    /// The CRDs of the cluster by their names.
    Cluster(&'a BTreeMap<String, Value>),
    /// The CRDs of another bundle, which is installed. Somebody can have edited them since.
    Bundle(&'a RegistryBundle),
}

/// A CRD of a bundle that cannot replace the one that is there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RefusedCrd {
    /// Its name.
    pub name: String,
    /// What is in the way.
    pub comparison: CrdComparison,
}

/// A CRD that cannot be compared.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("bundle {bundle}: a CRD cannot be compared: {error}")]
pub struct UncomparedCrd {
    /// The name of the bundle that has it, or of the bundle that would replace the cluster's.
    bundle: String,
    error: CrdError,
}

impl ReplacedCrds<'_> {
    /// The CRDs of a bundle that cannot replace these, in the order of its files. There are none for a release
    /// 1.`minor` that compares in a way that is not known.
    ///
    /// # Errors
    /// If a CRD has no name or no versions, or is too large to compare.
    pub fn refused(self, by: &RegistryBundle, minor: u8) -> Result<Vec<RefusedCrd>, UncomparedCrd> {
        let Some(generation) = CrdGeneration::of(minor) else {
            return Ok(Vec::new());
        };
        let mut refused = Vec::new();
        for new in by.crds() {
            let new = rendered(by, new)?;
            let Some(old) = self.of_name(new.name, by)? else {
                continue;
            };
            let comparison = crd::compare(&old, &new, generation);
            let comparison = comparison.map_err(|error| uncompared(by, error))?;
            if comparison.panics || !comparison.findings.is_empty() {
                let name = new.name.to_owned();
                refused.push(RefusedCrd { name, comparison });
            }
        }
        Ok(refused)
    }

    fn of_name(
        &self,
        name: &str,
        by: &RegistryBundle,
    ) -> Result<Option<ComparedCrd<'_>>, UncomparedCrd> {
        match self {
            Self::Cluster(crds) => {
                let crd = crds.get(name).map(ComparedCrd::read).transpose();
                crd.map_err(|error| uncompared(by, error))
            }
            Self::Bundle(bundle) => {
                let mut crds = bundle.crds().iter();
                crds.find(|crd| crd_name(crd) == Some(name))
                    .map(|crd| rendered(bundle, crd))
                    .transpose()
            }
        }
    }
}

fn crd_name(crd: &Value) -> Option<&str> {
    crd.pointer("/metadata/name").and_then(Value::as_str)
}

/// A CRD as OLM renders it.
fn rendered<'a>(
    bundle: &RegistryBundle,
    object: &'a Value,
) -> Result<ComparedCrd<'a>, UncomparedCrd> {
    let read = ComparedCrd::read(object).map_err(|error| uncompared(bundle, error))?;
    Ok(if bundle.converted().contains(read.name) {
        read.converted_by_webhook()
    } else {
        read
    })
}

fn uncompared(bundle: &RegistryBundle, error: CrdError) -> UncomparedCrd {
    let bundle = bundle.name().to_owned();
    UncomparedCrd { bundle, error }
}
