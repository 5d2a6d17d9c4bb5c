//! What is installed, as a cluster or a snapshot says it.

use crate::cli::commands::check::args::Plan;
use crate::cli::commands::check::cases::{Case, InstalledSource, Subject};
use crate::cluster::extensions::ExtensionState;
use crate::facts::cluster::ClusterOrigin;
use crate::facts::origin::OpenOrigin;
use crate::facts::snapshot::SavedSnapshot;
use olmguard_engine::extension::{Extension, Installed, Shape};

/// Lets the cluster or the snapshot, where one is asked, say what is installed of each extension that no
/// `--installed` is about. A review says it itself.
pub(super) fn stand(origin: &OpenOrigin, cases: &mut [Case], plan: &Plan) {
    match origin {
        OpenOrigin::Given => {}
        OpenOrigin::Snapshot(saved) => by_snapshot(saved, cases, plan),
        OpenOrigin::Cluster(cluster) => by_cluster(cluster, cases, plan),
    }
}

/// A cluster knows what is installed now, whatever a manifest says.
fn by_cluster(cluster: &ClusterOrigin, cases: &mut [Case], plan: &Plan) {
    let mut asked: Vec<_> = cases
        .iter_mut()
        .filter_map(|case| {
            let (name, extension) = asked(&mut case.subject, plan)?;
            case.told = InstalledSource::Cluster;
            Some((name, extension))
        })
        .collect();
    if asked.is_empty() {
        return;
    }
    let names = asked.iter().map(|(name, _)| name.clone()).collect();
    for ((_, extension), standing) in asked.iter_mut().zip(cluster.standings(names)) {
        set(extension, standing);
    }
}

/// A snapshot may be older than a manifest and its base: it counts if the manifest has no status. What it does not
/// know, a base may.
fn by_snapshot(saved: &SavedSnapshot, cases: &mut [Case], plan: &Plan) {
    let asked = cases.iter_mut().filter_map(|case| {
        let has_base = case.past.found().is_some();
        let (name, extension) = asked(&mut case.subject, plan)?;
        let is_open = extension.installed == Installed::Nothing;
        is_open.then_some((name, (extension, has_base)))
    });
    let (names, asked): (Vec<_>, Vec<_>) = asked.unzip();
    let standings = saved.standings(&names).unwrap_or_default();
    for ((extension, has_base), standing) in asked.into_iter().zip(standings) {
        let is_unknown = matches!(standing.installed, Installed::Unknown(_));
        if !(has_base && is_unknown) {
            set(extension, standing);
        }
    }
}

fn set(extension: &mut Extension, standing: ExtensionState) {
    extension.installed = standing.installed;
    extension.rollout = standing.rollout;
}

/// An extension of a kind of which clusters say what is installed, with its name.
fn asked<'e>(subject: &'e mut Subject, plan: &Plan) -> Option<(String, &'e mut Extension)> {
    let Subject::Manifest(extension, _) = subject else {
        return None;
    };
    let name = extension.identity.name.clone()?;
    let is_asked = extension.shape != Shape::Operator && !plan.installed.contains_key(&name);
    is_asked.then_some((name, extension))
}
