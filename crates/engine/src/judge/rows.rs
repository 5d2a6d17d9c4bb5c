//! The decision table: the rows in their order, of which the first that fits answers.
//!
//! Rows 1 to 3 come before anything is looked for; then [`STATE`], [`CONTENT`] and what OLM chooses, one after
//! the other. Rows 16 and 17 follow in `rule`: they are about every step that OLM then takes.

mod case;
mod catalogs;
mod choice;
mod filter;

use crate::extension::{Filter, FilterError, FilterProblem};
use crate::judge::filter_question::FilterQuestion;
use crate::judge::read_installed::ReadInstalled;
use crate::judge::rows::case::Case;
use crate::judge::ruled::RuledEdit;
use crate::judge::superseded::unless_superseded;
use crate::judge::{Edit, Request, Ruling, SpecFault};
use crate::resolve::QueryError;

/// What is requested, unless row 1 answers, with one fault or more: the filter cannot be read or is too large, or the CRD would refuse the
/// object.
pub(super) fn spec_row<'a>(edit: &Edit<'a>) -> Result<Request<'a>, Vec<SpecFault>> {
    let unreadable = match &edit.new.filter {
        Err(error) => Some(SpecFault::Filter(error.clone())),
        Ok(filter) => too_large(edit, filter),
    };
    let named: Vec<&str> = match &unreadable {
        Some(SpecFault::Filter(error)) => vec![&error.field],
        _ => Vec::new(),
    };
    let schema = edit
        .schema
        .iter()
        .filter(|finding| !named.contains(&finding.path.as_str()));
    let faults: Vec<_> = unreadable
        .iter()
        .cloned()
        .chain(schema.cloned().map(SpecFault::Schema))
        .collect();
    let request = edit.request().filter(|_| faults.is_empty());
    request.ok_or(faults)
}

/// Ours, not OLM's: a filter that only costs time.
fn too_large(edit: &Edit<'_>, filter: &Filter) -> Option<SpecFault> {
    let most = Filter::MOST_ENTRIES;
    (filter.entries() > most).then(|| {
        SpecFault::Filter(FilterError {
            field: edit.new.fields.prefix().to_owned(),
            problem: FilterProblem::TooLarge { most },
        })
    })
}

/// Rows 4 to 15, and 18 for what they allow: what OLM does.
pub(super) fn resolve<'s>(
    question: &FilterQuestion<'_, 's>,
    installed: &ReadInstalled<'_>,
) -> RuledEdit<'s> {
    let mut case = Case::of(question, installed);
    if let Some(ruling) = first(&STATE, &case) {
        return ruling.into();
    }
    let ruled = match first(&CONTENT, &case) {
        Some(ruling) => case.with_evidence(ruling),
        None => choice::chosen(&mut case),
    };
    unless_superseded(ruled, &question.in_play)
}

/// What a row says of a case that it fits.
type Row = for<'s> fn(&Case<'_, 's>) -> Option<Ruling<'s>>;

/// What the first row says that fits. A loop: `find_map` copies what a row says that does not fit.
fn first<'s>(rows: &[Row], case: &Case<'_, 's>) -> Option<Ruling<'s>> {
    for row in rows {
        let ruling = row(case);
        if ruling.is_some() {
            return ruling;
        }
    }
    None
}

/// The rows about which catalogs there are, and what is installed.
const STATE: [Row; 4] = [
    catalogs::none_in_play,      // 4
    catalogs::installed_unknown, // 4a
    catalogs::not_loaded,        // 5
    catalogs::too_old,           // 5a
];

/// The rows about what the catalogs hold; where none of them fits, OLM chooses (rows 11 to 15 and 18). None of
/// these denies while a catalog has newer content: row 5b.
///
/// The installed version (7) was read before the package was looked for (6) until v1.1; where the package is
/// found, the order of the two makes no difference.
const CONTENT: [Row; 6] = [
    filter::installed_unreadable, // 7
    filter::no_package,           // 6
    filter::no_channel,           // 8
    filter::in_other_channels,    // 9
    filter::no_version,           // 10
    choice::broken_skip_range,    // 10a
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
