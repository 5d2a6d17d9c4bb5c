//! The versions that Renovate can set now, extension by extension, as its custom data source reads them.
//!
//! An extension has its installed version and the next one on the path to the newest: the first step alone, because
//! an edit to a later one is denied until the first is installed. What a window of the upgrade policies delays is not
//! listed before it opens.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::audit_report::{AuditReport, ExtensionReport};

/// The versions of one extension.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Releases {
    releases: Vec<Release>,
}

/// One version.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
struct Release {
    version: String,
}

impl AuditReport {
    /// The versions of each extension that has a name and is installed.
    pub fn releases(&self) -> BTreeMap<&str, Releases> {
        let extensions = self.extensions.iter();
        extensions
            .filter_map(|extension| Some((extension.name.as_deref()?, extension.releases()?)))
            .collect()
    }
}

impl ExtensionReport {
    fn releases(&self) -> Option<Releases> {
        let installed = self.installed.as_ref()?.version.clone();
        let next = self.next.as_ref().filter(|next| next.opens.is_none());
        let next = next.and_then(|next| next.path.first()?.version.clone());
        let versions = [installed].into_iter().chain(next);
        Some(Releases {
            releases: versions.map(|version| Release { version }).collect(),
        })
    }
}
