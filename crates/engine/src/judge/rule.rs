//! Rows 2 to 18, for a request that can be read, in the order of the table.

use std::collections::BTreeSet;

use crate::extension::{Filter, Installed, InstalledBundle, UnknownCause};
use crate::judge::identify::fitting_names;
use crate::judge::question::{FilterQuestion, ReadInstalled};
use crate::judge::rows::resolve;
use crate::judge::walk::StepsAhead;
use crate::judge::{Basis, RuledEdit, Ruling, Verdict, guardrail_row, policy_row, preflight_row};
use crate::resolve::{Choice, EditContext};
use olmguard_policy::Conditions;

/// One request to resolve, with what is installed.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The filter of the extension.
    pub filter: &'a Filter,
    /// What is installed.
    pub installed: &'a Installed,
    /// What upgrade policies also decide by.
    pub context: EditContext<'a>,
}

impl<'a> Request<'a> {
    /// The same request, with the conditions of upgrade policies evaluated as far as this.
    pub(super) fn with_conditions<'b>(self, conditions: Conditions<'b>) -> Request<'b>
    where
        'a: 'b,
    {
        let context = EditContext {
            conditions,
            ..self.context
        };
        Request { context, ..self }
    }
}

/// Rows 2 to 18.
pub fn rule<'s>(basis: Basis<'s>, request: &Request<'_>) -> RuledEdit<'s> {
    let question = match FilterQuestion::of(basis, request.filter) {
        Ok(question) => question,
        Err(error) => return Ruling::from(error).into(), // 2 and 3
    };
    match request.installed {
        Installed::Bundle(bundle) if bundle.name.is_none() && !request.filter.bypasses() => {
            of_any_name(&question, bundle, request.context)
        }
        installed => {
            let installed = ReadInstalled::of(installed, basis.snapshot.rules());
            rule_question(&question, &installed, request.context)
        }
    }
}

/// Rows 4 to 18, for a filter that was put to the catalogs: what OLM does, and what the rules of authors and
/// administrators forbid of it.
pub(super) fn rule_question<'s>(
    question: &FilterQuestion<'_, 's>,
    installed: &ReadInstalled<'_>,
    context: EditContext<'_>,
) -> RuledEdit<'s> {
    let mut ruled = resolve(question, installed); // 4 to 15, and 18
    preflight_row::put(&mut ruled, question, installed, context); // 15a
    let ahead = StepsAhead::of(question, installed).installed_as(context.install);
    let mut ahead = ahead.with_first(&ruled);
    guardrail_row::put(&mut ruled, &mut ahead); // 16
    policy_row::put(&mut ruled, &mut ahead, context); // 17
    policy_row::put_unlisted(&mut ruled, question.basis); // 17a
    ruled
}

/// Rows 4 to 18 for an installed bundle without a name: an answer counts if every name that an edge starts at gives it,
/// and one that no edge mentions.
///
/// OLM compares the name with `replaces` and `skips`, and the version with `skipRange`. So without the name, an upgrade
/// by its skipRange is known, and a missing upgrade is not.
fn of_any_name<'s>(
    question: &FilterQuestion<'_, 's>,
    installed: &InstalledBundle,
    context: EditContext<'_>,
) -> RuledEdit<'s> {
    let ruled_for = |name: Option<&str>| {
        let installed = Installed::Bundle(InstalledBundle {
            name: name.map(str::to_owned),
            ..installed.clone()
        });
        let rules = question.basis.snapshot.rules();
        rule_question(question, &ReadInstalled::of(&installed, rules), context)
    };
    let unmentioned = ruled_for(None);
    if unmentioned.ruling.token().verdict() == Verdict::Undecided {
        return unmentioned;
    }
    let offers = question.offers().iter();
    let names = offers.flat_map(|offer| offer.package.names_of_edges());
    // An entry without `replaces` is an edge of the empty name, which no bundle has.
    let names: BTreeSet<_> = names.filter(|name| !name.is_empty()).collect();
    let is_same = |name| comes_to(&ruled_for(Some(name))) == comes_to(&unmentioned);
    if names.len() <= MOST_NAMES && names.into_iter().all(is_same) {
        return unmentioned;
    }
    let names = fitting_names(installed, question.offers());
    let names = names.into_iter().map(str::to_owned).collect();
    Ruling::InstalledUnknown(UnknownCause::Nameless { names }).into()
}

/// The result of an edit, whatever row gives it.
fn comes_to<'s>(ruled: &RuledEdit<'s>) -> (Verdict, Option<Choice<'s>>, bool) {
    let ruling = &ruled.ruling;
    (
        ruling.token().verdict(),
        ruled.resolved(),
        ruling.forbids_move(),
    )
}

/// How many names are tried: each is a judgement of its own. No package recorded has more.
const MOST_NAMES: usize = 1024;
