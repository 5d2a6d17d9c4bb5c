//! The installed bundle of an extension. The first of these sources that knows it counts:
//!
//! 1. `--installed EXTENSION=VERSION[,bundle=NAME][,release=R]`, or the project file
//! 2. the cluster
//! 3. the version that the base pins
//! 4. the status in the manifest itself
//! 5. the snapshot
//! 6. the version that the base resolves to

use crate::cli::args::installed::InstalledArgError;
use crate::cli::commands::check::args::{CheckArgs, CheckPlan};
use crate::cli::commands::check::base::{EarlierState, Past};
use crate::cli::commands::check::cases::{Case, InstalledSource, Subject};
use crate::cluster::extensions::ExtensionState;
use crate::facts::cluster::ClusterOrigin;
use crate::facts::origin::{OpenOrigin, SavedSnapshot};
use olmguard_engine::explain::{Answer, plain};
use olmguard_engine::extension::{Extension, Installed, InstalledBundle, Shape, UnknownCause};
use olmguard_engine::judge::{BaseDoubt, Basis, Verdict, identify};
use olmguard_engine::snapshot::Snapshot;

/// Sets the installed bundle of each extension that the flag or the project file names.
///
/// # Errors
/// If the given text is neither a version nor the name of a bundle.
pub(super) fn set_given(
    cases: &mut [Case],
    plan: &CheckPlan<'_>,
    snapshot: &Snapshot,
) -> Result<(), InstalledArgError> {
    for case in cases {
        let Subject::Manifest(extension, _) = &mut case.subject else {
            continue;
        };
        let name = extension.identity.name.as_ref();
        let given = name.and_then(|name| plan.installed.get(name));
        if let (Some(given), Ok(filter)) = (given, &extension.filter) {
            let flag = format!(
                "--installed {}",
                extension.identity.shown().unwrap_or_default()
            );
            let installed = given.resolve(&flag, snapshot, filter);
            extension.installed = installed.map_err(InstalledArgError::Nameless)?;
            case.told = InstalledSource::Flag;
        }
    }
    Ok(())
}

/// The installed bundle. Also returns the reason if the base requests a version that does not count.
pub(super) fn of(
    basis: Basis<'_>,
    case: &Case,
    extension: &Extension,
) -> (Installed, Option<BaseDoubt>) {
    let (installed, doubt) = match (case.told, &case.past) {
        (InstalledSource::Manifests, Past::Unknown(why)) => {
            let why = why.clone();
            (Installed::Unknown(UnknownCause::NotInBase { why }), None)
        }
        (InstalledSource::Manifests, Past::Found(found)) => {
            found.ancestor.before().installed(basis, extension)
        }
        _ => (extension.installed.clone(), None),
    };
    let installed = match &extension.filter {
        Ok(filter) => identify(basis.snapshot, filter, installed),
        Err(_) => installed,
    };
    (installed, doubt)
}

/// Whether no input states what is installed, not even that nothing is.
pub(super) fn is_unknown(case: &Case, answer: &Answer, args: &CheckArgs) -> bool {
    let has_source = args.facts.snapshot.is_some()
        || case.told != InstalledSource::Manifests
        || !matches!(case.past, Past::NotAsked);
    let is_judged = answer.verdict() != Verdict::NotJudged;
    let has_nothing = match &case.subject {
        Subject::Manifest(extension, _) => extension.installed == Installed::Nothing,
        Subject::Review(_) | Subject::Unknown(_) => false,
    };
    has_nothing && is_judged && !has_source && answer.installed.is_none()
}

/// A line below the answer about anything uncertain about the installed bundle.
pub(super) fn note(case: &Case, answer: &Answer, args: &CheckArgs) -> Option<String> {
    match &answer.resolved {
        Some(resolved) if is_unknown(case, answer, args) => {
            return Some(plain::installs_new(resolved));
        }
        _ => {}
    }
    let found = case.past.found()?;
    let installed = answer.installed.as_ref()?;
    let is_assumed = case.told == InstalledSource::Manifests
        && answer.verdict() != Verdict::NotJudged
        && !is_of_status(installed, found, case);
    is_assumed
        .then(|| plain::assumed_from_base(answer))
        .flatten()
}

fn is_of_status(installed: &InstalledBundle, found: &EarlierState, case: &Case) -> bool {
    let new = match &case.subject {
        Subject::Manifest(extension, _) => Some(&**extension),
        Subject::Review(_) | Subject::Unknown(_) => None,
    };
    let both = [new, found.ancestor.extension.as_ref()];
    let statuses = both.into_iter().flatten();
    let mut bundles = statuses.filter_map(|extension| extension.installed.bundle());
    bundles.any(|bundle| bundle.version == installed.version)
}

/// Sets the installed bundle from the cluster or the snapshot, if one is used, for each extension without
/// `--installed`. A review contains its own installed bundle.
pub(super) fn stand(origin: &OpenOrigin, cases: &mut [Case], plan: &CheckPlan<'_>) {
    match origin {
        OpenOrigin::Given => {}
        OpenOrigin::Snapshot(saved) => by_snapshot(saved, cases, plan),
        OpenOrigin::Cluster(cluster) => by_cluster(cluster, cases, plan),
    }
}

/// Uses the cluster, which knows what is installed now, regardless of the manifest.
fn by_cluster(cluster: &ClusterOrigin, cases: &mut [Case], plan: &CheckPlan<'_>) {
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

/// Uses the snapshot. A snapshot may be older than a manifest and its base, so it counts only if the manifest has no
/// status. If the snapshot does not know the installed bundle, the base may know it.
fn by_snapshot(saved: &SavedSnapshot, cases: &mut [Case], plan: &CheckPlan<'_>) {
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

/// The extension with its name, if clusters report the installed bundle of its kind and no flag states it.
fn asked<'e>(
    subject: &'e mut Subject,
    plan: &CheckPlan<'_>,
) -> Option<(String, &'e mut Extension)> {
    let Subject::Manifest(extension, _) = subject else {
        return None;
    };
    let name = extension.identity.name.clone()?;
    let is_asked = extension.shape != Shape::Operator && !plan.installed.contains_key(&name);
    is_asked.then_some((name, extension))
}
