//! The newest version of a range, where the edit installs a lower one first.

use crate::judge::filter_question::FilterQuestion;
use crate::judge::read_installed::ReadInstalled;
use crate::judge::walk::StepsAhead;
use crate::judge::warning::{Continuation, Warning};
use crate::judge::{Basis, Edit, RuledEdit};
use crate::resolve::{Choice, Origin};

/// Looked for in the catalog resolved to: between catalogs priority decides.
pub(super) fn not_direct<'s>(
    basis: Basis<'s>,
    edit: &Edit<'_>,
    ruled: &RuledEdit<'s>,
    resolved: Choice<'s>,
) -> Option<Warning<'s>> {
    let newest = newest(ruled, resolved).filter(|newest| is_higher(*newest, resolved))?;
    Some(Warning::NewestNotDirect {
        newest,
        resolved,
        then: continuation(basis, edit, newest, resolved),
    })
}

/// The highest bundle of the range that is not deprecated.
fn newest<'s>(ruled: &RuledEdit<'s>, resolved: Choice<'s>) -> Option<Choice<'s>> {
    let there = ruled.matched.iter().find(|m| resolved.is_of(m.catalog))?;
    let package = there.package;
    let mut candidates = there.candidates.iter();
    let index = candidates.find(|index| !package.is_deprecated(*index))?;
    Some(Choice {
        catalog: there.catalog,
        package,
        index,
    })
}

fn is_higher(newest: Choice<'_>, resolved: Choice<'_>) -> bool {
    let (high, low) = (&newest.bundle().version, &resolved.bundle().version);
    let both = high.as_ref().ok().zip(low.as_ref().ok());
    both.is_some_and(|(high, low)| high.version.cmp_precedence(&low.version).is_gt())
}

/// Where OLM goes from what is resolved to, as far as that is looked at.
fn continuation<'s>(
    basis: Basis<'s>,
    edit: &Edit<'_>,
    newest: Choice<'s>,
    resolved: Choice<'s>,
) -> Continuation<'s> {
    let installed = Origin::of_choice(resolved, basis.snapshot.rules());
    let filter = edit.new.filter.as_ref().ok();
    let question = filter.and_then(|filter| FilterQuestion::of(basis, filter).ok());
    let Some((question, installed)) = question.zip(installed) else {
        return Continuation::Unknown;
    };
    let installed = ReadInstalled::Bundle(Ok(installed));
    let bundles = resolved.package.bundle_count().max(1);
    let most = MOST_BUNDLES / bundles;
    let mut last = resolved;
    let steps = StepsAhead::of(&question, &installed).choices();
    for (looked_at, step) in steps.enumerate() {
        if looked_at == most {
            return Continuation::Unknown;
        }
        last = step;
    }
    if last == newest {
        Continuation::Newest
    } else {
        Continuation::Stops(last)
    }
}

/// How many bundles are looked at: each step looks at all of a package, and an edit waits for the answer. It is
/// enough for a walk through each of 360 bundles; the largest package recorded has 203.
const MOST_BUNDLES: usize = 1 << 17;
