//! Finds the installed bundle if only its version is known, and the bundle that a user means by a version or a name.

use std::collections::BTreeSet;

use crate::extension::{Filter, Installed, InstalledBundle, UnknownCause};
use crate::judge::nearby;
use crate::judge::walk::recorded;
use crate::nearest::nearest;
use crate::resolve::{Choice, Offer, Origin};
use crate::snapshot::Snapshot;
use olmguard_catalog::graph::version_in_name;
use olmguard_catalog::olm::Rules;
use olmguard_catalog::version::{Version, VersionRelease};

/// Completes an installed bundle whose version is known but not its name. The name is that of the bundle with this
/// version and release in the selected catalogs, otherwise the only name in their edges that fits the version.
///
/// If the catalogs have several such bundles, the installed one is unknown. If no name fits, or several do, the name
/// stays unknown, and an answer counts only if every name gives it.
pub fn identify(snapshot: &Snapshot, filter: &Filter, installed: Installed) -> Installed {
    match installed {
        Installed::Bundle(bundle) if bundle.name.is_none() => named(
            bundle,
            &Offer::of_package(snapshot, filter),
            snapshot.rules(),
        ),
        known => known,
    }
}

fn named(nameless: InstalledBundle, offers: &[Offer<'_>], rules: &Rules) -> Installed {
    let mut bundles: Vec<_> = bundles(&nameless, offers, rules).into_iter().collect();
    let with = |name: String| InstalledBundle {
        name: Some(name),
        ..nameless.clone()
    };
    match (bundles.pop(), bundles.is_empty()) {
        (Some(only), true) => Installed::Bundle(with(only)),
        (Some(last), false) => {
            bundles.push(last);
            Installed::Unknown(UnknownCause::Several { bundles })
        }
        (None, _) => match fitting_names(&nameless, offers).as_slice() {
            [only] => Installed::Inferred(with((*only).to_owned())),
            _ => Installed::Bundle(nameless),
        },
    }
}

/// The names of all bundles with this version and release.
fn bundles(installed: &InstalledBundle, offers: &[Offer<'_>], rules: &Rules) -> BTreeSet<String> {
    let Ok(origin) = Origin::read(installed, rules) else {
        return BTreeSet::new();
    };
    let same = offers.iter().flat_map(|offer| {
        let same = origin.same(offer.package);
        let names = same.iter().map(|index| &offer.package.bundle(index).name);
        names.map(ToString::to_string).collect::<Vec<_>>()
    });
    same.collect()
}

/// The names that edges mention, that no bundle has, and that contain this version. No name contains a release.
pub(super) fn fitting_names<'s>(installed: &InstalledBundle, offers: &[Offer<'s>]) -> Vec<&'s str> {
    let has = |name: &str| offers.iter().any(|offer| offer.find(name).is_some());
    let fits = |name: &&str| {
        let read = version_in_name(name);
        read.is_some_and(|version| version.to_string() == installed.version)
    };
    let names = names_of_edges(offers);
    let names: BTreeSet<_> = names.filter(fits).filter(|name| !has(name)).collect();
    let counts = installed.release.is_none();
    names.into_iter().filter(|_| counts).collect()
}

/// The names that edges mention.
pub(super) fn names_of_edges<'s>(offers: &[Offer<'s>]) -> impl Iterator<Item = &'s str> {
    offers
        .iter()
        .flat_map(|offer| offer.package.names_of_edges())
}

// === The bundle that a user means by a version or a name ===

/// The installed bundle as a user states it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct StatedInstalled {
    /// A version, or the name of a bundle.
    pub text: String,
    /// The name of the bundle, if it is given separately.
    pub bundle: Option<String>,
    /// The explicit release, which can be empty.
    pub release: Option<String>,
}

/// The installed bundle, and how well the catalogs know it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IdentifiedInstalled {
    /// The bundle.
    pub installed: InstalledBundle,
    /// How well it is known.
    pub known: CatalogKnowledge,
}

/// How well the catalogs know the installed bundle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CatalogKnowledge {
    /// A bundle of the catalogs, or a stated version with a name that the catalogs have.
    Whole,
    /// A stated version with a name that no bundle and no edge has: only the version counts.
    Stranger,
    /// A name that edges mention and no bundle has. The version is read from the name.
    NameOnly,
    /// A version that no bundle has, but that fits exactly one name that edges mention.
    SpokenOf,
    /// A version that no bundle has: the name is unknown, and only ranges count.
    VersionOnly,
    /// A bundle whose version cannot be read. OLM v1 never installs such a bundle; OLM v0 uses its name.
    Unreadable,
}

/// Why it is not known which bundle the user means.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum NamingError {
    /// Several bundles have the version.
    Several {
        /// The names of the bundles, in byte order.
        bundles: Vec<String>,
    },
    /// Bundles of this name have several versions.
    SeveralVersions {
        /// The versions, each once.
        versions: Vec<String>,
    },
    /// The text is not a version and no bundle has the name, or no bundle has the version.
    Unknown {
        /// The most similar names or the nearest versions.
        nearest: Vec<String>,
    },
}

impl StatedInstalled {
    /// Finds the bundle that the user means, in any channel of these offers.
    ///
    /// # Errors
    /// Fails if several bundles fit, or none. A version that no bundle has is still an answer, because OLM follows the
    /// ranges that match it.
    pub fn find(
        &self,
        rules: &Rules,
        offers: &[Offer<'_>],
    ) -> Result<IdentifiedInstalled, NamingError> {
        let is_version = Version::parse(&self.text).is_ok();
        if let Some(name) = self.bundle.as_ref().filter(|_| is_version) {
            return Ok(IdentifiedInstalled {
                installed: self.called(Some(name.clone())),
                known: known_by_name(name, offers),
            });
        }
        if let Some(named) = by_name(&self.text, offers, rules) {
            return named;
        }
        if !is_version {
            return self.by_virtual_name(offers);
        }
        let (installed, known) = match named(self.called(None), offers, rules) {
            Installed::Unknown(UnknownCause::Several { bundles }) => {
                return Err(NamingError::Several { bundles });
            }
            Installed::Inferred(installed) => (installed, CatalogKnowledge::SpokenOf),
            Installed::Bundle(installed) if installed.name.is_some() => {
                (installed, CatalogKnowledge::Whole)
            }
            _ => (self.called(None), CatalogKnowledge::VersionOnly),
        };
        Ok(IdentifiedInstalled { installed, known })
    }

    /// The installed bundle for an edit that sets this filter. If no catalog can answer for the package, the name is
    /// not looked up; the row that reports this answers the edit.
    ///
    /// # Errors
    /// Fails if the text is neither a version nor the name of a bundle or edge.
    pub fn installed(
        &self,
        snapshot: &Snapshot,
        filter: &Filter,
    ) -> Result<Installed, NamingError> {
        let offers = Offer::of_package(snapshot, filter);
        if offers.is_empty() {
            return Ok(Installed::Bundle(self.without_catalog()));
        }
        match self.find(snapshot.rules(), &offers) {
            Ok(found) if found.known == CatalogKnowledge::SpokenOf => {
                Ok(Installed::Inferred(found.installed))
            }
            Ok(found) => Ok(Installed::Bundle(found.installed)),
            Err(NamingError::Several { bundles }) => {
                Ok(Installed::Unknown(UnknownCause::Several { bundles }))
            }
            Err(error) => Err(error),
        }
    }

    /// The bundle as stated, if no catalog can be read. A text that is not a version may be the name of a bundle, which
    /// contains the version.
    fn without_catalog(&self) -> InstalledBundle {
        let is_name = self.bundle.is_none() && Version::parse(&self.text).is_err();
        let version = is_name.then(|| version_in_name(&self.text)).flatten();
        match version {
            Some(version) => InstalledBundle {
                version: version.to_string(),
                ..self.called(Some(self.text.clone()))
            },
            None => self.called(self.bundle.clone()),
        }
    }

    /// The bundle as stated, with this name.
    pub(crate) fn called(&self, name: Option<String>) -> InstalledBundle {
        InstalledBundle {
            name,
            version: self.text.clone(),
            release: self.release.clone(),
        }
    }

    /// Finds a name that only edges mention.
    fn by_virtual_name(&self, offers: &[Offer<'_>]) -> Result<IdentifiedInstalled, NamingError> {
        let mut names = names_of_edges(offers);
        let version = version_in_name(&self.text).filter(|_| names.any(|name| name == self.text));
        let version = version.ok_or_else(|| NamingError::Unknown {
            nearest: nearest_names(&self.text, offers),
        })?;
        Ok(IdentifiedInstalled {
            installed: InstalledBundle {
                version: version.to_string(),
                ..self.called(Some(self.text.clone()))
            },
            known: CatalogKnowledge::NameOnly,
        })
    }
}

/// The bundles with this name or version, or with this version and release; the best of each offer first.
///
/// # Errors
/// Returns [`NamingError::Unknown`] if no bundle fits.
pub fn target<'s>(
    text: &str,
    filter: &Filter,
    offers: &[Offer<'s>],
    rules: &Rules,
) -> Result<Vec<Choice<'s>>, NamingError> {
    let named = choices(offers, |choice| *choice.bundle().name == *text);
    if !named.is_empty() {
        return Ok(named);
    }
    let Ok(wanted) = VersionRelease::parse_legacy(text, rules.legacy_release) else {
        return Err(NamingError::Unknown {
            nearest: nearest_names(text, offers),
        });
    };
    let exact = choices(offers, |choice| {
        let here = choice.version_release();
        here.is_some_and(|here| here.cmp_precedence(&wanted).is_eq())
    });
    if !exact.is_empty() {
        return Ok(exact);
    }
    let same = choices(offers, |choice| {
        let here = choice.version();
        wanted.release.is_none() && here.is_some_and(|v| v.cmp_precedence(&wanted.version).is_eq())
    });
    if same.is_empty() {
        let nearest = nearest_versions(text, filter, offers);
        return Err(NamingError::Unknown { nearest });
    }
    Ok(same)
}

/// The versions of the offers that are nearest to a version that no bundle has.
pub fn nearest_versions(version: &str, filter: &Filter, offers: &[Offer<'_>]) -> Vec<String> {
    let nearest = nearby::versions(&filter.with_version(version), offers.iter());
    nearest.iter().map(ToString::to_string).collect()
}

/// How well the offers know a name that is given with its version.
fn known_by_name(name: &str, offers: &[Offer<'_>]) -> CatalogKnowledge {
    let is_bundle = !choices(offers, |choice| *choice.bundle().name == *name).is_empty();
    if is_bundle || names_of_edges(offers).any(|edge| edge == name) {
        CatalogKnowledge::Whole
    } else {
        CatalogKnowledge::Stranger
    }
}

/// The bundle with a name in the offers, if they have it.
fn by_name(
    name: &str,
    offers: &[Offer<'_>],
    rules: &Rules,
) -> Option<Result<IdentifiedInstalled, NamingError>> {
    let named = choices(offers, |choice| *choice.bundle().name == *name);
    let mut recorded: Vec<_> = named
        .iter()
        .filter_map(|choice| recorded(*choice, rules))
        .collect();
    recorded.dedup();
    Some(match recorded.as_slice() {
        [] if named.is_empty() => return None,
        [] => Ok(IdentifiedInstalled {
            installed: InstalledBundle {
                name: Some(name.to_owned()),
                version: String::new(),
                release: None,
            },
            known: CatalogKnowledge::Unreadable,
        }),
        [only] => Ok(IdentifiedInstalled {
            installed: only.clone(),
            known: CatalogKnowledge::Whole,
        }),
        several => Err(NamingError::SeveralVersions {
            versions: several
                .iter()
                .map(|bundle| bundle.version.clone())
                .collect(),
        }),
    })
}

fn choices<'s>(offers: &[Offer<'s>], is_meant: impl Fn(&Choice<'s>) -> bool) -> Vec<Choice<'s>> {
    let all = offers.iter().flat_map(|offer| {
        let bundles = offer.package.bundles();
        bundles.map(|(index, _)| offer.choice(index))
    });
    all.filter(is_meant).collect()
}

/// The names most similar to a text. For a version with the prefix `v`, the version itself.
fn nearest_names(text: &str, offers: &[Offer<'_>]) -> Vec<String> {
    let version = text.strip_prefix('v');
    if let Some(version) = version.filter(|version| Version::parse(version).is_ok()) {
        return vec![version.to_owned()];
    }
    let names = offers.iter().flat_map(|offer| {
        let bundles = offer.package.bundles();
        bundles.map(|(_, bundle)| &*bundle.name)
    });
    let names: BTreeSet<&str> = names.collect();
    let near = nearest(text, names, MOST).into_iter();
    near.map(str::to_owned).collect()
}

const MOST: usize = 3;
