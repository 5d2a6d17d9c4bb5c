//! Rows with a missing fact: no answer in time, no catalog, an unknown installed version, or unknown policies.
//!
//! None of these texts contains the age of a fact, because it differs between replicas.

use core::time::Duration;

use crate::explain::facts::MessageFacts;
use crate::explain::refusal::RefusalWords;
use crate::explain::text::{CutLine, Detail, escaped, words};
use crate::extension::{SelectorField, UnknownCause};
use crate::judge::{BypassHelps, NoCatalogs, UnansweredReason, Wait};
use crate::resolve::{NotLoaded, NotLoadedCause};
use crate::snapshot::CatalogState;
use olmguard_catalog::dns1123;

// === The server did not answer ===

/// The text about what the edit waited for and for how long, and to apply it again. No fault of the edit is known.
pub(super) fn unanswered(cause: UnansweredReason) -> RefusalWords {
    let again = match cause {
        UnansweredReason::DeadlineExceeded { .. } => "apply it again; it was not checked",
        UnansweredReason::QueueFull { .. } | UnansweredReason::QueueTooSlow { .. } => {
            "apply it again in a few seconds; it was not checked"
        }
    };
    RefusalWords::new("", words(&waited(cause)))
        .with([Detail::items("Fix", vec![again.to_owned()])])
}

fn waited(cause: UnansweredReason) -> String {
    match cause {
        UnansweredReason::DeadlineExceeded { waited_for, within } => {
            let within = milliseconds(within);
            match waited_for {
                Wait::Worker => format!("no worker was free within {within:?}"),
                Wait::Judge => format!("the check did not finish within {within:?}"),
            }
        }
        UnansweredReason::QueueFull { waiting } => {
            format!("{waiting} edits are waiting already, which is the limit")
        }
        UnansweredReason::QueueTooSlow { waiting, within } => {
            let within = milliseconds(within);
            format!("{waiting} edits are waiting already, too many to check within {within:?}")
        }
    }
}

/// The duration, truncated to milliseconds.
fn milliseconds(duration: Duration) -> Duration {
    Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

// === Row 4: no catalog ===

pub(super) fn no_catalogs(facts: &MessageFacts<'_>, none: NoCatalogs) -> RefusalWords {
    let reason = match none {
        NoCatalogs::NoneGiven => "no catalog is given",
        NoCatalogs::NoneExist => "there is no ClusterCatalog",
        NoCatalogs::NoneMatch => "the selector matches no ClusterCatalog",
        NoCatalogs::AllUnavailable => "every ClusterCatalog that matches is Unavailable",
    };
    let field = facts.extension.fields.selector();
    let refusal = RefusalWords::new(field, words(reason));
    match none {
        NoCatalogs::NoneGiven => {
            let fix = "use --catalog NAME=PATH, --snapshot FILE or --from-cluster";
            refusal.with([Detail::items("Fix", vec![fix.to_owned()])])
        }
        NoCatalogs::NoneExist | NoCatalogs::NoneMatch | NoCatalogs::AllUnavailable => refusal
            .with([see_all()])
            .needing("Create a ClusterCatalog that is Available and that the selector matches."),
    }
}

// === Row 4a: the installed bundle is unknown ===

pub(super) fn installed(facts: &MessageFacts<'_>, cause: &UnknownCause) -> RefusalWords {
    RefusalWords::new(facts.extension.fields.installed, words(unknown(cause)))
        .with(of_unknown(cause))
        .needing(needed_of_unknown(cause))
}

/// Why the installed bundle is unknown.
pub fn unknown(cause: &UnknownCause) -> &'static str {
    match cause {
        UnknownCause::Condition => {
            "the installed version is unknown: condition Installed is Unknown"
        }
        UnknownCause::ImageOnly => {
            "the installed version is unknown: the status names only an image"
        }
        UnknownCause::WrongType { .. } => {
            "the installed version is unknown: the status is malformed"
        }
        UnknownCause::NoOldObject => {
            "the installed version is unknown: the request has no old object"
        }
        UnknownCause::NotToBeHad { .. } => {
            "the installed version is unknown: the cluster does not report it"
        }
        UnknownCause::NotInBase { .. } | UnknownCause::BaseUndecided { .. } => {
            "the installed version is unknown: the base does not show it"
        }
        UnknownCause::Several { .. } => "several bundles have the installed version",
        UnknownCause::Nameless { .. } => "the name of the installed bundle is unknown",
    }
}

fn of_unknown(cause: &UnknownCause) -> Vec<Detail> {
    match cause {
        UnknownCause::Several { bundles } => vec![Detail::items("Candidates", escaped(bundles))],
        UnknownCause::Nameless { names } => {
            let cause = "no selected catalog has a bundle of the installed version";
            vec![
                Detail::sentences("Cause", vec![cause.to_owned()]),
                Detail::items("Candidates", escaped(names)),
            ]
        }
        UnknownCause::NotToBeHad { why } | UnknownCause::NotInBase { why } => {
            vec![Detail::sentences("Cause", vec![why.clone()])]
        }
        UnknownCause::BaseUndecided { reason } => {
            let cause = format!("it is undecided what the base resolves to now [{reason}]");
            vec![Detail::sentences("Cause", vec![cause])]
        }
        UnknownCause::WrongType { field } => {
            vec![Detail::items("Field", vec![(*field).to_owned()])]
        }
        UnknownCause::NoOldObject => {
            vec![Detail::items("Field", vec!["request.oldObject".to_owned()])]
        }
        UnknownCause::Condition | UnknownCause::ImageOnly => Vec::new(),
    }
}

fn needed_of_unknown(cause: &UnknownCause) -> &'static str {
    match cause {
        UnknownCause::Several { .. } | UnknownCause::Nameless { .. } => {
            "Add the name of the installed bundle: --installed EXTENSION=VERSION,bundle=NAME."
        }
        UnknownCause::NoOldObject => "The update request must hold the extension as it was.",
        UnknownCause::NotToBeHad { .. } => {
            "Use a cluster that shows its extensions, or set --installed."
        }
        UnknownCause::NotInBase { .. } | UnknownCause::BaseUndecided { .. } => {
            "Use a base that can be read and has the extension once, or set --installed."
        }
        UnknownCause::Condition | UnknownCause::ImageOnly | UnknownCause::WrongType { .. } => {
            "The status must name the installed bundle and its version."
        }
    }
}

// === Row 7: an installed version that cannot be read ===

pub(super) fn invalid_installed(facts: &MessageFacts<'_>) -> RefusalWords {
    let rest = match facts.advice.bypass {
        BypassHelps::No => {
            "No upgrade starts at this version, and the override does not allow this request."
        }
        BypassHelps::Yes | BypassHelps::WithPermission => "From this one, only the override works.",
    };
    RefusalWords::new(
        facts.extension.fields.installed,
        words("the installed version cannot be read"),
    )
    .needing(&*format!(
        "Upgrades start at an installed version such as 1.2.3. {rest}"
    ))
}

// === Rows 5 to 5b: a catalog that cannot answer ===

pub(super) fn not_loaded(facts: &MessageFacts<'_>, failed: &NotLoaded<'_>) -> RefusalWords {
    let line = words("catalog ").name(&failed.catalog.name);
    let reason = line.say(match failed.why {
        NotLoadedCause::NotServing => " is not being served",
        NotLoadedCause::Missing | NotLoadedCause::Unfetched(_) | NotLoadedCause::Unreadable(_) => {
            " is not loaded"
        }
        NotLoadedCause::Package(_) => " has the package, but it cannot be decoded",
    });
    let causes = match failed.why {
        NotLoadedCause::Unfetched(error) | NotLoadedCause::Unreadable(error) => {
            vec![error.to_owned()]
        }
        NotLoadedCause::Package(fault) => fault.faults.iter().map(ToString::to_string).collect(),
        NotLoadedCause::NotServing | NotLoadedCause::Missing => Vec::new(),
    };
    let is_known = is_known_to_cluster(failed);
    let see = is_known.then(|| see(failed.catalog));
    let name = &failed.catalog.name;
    let is_not_given = !is_known && matches!(failed.why, NotLoadedCause::Missing);
    let give =
        (is_not_given && dns1123::is_subdomain(name)).then(|| format!("use --catalog {name}=PATH"));
    RefusalWords::new(facts.extension.fields.selector(), reason)
        .with([Detail::sentences("Cause", causes)])
        .with(see)
        .with([Detail::items("Fix", give.into_iter().collect())])
        .needing(match facts.extension.fields.selector {
            SelectorField::Present => {
                "Load the content of the catalog, or exclude the catalog with a selector."
            }
            SelectorField::Absent => "Load the content of the catalog.",
        })
}

/// Whether the cluster can show more. It shows nothing about content that was read, or about a catalog that it never
/// had.
fn is_known_to_cluster(failed: &NotLoaded<'_>) -> bool {
    match failed.why {
        NotLoadedCause::NotServing => true,
        NotLoadedCause::Missing | NotLoadedCause::Unfetched(_) | NotLoadedCause::Unreadable(_) => {
            failed.catalog.digest().is_some()
        }
        NotLoadedCause::Package(_) => false,
    }
}

pub(super) fn too_old(facts: &MessageFacts<'_>, old: &[&CatalogState]) -> RefusalWords {
    let line = words("the content of ").then(named(old));
    let reason = line.say(" was last confirmed current too long ago");
    RefusalWords::new(facts.extension.fields.selector(), reason)
        .with(which(old))
        .needing(
            "olmguard must reach the API server and catalogd: its /readyz shows what is missing.",
        )
}

/// The text about superseded content because of which another row would deny, with the reason of that row.
pub(super) fn superseded(denied: RefusalWords, catalogs: &[&CatalogState]) -> RefusalWords {
    let has = if catalogs.len() > 1 { "have" } else { "has" };
    let why = format!(
        "{} {has} newer content that is not loaded yet",
        named(catalogs)
    );
    RefusalWords {
        details: vec![Detail::sentences("Cause", vec![why])],
        ..denied
    }
    .with(which(catalogs))
    .needing("Wait until the newer content of the catalog is loaded.")
}

/// The name of the only catalog, or the number of catalogs.
fn named(catalogs: &[&CatalogState]) -> CutLine {
    match catalogs {
        [only] => words("catalog ").name(&only.name),
        all => words(&format!("{} catalogs", all.len())),
    }
}

fn which(catalogs: &[&CatalogState]) -> Vec<Detail> {
    match catalogs {
        [only] => vec![see(only)],
        all => {
            let names: Vec<_> = all.iter().map(|catalog| &*catalog.name).collect();
            vec![Detail::items("Catalogs", escaped(&names)), see_all()]
        }
    }
}

/// The command that shows all catalogs.
fn see_all() -> Detail {
    let command = "kubectl get clustercatalogs --show-labels";
    Detail::items("See", vec![command.to_owned()])
}

/// The command that shows one catalog. Omitted for a name that a shell would interpret.
fn see(catalog: &CatalogState) -> Detail {
    let is_plain = dns1123::is_subdomain(&catalog.name);
    let command = is_plain.then(|| format!("kubectl describe clustercatalog {}", catalog.name));
    Detail::items("See", command.into_iter().collect())
}

// === Row 17a: unknown policies ===

pub(super) fn policies(why: &str) -> RefusalWords {
    RefusalWords::new("", words("not all policies of the cluster are known yet"))
        .with([Detail::sentences("Cause", vec![why.to_owned()])])
        .needing("olmguard must be able to list UpgradePolicies and UpgradeGuardrails.")
}
