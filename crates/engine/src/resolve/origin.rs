//! The installed bundle as resolution reads it: the origin of upgrade edges.
//!
//! Upstream: operator-controller, [`internal/operator-controller/bundleutil/bundle.go`] and
//! [`internal/operator-controller/catalogmetadata/filter/successors.go`], at each tag.
//!
//! [`internal/operator-controller/bundleutil/bundle.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/bundleutil/bundle.go
//! [`internal/operator-controller/catalogmetadata/filter/successors.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/catalogmetadata/filter/successors.go

use std::fmt;

use crate::extension::InstalledBundle;
use crate::resolve::Choice;
use olmguard_catalog::olm::{EdgeSource, InstalledReader, Rules};
use olmguard_catalog::version::{
    Constraint, Masterminds, MastermindsError, MastermindsVersion, Membership, ReleaseError,
    VersionError, VersionRelease, VersionReleaseError, go,
};
use olmguard_catalog::{AskedChannels, Bundle, BundleIndex, BundleSet, Package, Successors};

/// An installed bundle whose version could be read.
#[derive(Clone, Debug)]
pub struct Origin<'a> {
    /// The name of the bundle, if it is known.
    name: Option<&'a str>,
    /// The version and release; absent only if Masterminds can read them and blang cannot.
    version: Option<VersionRelease>,
    steps: SuccessorSource,
    /// The bundle itself, if the origin was made from a bundle of a package.
    chosen: Option<ChosenBundle<'a>>,
}

/// A bundle of a package.
#[derive(Clone, Copy)]
struct ChosenBundle<'a> {
    package: &'a Package,
    index: BundleIndex,
}

/// Omits the package, which may have thousands of bundles.
impl fmt::Debug for ChosenBundle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.index.fmt(f)
    }
}

/// The source of successors.
#[derive(Clone, Debug)]
enum SuccessorSource {
    /// The edges of the catalog.
    Catalog,
    /// The caret range.
    Caret(CaretRange),
    /// The edges of the catalog that end in the caret range.
    Both(CaretRange),
}

/// The caret range of an installed version, which contains its successors by the semver rules, and the version itself.
#[derive(Clone, Debug)]
struct CaretRange {
    successors: Constraint,
    same: Constraint,
}

/// Why an installed version or release cannot be read.
///
/// `Display` prints OLM's own text, without the prefix `error walking catalogs: error finding upgrade edges: ` that all
/// of these errors have.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum InstalledError {
    /// Masterminds cannot read the version: v1.0 to v1.7.
    #[error(
        "parsing installed bundle {} version {}: {source}",
        go::quote(name),
        go::quote(version)
    )]
    Masterminds {
        /// The name of the bundle; empty if it is not known.
        name: String,
        /// The version as stored.
        version: String,
        /// The fault in the version.
        source: MastermindsError,
    },
    /// Masterminds can read the version, but blang cannot: v1.0 to v1.7.
    #[error("getting successorsPredicate: error parsing installed bundle version: {0}")]
    BlangAfterMasterminds(VersionError),
    /// The version is not valid; its build metadata may contain the release.
    #[error("failed to get version and release of installed bundle: {0}")]
    Legacy(VersionError),
    /// The version is not valid, and the release is explicit: v1.9 and v1.10.
    #[error(
        "failed to parse installed bundle version {}: {source}",
        go::quote(version)
    )]
    VersionApart {
        /// The version as stored.
        version: Box<str>,
        /// The fault in the version.
        source: VersionError,
    },
    /// The explicit release is not valid: v1.9 and v1.10.
    #[error(
        "failed to parse installed bundle release {}: {source}",
        go::quote(release)
    )]
    ReleaseApart {
        /// The release as stored.
        release: Box<str>,
        /// The fault in the release.
        source: ReleaseError,
    },
    /// The version or the explicit release is not valid: v1.11.
    #[error("failed to parse installed bundle version and release: {0}")]
    Together(VersionReleaseError),
}

impl<'a> Origin<'a> {
    /// Reads the version and release of an installed bundle as this release of OLM does.
    pub fn read(installed: &'a InstalledBundle, rules: &Rules) -> Result<Self, InstalledError> {
        let name = installed.name.as_deref();
        if rules.installed == InstalledReader::MastermindsThenBlang {
            return Self::read_with_masterminds(name, &installed.version, rules);
        }
        let version = match installed
            .release
            .as_deref()
            .filter(|_| rules.reads_installed_release())
        {
            Some(release) => explicit(&installed.version, release, rules)?,
            None => VersionRelease::parse_legacy(&installed.version, rules.legacy_release)
                .map_err(InstalledError::Legacy)?,
        };
        Ok(Self {
            name,
            steps: SuccessorSource::from_version(&version, rules),
            version: Some(version),
            chosen: None,
        })
    }

    /// Makes an origin from a choice, as operator-controller records it after the installation; `None` if its version
    /// cannot be read.
    ///
    /// Reading the record back gives the same version and release, regardless of feature gates.
    pub fn of_choice(choice: Choice<'a>, rules: &Rules) -> Option<Self> {
        let bundle = choice.bundle();
        let version = bundle.version.as_ref().ok()?;
        Some(Self {
            name: Some(&bundle.name),
            version: Some(version.clone()),
            steps: SuccessorSource::from_version(version, rules),
            chosen: Some(ChosenBundle {
                package: choice.package,
                index: choice.index,
            }),
        })
    }

    fn read_with_masterminds(
        name: Option<&'a str>,
        text: &str,
        rules: &Rules,
    ) -> Result<Self, InstalledError> {
        let read = MastermindsVersion::parse(text, rules.masterminds).map_err(|source| {
            let name = name.unwrap_or_default().to_owned();
            InstalledError::Masterminds {
                name,
                version: text.to_owned(),
                source,
            }
        })?;
        match rules.edges {
            EdgeSource::Catalog | EdgeSource::Both => {
                let version = VersionRelease::parse_legacy(text, rules.legacy_release)
                    .map_err(InstalledError::BlangAfterMasterminds)?;
                Ok(Self {
                    name,
                    steps: SuccessorSource::from_version(&version, rules),
                    version: Some(version),
                    chosen: None,
                })
            }
            EdgeSource::CaretRange => {
                let normal = read.to_string();
                let version = VersionRelease::parse_legacy(&normal, rules.legacy_release).ok();
                Ok(Self {
                    name,
                    version,
                    steps: SuccessorSource::of(&normal, rules),
                    chosen: None,
                })
            }
        }
    }

    /// The bundle's name, if it is known.
    pub fn name(&self) -> Option<&'a str> {
        self.name
    }

    /// Whether the successors are the versions of a caret range, regardless of the edges of the catalog.
    pub fn is_of_caret_range(&self) -> bool {
        matches!(self.steps, SuccessorSource::Caret(_))
    }

    /// The version and release, if blang can read them too.
    pub fn version(&self) -> Option<&VersionRelease> {
        self.version.as_ref()
    }

    /// The first bundle with this version in a package, if there is one.
    pub(super) fn place_in(&self, package: &Package) -> Option<BundleIndex> {
        match self.chosen {
            Some(own) if std::ptr::eq(own.package, package) => package.first_like(own.index),
            _ => package.first_of(&self.version.as_ref()?.version),
        }
    }

    /// The bundles that edges from this origin end at, within the requested channels.
    pub fn successors(&self, package: &Package, asked: &AskedChannels) -> Successors {
        self.successors_at(self.place_in(package), package, asked)
    }

    /// Like [`Self::successors`], if the result of [`Self::place_in`] is known.
    pub(super) fn successors_at(
        &self,
        place: Option<BundleIndex>,
        package: &Package,
        asked: &AskedChannels,
    ) -> Successors {
        let none = || Successors {
            edges: package.no_bundle(),
            crashes: package.no_bundle(),
        };
        let of_catalog = || {
            let version = self.version.as_ref();
            version.map_or_else(none, |version| {
                package.successors_at(place, self.name, &version.version, asked)
            })
        };
        match &self.steps {
            SuccessorSource::Catalog => of_catalog(),
            SuccessorSource::Caret(caret) => Successors {
                edges: package.in_range(&caret.successors),
                ..none()
            },
            SuccessorSource::Both(caret) => {
                let mut successors = of_catalog();
                package.keep_in_range(&caret.successors, &mut successors.edges);
                successors
            }
        }
    }

    /// Whether the requested channels have an edge from this origin to a bundle.
    pub(super) fn edge_to(
        &self,
        to: BundleIndex,
        package: &Package,
        asked: &AskedChannels,
    ) -> Membership {
        let of_catalog = || {
            let version = self.version.as_ref();
            version.map_or(Membership::HoldsNot, |version| {
                let place = self.place_in(package);
                package.edge_to(to, (self.name, &version.version), place, asked)
            })
        };
        match &self.steps {
            SuccessorSource::Catalog => of_catalog(),
            SuccessorSource::Caret(caret) if package.is_in_range(&caret.successors, to) => {
                Membership::Holds
            }
            SuccessorSource::Caret(_) => Membership::HoldsNot,
            SuccessorSource::Both(caret) => match of_catalog() {
                Membership::Holds if !package.is_in_range(&caret.successors, to) => {
                    Membership::HoldsNot
                }
                answer => answer,
            },
        }
    }

    /// Whether a bundle counts as the installed one: the stay rule.
    pub fn is_same(&self, bundle: BundleIndex, package: &Package) -> bool {
        match (&self.steps, &self.version) {
            (SuccessorSource::Caret(caret), _) => package.is_in_range(&caret.same, bundle),
            (SuccessorSource::Catalog | SuccessorSource::Both(_), Some(own)) => {
                let version = package.bundle(bundle).version.as_ref();
                version.is_ok_and(|version| version.cmp_precedence(own).is_eq())
            }
            (SuccessorSource::Catalog | SuccessorSource::Both(_), None) => false,
        }
    }

    /// All bundles for which [`Self::is_same`] holds.
    pub fn same(&self, package: &Package) -> BundleSet {
        let mut same = package.no_bundle();
        self.add_same_at(self.place_in(package), package, &mut same);
        same
    }

    /// Adds [`Self::same`] to a set, if the result of [`Self::place_in`] is known.
    pub(super) fn add_same_at(
        &self,
        place: Option<BundleIndex>,
        package: &Package,
        bundles: &mut BundleSet,
    ) {
        match (&self.steps, &self.version) {
            (SuccessorSource::Caret(caret), _) => bundles.unite(&package.in_range(&caret.same)),
            (SuccessorSource::Catalog | SuccessorSource::Both(_), Some(version)) => {
                package.add_same_version(place, version, bundles);
            }
            (SuccessorSource::Catalog | SuccessorSource::Both(_), None) => {}
        }
    }

    /// Whether the origin is exactly this bundle: the same name, version and release.
    pub fn is_at(&self, bundle: &Bundle) -> bool {
        let same = |here: &VersionRelease| {
            bundle
                .version
                .as_ref()
                .is_ok_and(|there| here.cmp_precedence(there).is_eq())
        };
        self.name == Some(&*bundle.name) && self.version.as_ref().is_some_and(same)
    }

    /// Whether a bundle is newer than the origin: a higher version, or the same version and a higher release.
    pub fn is_older_than(&self, package: &Package, bundle: BundleIndex) -> bool {
        match (&self.version, &package.bundle(bundle).version) {
            (Some(here), Ok(there)) => there.cmp_precedence(here).is_gt(),
            _ => false,
        }
    }

    /// Whether the origin is newer than a bundle: a higher version, or the same version and a higher release. False if
    /// the version of the bundle cannot be read.
    pub fn is_newer_than(&self, package: &Package, bundle: BundleIndex) -> bool {
        match (&self.version, &package.bundle(bundle).version) {
            (Some(here), Ok(there)) => there.cmp_precedence(here).is_lt(),
            _ => false,
        }
    }
}

impl SuccessorSource {
    fn from_version(version: &VersionRelease, rules: &Rules) -> Self {
        match rules.edges {
            EdgeSource::Catalog => Self::Catalog,
            EdgeSource::CaretRange | EdgeSource::Both => {
                Self::of(&version.version.to_string(), rules)
            }
        }
    }

    /// The caret range of a version as Masterminds prints it.
    fn of(normal: &str, rules: &Rules) -> Self {
        let caret = CaretRange::of(normal, rules.masterminds);
        match (rules.edges, caret) {
            (EdgeSource::CaretRange, Some(caret)) => Self::Caret(caret),
            (EdgeSource::Both, Some(caret)) => Self::Both(caret),
            (EdgeSource::Catalog, _) | (_, None) => Self::Catalog,
        }
    }
}

impl CaretRange {
    /// The caret range of a version as Masterminds prints it. Such a text is always a valid range.
    fn of(normal: &str, masterminds: Masterminds) -> Option<Self> {
        let successors = Constraint::parse(&format!("^{normal}, != {normal}"), masterminds).ok()?;
        let same = Constraint::parse(normal, masterminds).ok()?;
        Some(Self { successors, same })
    }
}

fn explicit(version: &str, release: &str, rules: &Rules) -> Result<VersionRelease, InstalledError> {
    let read = VersionRelease::parse_explicit(version, release, rules.release_limit);
    read.map_err(|error| match (rules.installed, error) {
        (InstalledReader::BlangApart, VersionReleaseError::Version { version, source }) => {
            InstalledError::VersionApart { version, source }
        }
        (InstalledReader::BlangApart, VersionReleaseError::Release { release, source }) => {
            InstalledError::ReleaseApart { release, source }
        }
        (_, error) => InstalledError::Together(error),
    })
}
