//! `--from-cluster`: what is installed, as a cluster says it.

use crate::cli::commands::check::args::Plan;
use crate::cli::commands::check::cases::{Case, InstalledSource, Subject};
use crate::cli::facts::origin::FactsOrigin;
use olmguard_engine::extension::{Extension, Shape};

/// Lets the cluster, where one is asked, say what is installed of each extension that no `--installed`
/// is about. A review says it itself.
pub(super) fn stand(origin: &FactsOrigin, cases: &mut [Case], plan: &Plan) {
    let FactsOrigin::Cluster(live) = origin else {
        return;
    };
    let mut asked: Vec<_> = cases
        .iter_mut()
        .filter_map(|case| match &mut case.subject {
            Subject::Manifest(extension, _) => {
                let (name, extension) = asked(extension, plan)?;
                case.told = InstalledSource::ByCluster;
                Some((name, extension))
            }
            Subject::Review(_) | Subject::Unknown(_) => None,
        })
        .collect();
    if asked.is_empty() {
        return;
    }
    let names = asked.iter().map(|(name, _)| name.clone()).collect();
    for ((_, extension), standing) in asked.iter_mut().zip(live.standings(names)) {
        extension.installed = standing.installed;
        extension.rollout = standing.rollout;
    }
}

/// An extension of a kind of which clusters say what is installed, with its name.
fn asked<'e>(extension: &'e mut Extension, plan: &Plan) -> Option<(String, &'e mut Extension)> {
    let name = extension.identity.name.clone()?;
    let is_asked = extension.shape != Shape::Operator && !plan.installed.contains_key(&name);
    is_asked.then_some((name, extension))
}
