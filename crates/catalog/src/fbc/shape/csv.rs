//! The fields of a `ClusterServiceVersion` that are read from an `olm.csv.metadata` or an
//! `olm.bundle.object`.
//!
//! Upstream: operator-registry, [`alpha/property/property.go`]; operator-framework/api,
//! [`pkg/operators/v1alpha1/clusterserviceversion_types.go`].
//!
//! [`alpha/property/property.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/property/property.go
//! [`pkg/operators/v1alpha1/clusterserviceversion_types.go`]: https://github.com/operator-framework/api/blob/v0.45.0/pkg/operators/v1alpha1/clusterserviceversion_types.go

use std::borrow::Cow;

use memchr::memmem;

use crate::fbc::json::{Cursor, CursorResult, JsonRecord};
use crate::install_facts::CrdNames;
use crate::install_facts::InstallFacts;
use crate::memory::{Heap, Loan};

/// The value of an `olm.csv.metadata`.
#[derive(Debug, Default)]
pub struct CsvMetadata<'a> {
    /// Facts about the installation; `None` if a field has the wrong type.
    pub install: Option<InstallFacts>,
    /// `minKubeVersion`; empty if absent.
    pub min_kube_version: Cow<'a, str>,
}

impl<'a> CsvMetadata<'a> {
    /// Reads metadata. OLM does not use it for resolution, so values of a wrong type are only
    /// unknown.
    pub(crate) fn read_lenient(cursor: &mut Cursor<'a>) -> CursorResult<Self> {
        let (csv, fault) = cursor.isolated(Cursor::record::<Self>)?;
        Ok(csv.known(fault.is_none()))
    }

    /// Does the same, given the start of the value of each field that is present.
    pub(crate) fn read_noted(
        noted: &[Option<usize>],
        cursor: &mut Cursor<'a>,
    ) -> CursorResult<Self> {
        let read = |cursor: &mut Cursor<'a>| {
            let mut csv = Self::default();
            for (index, at) in noted.iter().enumerate() {
                if let Some(at) = at {
                    cursor.revisit(*at, |cursor| csv.read(index, cursor))?;
                }
            }
            Ok(csv)
        };
        let (csv, fault) = cursor.isolated(read)?;
        Ok(csv.known(fault.is_none()))
    }

    /// Forgets the facts of fields if one of them has the wrong type.
    fn known(self, is_whole: bool) -> Self {
        Self {
            install: is_whole.then(|| self.install.unwrap_or_default()),
            ..self
        }
    }
}

impl<'a> JsonRecord<'a> for CsvMetadata<'a> {
    const FIELDS: &'static [&'static str] = &[
        "installModes",
        "minKubeVersion",
        "apiServiceDefinitions",
        "crdDescriptions",
    ];

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        let install = self.install.get_or_insert_default();
        match index {
            0 => {
                let modes: Vec<InstallMode<'a>> = cursor.list(Cursor::record)?;
                let supported = modes.iter().filter(|mode| mode.supported);
                supported.for_each(|mode| install.modes.add(&mode.kind));
            }
            1 => self.min_kube_version = cursor.text()?,
            2 => {
                let ApiServices { owned } = cursor.record()?;
                install.owns_api_services = owned;
            }
            _ => {
                let CrdDescriptions { owned } = cursor.record()?;
                let names = CrdNames::of(owned.iter().map(|crd| &*crd.name));
                cursor.hold(names.heap_bytes())?;
                install.crds = names;
            }
        }
        Ok(())
    }
}

/// The API services of a bundle.
#[derive(Default)]
struct ApiServices {
    /// Whether the bundle owns one.
    owned: bool,
}

impl<'a> JsonRecord<'a> for ApiServices {
    const FIELDS: &'static [&'static str] = &["owned"];

    fn read(&mut self, _: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        cursor.list(|cursor| {
            self.owned = true;
            cursor.skip()
        })?;
        Ok(())
    }
}

/// The CRDs of a bundle.
#[derive(Default)]
struct CrdDescriptions<'a> {
    owned: Vec<CrdDescription<'a>>,
}

impl<'a> JsonRecord<'a> for CrdDescriptions<'a> {
    const FIELDS: &'static [&'static str] = &["owned"];

    fn read(&mut self, _: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        self.owned = cursor.list(Cursor::record)?;
        Ok(())
    }
}

#[derive(Default)]
struct CrdDescription<'a> {
    name: Cow<'a, str>,
}

impl<'a> JsonRecord<'a> for CrdDescription<'a> {
    const FIELDS: &'static [&'static str] = &["name"];

    fn read(&mut self, _: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        self.name = cursor.text()?;
        Ok(())
    }
}

#[derive(Default)]
struct InstallMode<'a> {
    kind: Cow<'a, str>,
    supported: bool,
}

impl<'a> JsonRecord<'a> for InstallMode<'a> {
    const FIELDS: &'static [&'static str] = &["type", "supported"];

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        if index == 0 {
            self.kind = cursor.text()?;
        } else {
            self.supported = cursor.boolean()?;
        }
        Ok(())
    }
}

/// Reads facts about the installation from a JSON manifest, if it is a CSV whose fields have the
/// right types.
pub(super) fn of_manifest(json: &[u8], loan: Loan) -> Option<InstallFacts> {
    // Most manifests are of other kinds, and this search is faster than parsing.
    memmem::find(json, CSV.as_bytes())?;
    let mut cursor = Cursor::counted(json, loan);
    let Manifest { kind, spec } = cursor.record().ok()?;
    if kind != CSV || cursor.take_fault().is_some() {
        return None;
    }
    let mut facts = spec.0.install.unwrap_or_default();
    facts.has_webhooks.get_or_insert(false);
    Some(facts)
}

/// A manifest of a bundle, read as if it was a CSV.
#[derive(Default)]
struct Manifest<'a> {
    kind: Cow<'a, str>,
    spec: CsvSpec<'a>,
}

impl<'a> JsonRecord<'a> for Manifest<'a> {
    const FIELDS: &'static [&'static str] = &["kind", "spec"];

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        match index {
            0 => self.kind = cursor.text()?,
            _ => self.spec = cursor.record()?,
        }
        Ok(())
    }
}

/// The `spec` of a CSV. Its fields have other names in an `olm.csv.metadata`.
#[derive(Default)]
struct CsvSpec<'a>(CsvMetadata<'a>);

impl<'a> JsonRecord<'a> for CsvSpec<'a> {
    const FIELDS: &'static [&'static str] = &[
        "installModes",
        "minKubeVersion",
        "apiservicedefinitions",
        "customresourcedefinitions",
        "webhookdefinitions",
    ];

    fn read(&mut self, index: usize, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        if index < CsvMetadata::FIELDS.len() {
            return self.0.read(index, cursor);
        }
        let webhooks = cursor.list(Cursor::skip)?;
        let install = self.0.install.get_or_insert_default();
        install.has_webhooks = Some(!webhooks.is_empty());
        Ok(())
    }
}

const CSV: &str = "ClusterServiceVersion";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fbc::shape::BundleProperties;
    use serde_json::{Value, json};

    fn modes(name: &str) -> Value {
        json!({"installModes": [{"type": name, "supported": true}]})
    }

    fn metadata(name: &str) -> Value {
        json!({"type": "olm.csv.metadata", "value": modes(name)})
    }

    fn object(kind: &str, name: &str) -> Value {
        let manifest = json!({"kind": kind, "spec": modes(name)}).to_string();
        json!({"type": "olm.bundle.object", "value": {"data": manifest.as_bytes()}})
    }

    /// Whether the facts of these properties include `AllNamespaces`.
    fn is_of_all(properties: &[Value]) -> Option<bool> {
        let text = Value::from(properties).to_string();
        let mut cursor = Cursor::new(text.as_bytes());
        let mut read = BundleProperties::read(&mut cursor).expect("properties");
        read.take_objects(&mut cursor).expect("objects");
        Some(read.facts.install?.modes.all_namespaces)
    }

    #[test]
    fn metadata_counts_first_then_all_csvs_that_say_the_same() {
        let (all, own) = (object(CSV, "AllNamespaces"), object(CSV, "OwnNamespace"));
        let other = object("ConfigMap", "OwnNamespace");
        assert_eq!(is_of_all(&[]), None);
        assert_eq!(is_of_all(std::slice::from_ref(&other)), None);
        assert_eq!(is_of_all(&[all.clone(), other, all.clone()]), Some(true));
        assert_eq!(is_of_all(&[all.clone(), own.clone(), all]), None);
        let first = [metadata("AllNamespaces"), own.clone()];
        assert_eq!(is_of_all(&first), Some(true));
        assert_eq!(is_of_all(&[own, metadata("AllNamespaces")]), Some(true));
    }
}
