//! Rows 2 to 18, for a request that can be read, in the order of the table.

use crate::extension::{Filter, Installed};
use crate::judge::filter_question::FilterQuestion;
use crate::judge::nameless::of_any_name;
use crate::judge::read_installed::ReadInstalled;
use crate::judge::rows::resolve;
use crate::judge::walk::StepsAhead;
use crate::judge::{Basis, RuledEdit, Ruling, guardrail_row, policy_row};
use crate::resolve::EditContext;
use olmguard_policy::Conditions;

/// What resolution is asked.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What the extension asks for.
    pub filter: &'a Filter,
    /// What is installed.
    pub installed: &'a Installed,
    /// What upgrade policies decide by besides.
    pub context: EditContext<'a>,
}

impl<'a> Request<'a> {
    /// The same, with the conditions of upgrade policies evaluated so far.
    #[must_use]
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
    match FilterQuestion::of(basis, request.filter) {
        Ok(question) => match request.installed {
            Installed::Bundle(bundle) if bundle.name.is_none() && !request.filter.bypasses() => {
                of_any_name(&question, bundle, request.context)
            }
            installed => {
                let installed = ReadInstalled::of(installed, basis.snapshot.rules());
                rule_question(&question, &installed, request.context)
            }
        },
        Err(error) => Ruling::from(error).into(),
    }
}

/// Rows 4 to 18, for a filter that was put to the catalogs: what OLM does, and what the rules of authors and
/// administrators forbid of it.
pub(super) fn rule_question<'s>(
    question: &FilterQuestion<'_, 's>,
    installed: &ReadInstalled<'_>,
    context: EditContext<'_>,
) -> RuledEdit<'s> {
    let mut ruled = resolve(question, installed);
    let mut ahead = StepsAhead::of(question, installed).with_first(&ruled);
    guardrail_row::put(&mut ruled, &mut ahead);
    policy_row::put(&mut ruled, &mut ahead, context);
    policy_row::put_unlisted(&mut ruled, question.basis);
    ruled
}
