//! Why the catalogs do not answer, and where to look for the cause.
//!
//! How long ago something was known is in none of these texts: it differs between replicas.

use crate::explain::refusal::{Detail, detail, names, sentences};
use crate::explain::text::CutLine;
use crate::judge::{NoCatalogs, OutdatedCatalogs};
use crate::resolve::{NotLoaded, NotLoadedCause};
use crate::snapshot::CatalogState;
use olmguard_catalog::dns1123;

/// Why none is in play.
pub(super) fn none(none: NoCatalogs) -> &'static str {
    match none {
        NoCatalogs::NoneGiven => "no catalog is given",
        NoCatalogs::NoneExist => "there is no ClusterCatalog",
        NoCatalogs::NoneMatch => "the selector matches no ClusterCatalog",
        NoCatalogs::AllUnavailable => "every ClusterCatalog that matches is Unavailable",
    }
}

/// Why one in play does not answer.
pub(super) fn not_loaded(failed: &NotLoaded<'_>) -> CutLine {
    let line = CutLine::default()
        .say("catalog ")
        .name(&failed.catalog.name);
    match failed.why {
        NotLoadedCause::NotServing => line.say(" is not being served"),
        NotLoadedCause::Missing | NotLoadedCause::Unfetched(_) | NotLoadedCause::Unreadable(_) => {
            line.say(" is not loaded")
        }
        NotLoadedCause::Package(_) => line.say(" has the package, but it cannot be decoded"),
    }
}

/// Why some in play are not asked.
pub(super) fn outdated(old: &[&CatalogState]) -> CutLine {
    let line = CutLine::default().say("the content of ").then(named(old));
    line.say(" was last confirmed current too long ago")
}

/// One by its name, several by their number.
fn named(catalogs: &[&CatalogState]) -> CutLine {
    let line = CutLine::default();
    match catalogs {
        [only] => line.say("catalog ").name(&only.name),
        all => line.say(&format!("{} catalogs", all.len())),
    }
}

/// What is known of a catalog that does not answer.
pub(super) fn of_not_loaded(failed: &NotLoaded<'_>) -> Vec<Detail> {
    let causes = match failed.why {
        NotLoadedCause::Unfetched(error) | NotLoadedCause::Unreadable(error) => {
            vec![error.to_owned()]
        }
        NotLoadedCause::Package(fault) => fault.faults.iter().map(ToString::to_string).collect(),
        NotLoadedCause::NotServing | NotLoadedCause::Missing => Vec::new(),
    };
    // Of content that was read the cluster says nothing; nor of a catalog that was never in one.
    let tells = match failed.why {
        NotLoadedCause::NotServing => true,
        NotLoadedCause::Missing | NotLoadedCause::Unfetched(_) | NotLoadedCause::Unreadable(_) => {
            failed.catalog.digest().is_some()
        }
        NotLoadedCause::Package(_) => false,
    };
    let see = tells.then(|| see(failed.catalog));
    [sentences("Cause", causes)]
        .into_iter()
        .chain(see)
        .collect()
}

/// What is known of catalogs that are outdated.
pub(super) fn of_outdated(outdated: &OutdatedCatalogs<'_>) -> Vec<Detail> {
    let cause = match outdated {
        OutdatedCatalogs::TooOld(_) => None,
        OutdatedCatalogs::Superseded { catalogs, .. } => Some(superseded(catalogs)),
    };
    let which = match outdated.catalogs() {
        [only] => vec![see(only)],
        all => {
            let all: Vec<_> = all.iter().map(|catalog| catalog.name.as_str()).collect();
            vec![detail("Catalogs", names(&all)), see_all()]
        }
    };
    cause.into_iter().chain(which).collect()
}

/// Why a row does not deny by the content of these.
fn superseded(catalogs: &[&CatalogState]) -> Detail {
    let has = if catalogs.len() > 1 { "have" } else { "has" };
    let why = format!(
        "{} {has} newer content that is not loaded yet",
        named(catalogs)
    );
    sentences("Cause", vec![why])
}

/// What to do if no catalog is selected.
pub(super) fn of_none(none: NoCatalogs) -> Detail {
    match none {
        NoCatalogs::NoneGiven => detail(
            "Fix",
            vec!["use --catalog NAME=PATH, --snapshot FILE or --from-cluster".to_owned()],
        ),
        NoCatalogs::NoneExist | NoCatalogs::NoneMatch | NoCatalogs::AllUnavailable => see_all(),
    }
}

/// Where to look for all catalogs.
fn see_all() -> Detail {
    detail(
        "See",
        vec!["kubectl get clustercatalogs --show-labels".to_owned()],
    )
}

/// Where to look for one; nothing that a shell would read otherwise is put into a command.
fn see(catalog: &CatalogState) -> Detail {
    let is_plain = dns1123::is_subdomain(&catalog.name);
    let command = is_plain.then(|| format!("kubectl describe clustercatalog {}", catalog.name));
    detail("See", command.into_iter().collect())
}
