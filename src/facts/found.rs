//! What a snapshot or a cluster has, and what it should have and does not give.

use serde_json::Value;

use super::Fault;
use crate::policy_objects::PolicyObjects;
use olmguard_catalog::version::go;
use olmguard_engine::extension::{Extension, Identity};
use olmguard_engine::snapshot::{CatalogState, Content, Labels};

/// The facts of a snapshot or a cluster.
#[derive(Debug, Default)]
pub(super) struct OriginFacts {
    pub(super) catalogs: Vec<CatalogState>,
    pub(super) policies: PolicyObjects,
    /// Sources that should have more and cannot be read.
    pub(super) faults: Vec<Fault>,
}

/// Extensions as far as they could be read.
#[derive(Debug, Default)]
pub(crate) struct RunningExtensions {
    pub(crate) extensions: Vec<Extension>,
    /// Sources that should have more and cannot be read.
    pub(crate) faults: Vec<Fault>,
}

/// A catalog in the place of all those that are not known.
pub(super) fn stand_in(name: &str, content: Content) -> CatalogState {
    CatalogState {
        labels: Labels::Unknown,
        ..CatalogState::named(name, content)
    }
}

impl RunningExtensions {
    /// The extensions that were read, and the fault that there may be more, if there may.
    pub(super) fn of(
        read: impl IntoIterator<Item = Result<Extension, Fault>>,
        rest: Option<Fault>,
    ) -> Self {
        let mut all = Self::default();
        for one in read {
            match one {
                Ok(extension) => all.extensions.push(extension),
                Err(fault) => all.faults.push(fault),
            }
        }
        all.faults.extend(rest);
        all
    }
}

/// Reads one object. What cannot be read of a known version is a matter of its audit.
pub(super) fn read(object: &Value) -> Result<Extension, Fault> {
    Extension::recognised(object).ok_or_else(|| {
        let identity = Identity::read(object);
        let name = go::quote(identity.name.as_deref().unwrap_or_default());
        let version = go::quote(&identity.api_version());
        let kind = go::quote(&identity.kind);
        Fault::Extensions(format!(
            "extension {name}: unknown apiVersion {version} and kind {kind}: use a newer olmguard"
        ))
    })
}
