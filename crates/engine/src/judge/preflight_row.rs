//! Row 15a: what operator-controller checks of the bundle that it has chosen: before it pulls the image, and of the
//! image too if it is known.
//!
//! The edit itself is checked, and no step that OLM takes automatically after it: a bundle that cannot be installed stops
//! the extension until an edit or a catalog changes, and the next edit is checked again.

use std::collections::BTreeSet;

use crate::extension::Filter;
use crate::judge::question::{FilterQuestion, ReadInstalled};
use crate::judge::rows::superseded;
use crate::judge::walk::recorded;
use crate::judge::{AllowedChange, PreflightRefusal, RuledEdit, Ruling};
use crate::resolve::{Choice, EditContext, ImageFacts, InstallContext, InstallFaults, Offer};
use crate::snapshot::Snapshot;
use olmguard_catalog::olm::{PreflightMode, Rules};
use olmguard_preflight::content::InstallTarget;

/// Checks the bundle that an edit resolves to. Like rows 6 to 15 it denies only on the newest content.
pub(super) fn put<'s>(
    ruled: &mut RuledEdit<'s>,
    question: &FilterQuestion<'_, 's>,
    installed: &ReadInstalled<'_>,
    context: EditContext<'_>,
) {
    let Ruling::Allowed(change, resolved) = ruled.ruling else {
        return;
    };
    let Some(install) = context.install else {
        return;
    };
    let olm = question.basis.snapshot.rules();
    let is_installed = change == AllowedChange::Unchanged;
    let is_as_before = is_installed && !install.occasion.reconfigures();
    if is_as_before || olm.preflight == PreflightMode::Off {
        return;
    }
    let image = image_facts(question, &resolved, installed.name(), install);
    let faults = install.faults(&resolved, olm, image);
    let is_refused = faults.as_ref().is_some_and(InstallFaults::refuse_image);
    ruled.pulled = (!is_refused).then_some(resolved);
    let Some(faults) = faults else {
        return;
    };
    let refusal = refusal(resolved, faults, olm);
    let is_newest = superseded(&question.in_play).is_empty();
    let denies = olm.preflight == PreflightMode::Deny
        && install
            .occasion
            .is_denied_for(&refusal.faults, is_installed);
    if refusal.faults.is_certain && is_newest && denies {
        ruled.ruling = Ruling::Preflight(Box::new(refusal));
    } else {
        ruled.preflight = Some(refusal);
    }
}

fn refusal<'s>(resolved: Choice<'s>, faults: InstallFaults, rules: &Rules) -> PreflightRefusal<'s> {
    PreflightRefusal {
        resolved,
        version: recorded(resolved, rules).map(|it| it.version),
        faults,
    }
}

/// What is known of the image of a bundle, and of what it would be installed in: the cluster, otherwise the installed
/// bundle.
fn image_facts<'s>(
    question: &FilterQuestion<'_, 's>,
    resolved: &Choice<'s>,
    installed: Option<&str>,
    install: InstallContext<'_>,
) -> ImageFacts<'s> {
    let contents = question.basis.snapshot.contents();
    let of_cluster = contents.cluster().map(InstallTarget::Cluster);
    let of_bundle = || {
        let installed = installed.filter(|_| !contents.is_empty());
        let mut images = images_of(installed?, question.offers());
        let installed = images.find_map(|image| contents.bundle(image));
        installed.map(InstallTarget::Installed)
    };
    ImageFacts {
        installed_crds: install.installed_crds(question.offers(), contents),
        ..ImageFacts::of(resolved, contents, of_cluster.or_else(of_bundle))
    }
}

/// The image of the bundle of this name in each catalog that has it.
fn images_of<'s>(name: &str, offers: &[Offer<'s>]) -> impl Iterator<Item = &'s str> {
    offers.iter().filter_map(move |offer| {
        let bundle = offer.package.bundle(offer.find(name)?);
        Some(&*bundle.image).filter(|image| !image.is_empty())
    })
}

/// The images of the bundle of this name in the catalogs that a filter selects.
pub(crate) fn images_named(snapshot: &Snapshot, filter: &Filter, name: &str) -> BTreeSet<String> {
    let offers = Offer::of_package(snapshot, filter);
    images_of(name, &offers).map(str::to_owned).collect()
}
