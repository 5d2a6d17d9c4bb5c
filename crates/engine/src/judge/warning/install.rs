//! Warnings about the bundle that an edit installs, from its image and the cluster.

use super::Warning;
use crate::judge::{Edit, RuledEdit};
use crate::resolve::Choice;
use crate::snapshot::Snapshot;
use olmguard_preflight::KubernetesVersion;
use olmguard_preflight::content::{BundleContents, ClusterObjects};

/// A cluster whose Kubernetes is older than a bundle needs.
#[derive(Clone, Copy, Debug)]
pub struct OldKubernetes<'s> {
    /// The bundle.
    pub bundle: Choice<'s>,
    /// The version that the bundle needs.
    pub needed: KubernetesVersion,
    /// The version of the cluster.
    pub found: KubernetesVersion,
}

/// A bundle with webhooks whose names have too few segments.
#[derive(Clone, Debug)]
pub struct ShortWebhookNames<'s> {
    /// The bundle.
    pub bundle: Choice<'s>,
    /// The names, one or more, in byte order.
    pub names: Vec<&'s str>,
}

/// Warnings about obstacles to the installation, about faults that keep the installed bundle from working, and about
/// images that were not read.
pub(super) fn of_install<'s>(
    snapshot: &'s Snapshot,
    edit: &Edit<'_>,
    ruled: &RuledEdit<'s>,
) -> impl Iterator<Item = Warning<'s>> {
    let refusal = ruled.preflight.clone().map(Warning::Preflight);
    let contents = snapshot.contents();
    let unread = ruled.pulled.filter(|choice| {
        let image = &choice.bundle().image;
        contents.is_ahead() && !image.is_empty() && contents.image(image).is_none()
    });
    let unread = unread.map(Warning::ImageUnread);
    let pulled = ruled.pulled.zip(contents.cluster());
    let pulled = pulled.into_iter().flat_map(move |(choice, cluster)| {
        let is_moved = !is_installed(edit, choice);
        let old = too_old(contents, cluster, choice);
        let stated = old
            .into_iter()
            .chain(kinds_needed(contents, cluster, choice));
        let needs = edit.needs().into_iter();
        let missing = needs.filter_map(|needed| cluster.missing.get(&needed));
        let missing = missing.map(Warning::NeededMissing);
        missing.chain(stated.filter(move |_| is_moved))
    });
    let new = ruled.pulled.filter(|choice| !is_installed(edit, *choice));
    let names = new.and_then(|choice| short_webhook_names(snapshot, choice));
    refusal.into_iter().chain(unread).chain(pulled).chain(names)
}

fn kinds_needed<'s>(
    contents: &BundleContents,
    cluster: &ClusterObjects,
    bundle: Choice<'s>,
) -> Option<Warning<'s>> {
    let kinds = cluster.unserved_needs_of(contents.bundle(&bundle.bundle().image)?);
    (!kinds.is_empty()).then_some(Warning::KindsNeeded { bundle, kinds })
}

/// Whether the bundle is the installed one, which already runs in the cluster.
fn is_installed(edit: &Edit<'_>, choice: Choice<'_>) -> bool {
    let installed = edit.installed.bundle().and_then(|it| it.name.as_deref());
    installed == Some(&*choice.bundle().name)
}

fn too_old<'s>(
    contents: &BundleContents,
    cluster: &ClusterObjects,
    bundle: Choice<'s>,
) -> Option<Warning<'s>> {
    let needed = contents.bundle(&bundle.bundle().image)?;
    let (needed, found) = (needed.least_kubernetes()?, cluster.kubernetes?);
    let old = OldKubernetes {
        bundle,
        needed,
        found,
    };
    (found < needed).then_some(Warning::KubernetesTooOld(old))
}

fn short_webhook_names<'s>(snapshot: &'s Snapshot, bundle: Choice<'s>) -> Option<Warning<'s>> {
    let pulled = snapshot.contents().bundle(&bundle.bundle().image)?;
    let names = pulled.short_webhook_names(snapshot.rules().olm.minor());
    let short = ShortWebhookNames { bundle, names };
    (!short.names.is_empty()).then_some(Warning::WebhookNamesShort(short))
}
