//! The extensions of a cluster or a snapshot, each with what is installed of it.

use serde_json::Value;

use crate::cli::facts::loading::Fault;
use olmguard_catalog::version::go;
use olmguard_engine::extension::{Extension, Identity};

/// Extensions as far as they could be read.
#[derive(Debug, Default)]
pub(crate) struct RunningExtensions {
    pub(crate) extensions: Vec<Extension>,
    /// What should give more and does not.
    pub(crate) faults: Vec<Fault>,
}

impl RunningExtensions {
    /// What was read of each object, and why there are no more, if there may be more.
    pub(crate) fn of(
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
pub(crate) fn read(object: &Value) -> Result<Extension, Fault> {
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
