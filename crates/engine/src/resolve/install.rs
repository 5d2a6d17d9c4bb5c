//! Whether operator-controller can install a bundle, as far as the catalog, the extension and the image of the bundle
//! show. These are the checks after resolution; without the image, only the checks before the pull.
//!
//! The settings of operator-controller cannot be read from the API. So each check is made for every possible
//! combination of settings, and a fault is certain only if every combination has one.
//!
//! Upstream: operator-controller, [`internal/operator-controller/applier/provider.go`] and
//! [`internal/shared/util/image/pull.go`].
//!
//! [`internal/operator-controller/applier/provider.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/applier/provider.go
//! [`internal/shared/util/image/pull.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/shared/util/image/pull.go

mod case;
mod fault;

use std::cell::RefCell;

use crate::extension::{InstallRequest, Installed};
use crate::resolve::install::case::{FoundOnce, InstallCase};
use crate::resolve::{Choice, Offer};
use crate::snapshot::{CatalogState, Snapshot};
use olmguard_catalog::olm::{PreflightMode, Rules};
use olmguard_catalog::{Bundle, BundleIndex, BundleSet, CrdNames};
use olmguard_preflight::content::{BundleContents, InstallTarget};

pub(crate) use crate::resolve::install::case::ImageFacts;
pub use crate::resolve::install::case::{InstallContext, Occasion};
pub use crate::resolve::install::fault::{CrdRefusal, InstallFault, InstallFaults, NameTooLong};

/// The settings for the installation of bundles, with the known image contents: the bound that keeps a path from a
/// bundle.
#[derive(Clone, Copy, Debug)]
pub struct InstallBound<'a> {
    context: InstallContext<'a>,
    contents: &'a BundleContents,
    installed_crds: Option<&'a CrdNames>,
    known: Option<&'a KnownRefusals>,
}

/// The results for each bundle under one bound, because a search visits a bundle once per edge.
#[derive(Debug, Default)]
pub(crate) struct KnownRefusals(RefCell<Vec<KnownPackage>>);

/// The results for the package in one catalog, which is identified by its address.
#[derive(Debug)]
struct KnownPackage {
    catalog: *const CatalogState,
    asked: BundleSet,
    refused: BundleSet,
}

impl KnownRefusals {
    /// Whether a search has visited a bundle that is refused.
    pub(crate) fn has_any(&self) -> bool {
        let packages = self.0.borrow();
        packages.iter().any(|package| !package.refused.is_empty())
    }

    fn of(&self, to: &Choice<'_>, is_refused: impl FnOnce() -> bool) -> bool {
        let mut packages = self.0.borrow_mut();
        let is_here = |known: &KnownPackage| std::ptr::eq(known.catalog, to.catalog);
        if !packages.iter().any(is_here) {
            packages.push(KnownPackage {
                catalog: to.catalog,
                asked: to.package.no_bundle(),
                refused: to.package.no_bundle(),
            });
        }
        let known = packages.iter_mut().find(|known| is_here(known));
        known.is_some_and(|known| known.of(to.index, is_refused))
    }
}

impl KnownPackage {
    fn of(&mut self, bundle: BundleIndex, is_refused: impl FnOnce() -> bool) -> bool {
        if !self.asked.contains(bundle) {
            self.asked.insert(bundle);
            if is_refused() {
                self.refused.insert(bundle);
            }
        }
        self.refused.contains(bundle)
    }
}

/// Whether operator-controller can never install a bundle, because the catalog shows that the bundle needs an
/// unsupported feature.
pub fn is_unsupported(bundle: &Bundle, rules: &Rules) -> bool {
    let context = InstallContext::of_unknown();
    let case = context.case(bundle, rules, ImageFacts::UNKNOWN);
    let facts = case.facts();
    let mut settings = rules.installs.iter();
    settings.all(|settings| case.support(facts.as_ref(), *settings).is_err())
}

impl<'a> InstallBound<'a> {
    /// The bound of an edit; `None` if its installation settings are unknown or the installation is not checked.
    pub fn of(
        context: Option<InstallContext<'a>>,
        snapshot: &'a Snapshot,
        offers: &[Offer<'a>],
    ) -> Option<Self> {
        let contents = snapshot.contents();
        let is_checked = snapshot.rules().preflight != PreflightMode::Off;
        context.filter(|_| is_checked).map(|context| Self {
            context,
            contents,
            installed_crds: context.installed_crds(offers, contents),
            known: None,
        })
    }

    /// The same bound, with each bundle checked only once.
    pub(crate) fn remembering(self, known: &'a KnownRefusals) -> Self {
        Self {
            known: Some(known),
            ..self
        }
    }

    /// The bound by catalog data alone, without images. This is cheap enough for each step of an allowed edit.
    pub(crate) fn by_catalogs(self) -> Self {
        static NONE: BundleContents = BundleContents::NONE;
        Self {
            contents: &NONE,
            ..self
        }
    }

    /// Whether operator-controller certainly does not install this bundle, as far as its own image shows. The CRDs that
    /// it would replace are known only from a cluster.
    pub fn refuses(&self, to: &Choice<'_>, rules: &Rules) -> bool {
        match self.known {
            Some(known) => known.of(to, || self.is_refused(to, rules)),
            None => self.is_refused(to, rules),
        }
    }

    fn is_refused(&self, to: &Choice<'_>, rules: &Rules) -> bool {
        let target = self.contents.cluster().map(InstallTarget::Cluster);
        let image = ImageFacts {
            installed_crds: self.installed_crds,
            ..ImageFacts::of(to, self.contents, target)
        };
        self.context.is_refused(to.bundle(), rules, image)
    }
}

impl<'a> InstallContext<'a> {
    /// An edit that changes the requested bundle, without knowledge of the objects in the cluster.
    pub fn of_move(request: &'a InstallRequest) -> Self {
        Self {
            request,
            occasion: Occasion::Move,
            installed: &Installed::Nothing,
        }
    }

    /// The same edit, for an extension about which nothing is known.
    pub fn of_unknown() -> Self {
        Self::of_move(InstallRequest::unknown())
    }

    /// The CRDs of the installed bundle, if all catalogs that have the bundle list the same CRDs. `None` without a
    /// cluster: only a comparison with its CRDs needs them, and the search visits every bundle of the package.
    pub(crate) fn installed_crds<'s>(
        &self,
        offers: &[Offer<'s>],
        contents: &BundleContents,
    ) -> Option<&'s CrdNames> {
        let Installed::Bundle(installed) = self.installed else {
            return None;
        };
        contents.cluster()?;
        let name = installed.name.as_deref()?;
        let bundles = offers
            .iter()
            .filter_map(|offer| Some(offer.package.bundle(offer.find(name)?)));
        let mut named = bundles.map(|bundle| Some(&bundle.install.as_ref()?.crds));
        let first = named.next()??;
        named.all(|other| other == Some(first)).then_some(first)
    }

    /// Why operator-controller does not install this bundle, or possibly does not; `None` if it does.
    pub(crate) fn faults(
        &self,
        choice: &Choice<'_>,
        rules: &Rules,
        image: ImageFacts<'_>,
    ) -> Option<InstallFaults> {
        let case = self.case(choice.bundle(), rules, image);
        let once = FoundOnce::of(&case);
        let found = rules.installs.iter().map(|settings| once.first(*settings));
        let found: Vec<_> = found.collect();
        let is_certain = rules.installs.iter().zip(&found).all(|(settings, fault)| {
            let fault = fault.as_ref();
            fault.is_some_and(|fault| fault.is_certain(*settings, case.minor))
        });
        let mut faults: Vec<InstallFault> = Vec::new();
        for fault in found.into_iter().flatten() {
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
        (!faults.is_empty()).then_some(InstallFaults {
            faults,
            is_certain,
            modes: once.facts().map(|it| it.modes).unwrap_or_default(),
            is_by_image: image.content.is_some(),
            minor: case.minor,
        })
    }

    /// Whether every possible operator-controller refuses this bundle in every run. A search for paths checks this for
    /// each edge, and most bundles can be installed with the first settings.
    fn is_refused(&self, bundle: &Bundle, rules: &Rules, image: ImageFacts<'_>) -> bool {
        let case = self.case(bundle, rules, image);
        let once = FoundOnce::of(&case);
        rules.installs.iter().all(|settings| {
            let first = once.first(*settings);
            first.is_some_and(|fault| fault.is_certain(*settings, case.minor))
        })
    }

    fn case<'c>(
        &'c self,
        bundle: &'c Bundle,
        rules: &Rules,
        image: ImageFacts<'c>,
    ) -> InstallCase<'c> {
        InstallCase {
            bundle,
            image,
            context: *self,
            minor: rules.olm.minor(),
        }
    }
}
