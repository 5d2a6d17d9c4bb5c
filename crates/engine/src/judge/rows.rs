//! The decision table: the rows in their order. The first row that fits gives the answer.
//!
//! Rows 1 to 3 are evaluated before any catalog is read. Then come [`STATE`], [`CONTENT`] and the choice of OLM, in
//! this order. Rows 16 and 17 follow in `rule`, because they concern every step that OLM then takes.

use std::cmp::Ordering;

use crate::extension::{Filter, FilterError, FilterProblem};
use crate::judge::question::{FilterQuestion, ReadInstalled, RowCase};
use crate::judge::{
    AllowedChange, Edit, Jump, NoCatalogs, OutdatedCatalogs, Request, RuledEdit, Ruling, SpecFault,
    Verdict, nearby,
};
use crate::resolve::{Choice, ChoiceError, InPlay, Match, Origin, QueryError, choose};
use crate::snapshot::{CatalogState, Currency};
use olmguard_catalog::olm::EmptyPackage;

/// The request, or the faults of row 1, at least one: the filter cannot be read or is too large, or the CRD would
/// refuse the object.
pub(super) fn spec_row<'a>(edit: &Edit<'a>) -> Result<Request<'a>, Vec<SpecFault>> {
    let unreadable = match &edit.new.filter {
        Err(error) => Some(error.clone()),
        Ok(filter) => too_large(edit, filter),
    };
    let field = unreadable.as_ref().map(|error| error.field.clone());
    let others = edit.schema.iter();
    let others = others.filter(|finding| field.as_ref() != Some(&finding.path));
    let others = others.cloned().map(SpecFault::Schema);
    let unreadable = unreadable.into_iter().map(SpecFault::Filter);
    let faults: Vec<_> = unreadable.chain(others).collect();
    let request = edit.request().filter(|_| faults.is_empty());
    request.ok_or(faults)
}

/// Refuses a filter that can only cost time. The limit is ours, not OLM's.
fn too_large(edit: &Edit<'_>, filter: &Filter) -> Option<FilterError> {
    let most = Filter::MOST_ENTRIES;
    (filter.entries() > most).then(|| FilterError {
        field: edit.new.fields.prefix().to_owned(),
        problem: FilterProblem::TooLarge { most },
    })
}

/// Evaluates rows 4 to 15, and row 18 if they allow the edit: what OLM does.
pub(super) fn resolve<'s>(
    question: &FilterQuestion<'_, 's>,
    installed: &ReadInstalled<'_>,
) -> RuledEdit<'s> {
    let case = RowCase::of(question, installed);
    if let Some(ruling) = first(&STATE, &case) {
        return ruling.into();
    }
    let ruled = match first(&CONTENT, &case) {
        Some(ruling) => case.with_evidence(ruling),
        None => chosen(case),
    };
    unless_superseded(ruled, &question.in_play)
}

/// A row: returns its ruling if it fits the case.
type Row = for<'s> fn(&RowCase<'_, 's>) -> Option<Ruling<'s>>;

/// The ruling of the first row that fits. A loop, because `find_map` also copies the result of each row that does not
/// fit.
fn first<'s>(rows: &[Row], case: &RowCase<'_, 's>) -> Option<Ruling<'s>> {
    for row in rows {
        let ruling = row(case);
        if ruling.is_some() {
            return ruling;
        }
    }
    None
}

/// The rows about the selected catalogs and the installed bundle.
const STATE: [Row; 4] = [
    none_in_play,      // 4
    installed_unknown, // 4a
    not_loaded,        // 5
    too_old,           // 5a
];

/// The rows about the content of the catalogs. If none of them fits, OLM chooses (rows 11 to 15 and 18). None of these
/// rows denies while a catalog has newer content: see row 5b.
///
/// Up to v1.1, OLM read the installed version (row 7) before it looked for the package (row 6). If the package is
/// found, the order makes no difference.
const CONTENT: [Row; 6] = [
    installed_unreadable, // 7
    no_package,           // 6
    no_channel,           // 8
    in_other_channels,    // 9
    no_version,           // 10
    broken_skip_range,    // 10a
];

/// Rows 2 and 3.
impl From<QueryError> for Ruling<'_> {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Selector(error) => Self::InvalidSelector(error),
            QueryError::Range(error) => Self::InvalidVersionRange(error),
        }
    }
}

// === Rows 4 to 5a: which catalogs are selected, and whether they can answer ===

/// Row 4.
fn none_in_play<'s>(case: &RowCase<'_, 's>) -> Option<Ruling<'s>> {
    let in_play = &case.question.in_play;
    let snapshot = case.question.basis.snapshot;
    let why = match (snapshot.catalogs(), in_play.unavailable) {
        ([], _) if !snapshot.is_given() => NoCatalogs::NoneGiven,
        ([], _) => NoCatalogs::NoneExist,
        (_, 0) => NoCatalogs::NoneMatch,
        _ => NoCatalogs::AllUnavailable,
    };
    in_play
        .catalogs
        .is_empty()
        .then_some(Ruling::NoCatalogs(why))
}

/// Row 4a.
fn installed_unknown<'s>(case: &RowCase<'_, 's>) -> Option<Ruling<'s>> {
    match case.installed {
        ReadInstalled::Unknown(why) if !case.question.filter.bypasses() => {
            Some(Ruling::InstalledUnknown((*why).clone()))
        }
        _ => None,
    }
}

/// Row 5.
fn not_loaded<'s>(case: &RowCase<'_, 's>) -> Option<Ruling<'s>> {
    let failed = case.question.offers.as_ref().err()?;
    Some(Ruling::CatalogNotLoaded(*failed))
}

/// Row 5a.
fn too_old<'s>(case: &RowCase<'_, 's>) -> Option<Ruling<'s>> {
    let old = case.question.in_play.too_old();
    (!old.is_empty()).then_some(Ruling::CatalogOutdated(OutdatedCatalogs::TooOld(old)))
}

// === Rows 6 to 10: the candidates that the filter leaves, before upgrade edges count ===

/// Row 7.
fn installed_unreadable<'s>(case: &RowCase<'_, 's>) -> Option<Ruling<'s>> {
    match case.installed {
        ReadInstalled::Bundle(Err(error))
            if !case.question.filter.bypasses() && reads_installed(case) =>
        {
            Some(Ruling::InstalledVersionInvalid(error.clone()))
        }
        _ => None,
    }
}

/// Whether OLM reads the installed version in this case. Up to v1.1 it did so even if no catalog has the package.
fn reads_installed(case: &RowCase<'_, '_>) -> bool {
    let rules = case.question.basis.snapshot.rules();
    !case.matches.is_empty() || rules.empty_package == EmptyPackage::Walked
}

/// Row 6.
fn no_package<'s>(case: &RowCase<'_, 's>) -> Option<Ruling<'s>> {
    let catalogs = &case.question.in_play.catalogs;
    case.matches.is_empty().then(|| Ruling::PackageNotFound {
        searched: catalogs.iter().map(|catalog| &*catalog.name).collect(),
        nearest: nearby::packages(&case.question.filter.package, catalogs),
    })
}

/// Row 8.
fn no_channel<'s>(case: &RowCase<'_, 's>) -> Option<Ruling<'s>> {
    let filter = case.question.filter;
    if filter.channels.is_empty() || case.has_candidates() {
        return None;
    }
    let exists = |name: &String| case.offers().any(|offer| offer.package.has_channel(name));
    (!filter.channels.iter().any(exists)).then(|| Ruling::ChannelNotFound {
        existing: nearby::channels(filter, case.offers()),
    })
}

/// Row 9.
fn in_other_channels<'s>(case: &RowCase<'_, 's>) -> Option<Ruling<'s>> {
    if case.has_candidates() {
        return None;
    }
    let having = nearby::elsewhere(&case.question.query, case.offers())?;
    Some(Ruling::NotInChannel { having })
}

/// Row 10.
fn no_version<'s>(case: &RowCase<'_, 's>) -> Option<Ruling<'s>> {
    (!case.has_candidates()).then(|| Ruling::VersionNotFound {
        nearest: nearby::versions(case.question.filter, case.offers()),
    })
}

// === Rows 10a to 15, and 18: the choice of OLM among the candidates ===

/// Row 10a: OLM crashes on a candidate before it finds an edge.
fn broken_skip_range<'s>(case: &RowCase<'_, 's>) -> Option<Ruling<'s>> {
    let mut matches = case.matches.iter();
    matches.find_map(|found| {
        let first = found.crashing?;
        Some(Ruling::BrokenSkipRange(found.offer.choice(first)))
    })
}

/// Rows 11 to 15 and 18. One of them fits whatever the choice is.
fn chosen<'s>(case: RowCase<'_, 's>) -> RuledEdit<'s> {
    let resolved = match choose(&case.matches) {
        Ok(resolved) => resolved,
        Err(error) => {
            let ruling = refusal(&case, error);
            return case.with_evidence(ruling);
        }
    };
    let allowed = how(&case, resolved.choice);
    let mut ruled = case.with_evidence(Ruling::Allowed(allowed, resolved.choice));
    ruled.deprecations_of = resolved.deprecations_of;
    ruled
}

fn refusal<'s>(case: &RowCase<'_, 's>, error: ChoiceError<'s>) -> Ruling<'s> {
    match error {
        ChoiceError::Nothing => no_successor(case),
        ChoiceError::Ambiguous(left) => Ruling::AmbiguousCatalogs(left),
        ChoiceError::BundleVersion(choice, error) => Ruling::BundleVersionInvalid(choice, error),
        ChoiceError::Dependency(choice, kind) => Ruling::UnsupportedDependency(choice, kind),
    }
}

/// Rows 11 and 12. Only upgrade edges remove candidates here, so a bundle is installed.
fn no_successor<'s>(case: &RowCase<'_, 's>) -> Ruling<'s> {
    let candidates = || {
        let offers = case.offers();
        offers.flat_map(|offer| offer.candidates.iter().map(|index| offer.choice(index)))
    };
    let older = |choice: Choice<'s>| {
        let origin = case.origin();
        origin.is_some_and(|origin| origin.is_newer_than(choice.package, choice.index))
    };
    let count = candidates().count();
    match foremost(&case.matches) {
        Some(best) if candidates().all(older) => Ruling::Downgrade(best, count),
        Some(best) => Ruling::NotASuccessor(best, count),
        None => Ruling::VersionNotFound {
            nearest: Vec::new(),
        },
    }
}

fn how<'s>(case: &RowCase<'_, 's>, choice: Choice<'s>) -> AllowedChange {
    match (case.installed, case.origin()) {
        (ReadInstalled::Nothing, _) => AllowedChange::Resolved,
        (_, None) => AllowedChange::Bypassed(Jump::Unknown),
        (_, Some(origin)) if origin.is_at(choice.bundle()) => AllowedChange::Unchanged,
        (_, Some(origin)) if is_successor(case, choice, origin) => AllowedChange::Resolved,
        (_, Some(origin)) => AllowedChange::Bypassed(jump(choice, origin)),
    }
}

/// Whether the choice is a successor. Without a bypass it always is, because only successors are left.
fn is_successor<'s>(case: &RowCase<'_, 's>, choice: Choice<'s>, origin: &Origin<'_>) -> bool {
    let mut offers = case.offers();
    let offer = offers.find(|offer| choice.is_of(offer.catalog));
    !case.question.filter.bypasses()
        || offer.is_some_and(|offer| offer.accepts(choice.index, origin))
}

/// The bundle that represents all candidates in a message: the one that OLM would choose without edges, otherwise the
/// best bundle of the first catalog that has one.
fn foremost<'s>(matches: &[Match<'_, 's>]) -> Option<Choice<'s>> {
    let free = matches.iter();
    let free: Vec<_> = free
        .map(|found| Match::without_edges(found.offer))
        .collect();
    match choose(&free) {
        Ok(resolved) => Some(resolved.choice),
        Err(_) => free.iter().find_map(|found| {
            let best = found.offer.package.preferred(&found.matched)?;
            Some(found.offer.choice(best))
        }),
    }
}

fn jump(choice: Choice<'_>, origin: &Origin<'_>) -> Jump {
    let (Some(here), Ok(there)) = (origin.version(), &choice.bundle().version) else {
        return Jump::Unknown;
    };
    match there.version.cmp_precedence(&here.version) {
        Ordering::Less => Jump::Downgrade,
        Ordering::Equal => Jump::Sideways,
        Ordering::Greater => Jump::Leap,
    }
}

// === Row 5b: superseded content does not deny because of what it is missing ===

/// Replaces a denial by rows 6 to 15 with row 5b while a selected catalog is superseded.
///
/// A ClusterCatalog with another digest than the loaded content has newer content. That content may have the package,
/// channel, version or edge that rows 6 to 15 miss. So those rows deny only if every selected catalog is current. An
/// edit that resolves is still allowed, and rows 16 and 17 still deny, because they depend on what the loaded content
/// has.
fn unless_superseded<'s>(ruled: RuledEdit<'s>, in_play: &InPlay<'s>) -> RuledEdit<'s> {
    let catalogs = superseded(in_play);
    if catalogs.is_empty() || ruled.ruling.token().verdict() != Verdict::Deny {
        return ruled;
    }
    let denial = Box::new(ruled.ruling);
    Ruling::CatalogOutdated(OutdatedCatalogs::Superseded { catalogs, denial }).into()
}

pub(super) fn superseded<'s>(in_play: &InPlay<'s>) -> Vec<&'s CatalogState> {
    let catalogs = in_play.catalogs.iter().copied();
    let is_superseded = |catalog: &&CatalogState| catalog.currency == Currency::Superseded;
    catalogs.filter(is_superseded).collect()
}
