//! Which OLM is in the cluster: its release, its feature gates, and what they change.
//!
//! Every difference between the releases that this program knows stands in one table here, as data
//! ([`Rules`]); no other file asks for a release number. Upstream: the tags v1.0.0 to v1.11.0 of
//! `operator-framework/operator-controller` and the libraries that each of them vendors.

mod gates;
mod install;
mod release;

pub use gates::{GateError, Gates};
pub use install::{CertificateProvider, InstallGate, InstallSettings, PreflightMode};
pub use release::{OlmRelease, UnknownRelease};

use crate::selector::SelectorTexts;
use crate::version::{LegacyRelease, Masterminds, ReleaseLimit};

/// What the OLM in the cluster does, as far as releases and feature gates differ in it.
///
/// Build it with [`Rules::new`]; the catalog index, the resolver and the words all take the same one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rules {
    /// The release these rules were made for.
    pub olm: OlmRelease,
    /// The dialect of `spec.source.catalog.version`.
    pub masterminds: Masterminds,
    /// How a selector that does not compile is worded.
    pub selector_texts: SelectorTexts,
    /// Whether build metadata is read as a release.
    pub legacy_release: LegacyRelease,
    /// How long an explicit release may be.
    pub release_limit: ReleaseLimit,
    /// What the `release` key of a bundle's `olm.package` property does.
    pub release_key: ReleaseKey,
    /// How the installed version is read, and how a failure of that is worded.
    pub installed: InstalledReader,
    /// What a catalog without the package does to the walk.
    pub empty_package: EmptyPackage,
    /// Where upgrade edges come from.
    pub edges: EdgeSource,
    /// Every way in which operator-controller may install what it has resolved: one if its gates are known. The defaults
    /// of the release come first.
    pub installs: Vec<InstallSettings>,
    /// The result for an edit whose bundle operator-controller cannot install.
    pub preflight: PreflightMode,
}

/// What the `release` key of a bundle's `olm.package` property does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReleaseKey {
    /// It is an unknown key: before v1.8.
    Unknown,
    /// It must be a string, and is not used: v1.8 and later, `BundleReleaseSupport` off.
    Typed,
    /// It is the bundle's release: `BundleReleaseSupport` on.
    Honoured,
}

/// How the installed version is read, and how a failure of that is worded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum InstalledReader {
    /// Masterminds first, then blang where the catalog's edges are asked: v1.0 to v1.7.
    MastermindsThenBlang,
    /// Blang; there is no explicit release: v1.8.
    Blang,
    /// Blang; version and release of an explicit pair are reported apart: v1.9 and v1.10.
    BlangApart,
    /// Blang; version and release of an explicit pair are reported as one: v1.11.
    BlangTogether,
}

/// What a catalog without the package does to the walk.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EmptyPackage {
    /// The installed version is read all the same: v1.0 and v1.1.
    Walked,
    /// It is passed over: v1.2 and later, and OpenShift's build of v1.0.
    Skipped,
}

/// Where upgrade edges come from.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum EdgeSource {
    /// `replaces`, `skips` and `skipRange` of the catalog's channel entries.
    #[default]
    Catalog,
    /// The caret range of the installed version: `ForceSemverUpgradeConstraints` on, v1.0 and v1.1.
    CaretRange,
    /// Those of the catalog that lead into the caret range. No OLM does this: it is for people who
    /// hold themselves to both.
    Both,
}

impl Rules {
    /// The rules of one release with these gates.
    pub fn new(olm: OlmRelease, gates: Gates) -> Self {
        let row = olm.row();
        Self {
            olm,
            masterminds: row.masterminds,
            selector_texts: row.selector_texts,
            legacy_release: row.legacy_release,
            release_limit: row.release_limit,
            release_key: if gates.bundle_release_support {
                ReleaseKey::Honoured
            } else {
                row.release_key
            },
            installed: row.installed,
            empty_package: row.empty_package,
            edges: if gates.force_semver_upgrade_constraints {
                EdgeSource::CaretRange
            } else {
                EdgeSource::Catalog
            },
            installs: gates.install.possible(olm),
            preflight: PreflightMode::default(),
        }
    }

    /// The same rules with upgrade edges from elsewhere.
    pub fn with_edges(self, edges: EdgeSource) -> Self {
        Self { edges, ..self }
    }

    /// The same rules with another use of what is found about the installation.
    pub fn with_preflight(self, preflight: PreflightMode) -> Self {
        Self { preflight, ..self }
    }

    /// Whether `status.install.bundle.release` exists in this release's API.
    pub fn reads_installed_release(&self) -> bool {
        matches!(
            self.installed,
            InstalledReader::BlangApart | InstalledReader::BlangTogether
        )
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self::new(OlmRelease::default(), Gates::default())
    }
}
