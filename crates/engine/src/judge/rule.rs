//! Rows 2 to 18 in the order of the table, for a request that can be read. Also the bundles that the successor rule
//! accepts, for reports.

use std::collections::BTreeSet;

use crate::extension::{Filter, Installed, InstalledBundle, UnknownCause};
use crate::judge::identify::{fitting_names, names_of_edges};
use crate::judge::question::{FilterQuestion, ReadInstalled};
use crate::judge::rows::resolve;
use crate::judge::ruling::RuledEdit;
use crate::judge::walk::StepsAhead;
use crate::judge::{Basis, Ruling, Token, Verdict, step_rows};
use crate::resolve::{Choice, EditContext, MOST_COMPARISONS};
use olmguard_policy::Conditions;

/// One request to resolve, with the installed bundle.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The filter of the extension.
    pub filter: &'a Filter,
    /// The installed bundle.
    pub installed: &'a Installed,
    /// Further facts about the edit, which upgrade policies and row 15a read.
    pub context: EditContext<'a>,
}

impl<'a> Request<'a> {
    /// The same request, with the conditions of upgrade policies evaluated only as far as `conditions` allows.
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

/// Evaluates rows 2 to 18.
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
            rule_question(&question, &installed, request.context, 1)
        }
    }
}

/// Evaluates rows 4 to 18 for a filter that was looked up in the catalogs: what OLM does, and what the rules of authors
/// and administrators forbid. The comparisons of one question are shared by `judgements` like this one.
pub(super) fn rule_question<'s>(
    question: &FilterQuestion<'_, 's>,
    installed: &ReadInstalled<'_>,
    context: EditContext<'_>,
    judgements: usize,
) -> RuledEdit<'s> {
    let mut ruled = resolve(question, installed); // 4 to 15, and 18
    step_rows::put_preflight(&mut ruled, question, installed, context); // 15a
    let ahead = StepsAhead::of(question, installed).installed_as(context.install);
    let mut ahead = ahead.with_first(&ruled).shared_by(judgements);
    step_rows::put_guardrails(&mut ruled, &mut ahead); // 16
    step_rows::put_policies(&mut ruled, &mut ahead, context); // 17
    step_rows::put_unlisted(&mut ruled, question.basis); // 17a
    ruled
}

/// Evaluates rows 4 to 18 for an installed bundle without a name. The answer counts only if it is the same for every
/// name that an edge mentions, and for a name that no edge mentions.
///
/// OLM compares the name with `replaces` and `skips`, and the version with `skipRange`. So without the name, an upgrade
/// through a `skipRange` is certain, but the absence of an upgrade is not.
fn of_any_name<'s>(
    question: &FilterQuestion<'_, 's>,
    installed: &InstalledBundle,
    context: EditContext<'_>,
) -> RuledEdit<'s> {
    let names = names_of_edges(question.offers());
    // An entry without `replaces` is an edge of the empty name, which no bundle has.
    let names: BTreeSet<_> = names.filter(|name| !name.is_empty()).collect();
    let judgements = names.len() + 1;
    let ruled_for = |name: Option<&str>, judgements| {
        let installed = Installed::Bundle(InstalledBundle {
            name: name.map(str::to_owned),
            ..installed.clone()
        });
        let rules = question.basis.snapshot.rules();
        let installed = ReadInstalled::of(&installed, rules);
        rule_question(question, &installed, context, judgements)
    };
    // Often the only one: a rule about a later step is compared as for any other bundle.
    let unmentioned = ruled_for(None, 1);
    if unmentioned.ruling.token().verdict() == Verdict::Undecided {
        return unmentioned;
    }
    // Rules are compared only with an edit that the catalogs allow.
    let of_step = |_| step_rows::weight(question, context);
    let weight = unmentioned.resolved().map_or(0, of_step);
    let is_bounded =
        names.len() <= MOST_NAMES && weight.saturating_mul(judgements) <= MOST_COMPARISONS;
    let is_same = |name| comes_to(&ruled_for(Some(name), judgements)) == comes_to(&unmentioned);
    if is_bounded && names.into_iter().all(is_same) {
        return unmentioned;
    }
    let names = fitting_names(installed, question.offers());
    let names = names.into_iter().map(str::to_owned).collect();
    Ruling::InstalledUnknown(UnknownCause::Nameless { names }).into()
}

/// The outcome of an edit, whichever row gives it.
fn comes_to<'s>(ruled: &RuledEdit<'s>) -> (Verdict, Option<Choice<'s>>, bool) {
    let ruling = &ruled.ruling;
    (
        ruling.token().verdict(),
        ruled.resolved(),
        ruling.forbids_move(),
    )
}

/// The most names that are tried. Each name costs a full judgement, and all of them together have as many comparisons
/// as one question. No recorded package has more.
const MOST_NAMES: usize = 1024;

// === The bundles that the successor rule accepts, whatever the range and the policy ===
//
// A large package can have thousands of them, and no row needs them. So they are computed only for a report that lists
// them.

/// The bundles of the requested channels that the successor rule accepts, in each catalog that has the package.
///
/// Returns `None` if no readable bundle is installed, or if one of rows 1 to 7 or 10a answered.
pub fn successors<'s>(
    basis: Basis<'s>,
    request: &Request<'_>,
    ruling: &Ruling<'_>,
) -> Option<Vec<Choice<'s>>> {
    let token = ruling.token();
    if token <= Token::InstalledVersionInvalid || token == Token::BrokenSkipRange {
        return None;
    }
    let question = FilterQuestion::of(basis, request.filter).ok()?;
    let installed = ReadInstalled::of(request.installed, basis.snapshot.rules());
    let origin = installed.origin()?;
    let mut accepted = Vec::new();
    for offer in question.offers() {
        let bundles = offer.accepted(origin).bundles;
        accepted.extend(bundles.iter().map(|index| offer.choice(index)));
    }
    Some(accepted)
}
