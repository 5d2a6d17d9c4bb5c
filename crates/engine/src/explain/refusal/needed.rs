//! What is missing where no edit of the object is known to help, and who can supply it.

use crate::explain::message::MessageFacts;
use crate::explain::refusal::{asked, guardrail, installed, installed_version, policy, versioned};
use crate::explain::text::CutLine;
use crate::judge::{DeadEnd, NoCatalogs, OutdatedCatalogs, Ruling};
use crate::resolve::Choice;

/// It as one or more sentences; nothing where the refusal itself says it.
pub(in crate::explain) fn needed(facts: &MessageFacts<'_>) -> Option<CutLine> {
    let ruling = &facts.judgement.ruled.ruling;
    match ruling {
        Ruling::Downgrade(best, count) | Ruling::NotASuccessor(best, count) => {
            Some(no_path(facts, *best, *count))
        }
        Ruling::Guardrail(forbidden) if !guardrail::is_unread(forbidden) => {
            let line = no_path_to(facts, versioned(forbidden.to));
            Some(highest(
                line.say(" that all guardrails allow."),
                facts.dead_end,
            ))
        }
        Ruling::Policy(refusal) => Some(policy::needed(facts, refusal)),
        ruling => fixed(ruling).map(|words| CutLine::default().say(words)),
    }
}

/// What does not depend on versions.
fn fixed(ruling: &Ruling<'_>) -> Option<&'static str> {
    Some(match ruling {
        Ruling::InvalidSelector(_) => {
            "Use valid keys and values: In and NotIn need values, Exists and DoesNotExist take none."
        }
        Ruling::InvalidVersionRange(_) => "Use comparators such as >=1.2.3, <2.0.0 or 1.x.",
        Ruling::PackageNotFound { .. } => {
            "Add a catalog with this package, or set another packageName."
        }
        Ruling::InstalledVersionInvalid(_) => {
            "Upgrades start at an installed version such as 1.2.3. From this one, only the override works."
        }
        Ruling::ChannelNotFound { .. } | Ruling::NotInChannel { .. } => {
            "Set a channel with a bundle that can be installed now, or no channels."
        }
        Ruling::VersionNotFound { .. } => {
            "Set a range that matches a version that can be installed now."
        }
        Ruling::BrokenSkipRange(_) => "The catalog author must fix the skipRange.",
        Ruling::AmbiguousCatalogs(_) => {
            "Give the catalogs different priorities, or select one of them."
        }
        Ruling::BundleVersionInvalid(..) => {
            "The catalog author must fix the version of the bundle."
        }
        Ruling::UnsupportedDependency(..) => "Only a bundle without dependencies can be installed.",
        Ruling::Guardrail(_) => "Fix the guardrails: they cannot be read.",
        Ruling::NoCatalogs(
            NoCatalogs::NoneExist | NoCatalogs::NoneMatch | NoCatalogs::AllUnavailable,
        ) => "Create a ClusterCatalog that is Available and that the selector matches.",
        Ruling::InstalledUnknown(cause) => installed::needed(cause),
        Ruling::CatalogNotLoaded(_) => {
            "Load the content of the catalog, or exclude the catalog with a selector."
        }
        Ruling::CatalogOutdated(OutdatedCatalogs::Superseded { .. }) => {
            "Wait until the newer content of the catalog is loaded."
        }
        Ruling::CatalogOutdated(OutdatedCatalogs::TooOld(_)) => {
            "olmguard must reach the API server and catalogd: its /readyz shows what is missing."
        }
        Ruling::PoliciesUnknown(_) => {
            "olmguard must be able to list UpgradePolicies and UpgradeGuardrails."
        }
        Ruling::Downgrade(..)
        | Ruling::NotASuccessor(..)
        | Ruling::NotJudged(_)
        | Ruling::Unanswered(_)
        | Ruling::Policy(_)
        | Ruling::InvalidSpec(_)
        | Ruling::NoCatalogs(NoCatalogs::NoneGiven)
        | Ruling::Allowed(..) => return None,
    })
}

fn no_path(facts: &MessageFacts<'_>, best: Choice<'_>, count: usize) -> CutLine {
    let to = match count {
        1 => versioned(best),
        _ => CutLine::default().say(&format!(
            "any of the {count} bundles {}",
            asked(facts.request)
        )),
    };
    let line = no_path_to(facts, to);
    let blocked = facts.dead_end.and_then(|end| end.blocked.as_ref());
    match blocked {
        _ if facts.dead_end.is_some_and(|end| !end.policies.is_empty()) => {
            highest(line.say(" that all policies allow."), facts.dead_end)
        }
        Some(_) => highest(line.say(" that all guardrails allow."), facts.dead_end),
        None => highest(line.say("."), facts.dead_end).say(" Only the catalog author can add one."),
    }
}

/// That policies leave no path to a bundle, or to install it.
pub(super) fn within_policies(facts: &MessageFacts<'_>, to: Choice<'_>) -> CutLine {
    let installed = facts.request.and_then(|request| request.installed.bundle());
    match installed {
        Some(_) => highest(
            no_path_to(facts, versioned(to)).say(" that all policies allow."),
            facts.dead_end,
        ),
        None => CutLine::default().say(&format!(
            "No bundle {} is allowed by all policies.",
            asked(facts.request)
        )),
    }
}

fn no_path_to(facts: &MessageFacts<'_>, to: CutLine) -> CutLine {
    CutLine::default()
        .say("No upgrade path from ")
        .then(installed_version(facts.request))
        .say(" to ")
        .then(to)
}

/// The highest release that can be reached, and the highest prerelease if that is higher.
fn highest(line: CutLine, dead_end: Option<&DeadEnd<'_>>) -> CutLine {
    let reached = dead_end.map(|end| (end.highest, end.prerelease));
    match reached.unwrap_or_default() {
        (Some(release), None) => reachable(line, release).say("."),
        (Some(release), Some(prerelease)) => reachable(line, release)
            .say(". Highest prerelease: ")
            .then(versioned(prerelease))
            .say("."),
        (None, Some(prerelease)) => reachable(line, prerelease).say(" (prerelease)."),
        (None, None) => line,
    }
}

fn reachable(line: CutLine, highest: Choice<'_>) -> CutLine {
    line.say(" Highest reachable: ").then(versioned(highest))
}
