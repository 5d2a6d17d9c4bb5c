//! An installed bundle of which only the version is known: an answer counts if every name gives it.
//!
//! OLM compares the name with `replaces` and `skips`, and the version with `skipRange`. So without the name, an upgrade
//! by its skipRange is known, and a missing upgrade is not.

use std::collections::BTreeSet;

use crate::extension::{Installed, InstalledBundle, UnknownCause};
use crate::judge::filter_question::FilterQuestion;
use crate::judge::identify::fitting_names;
use crate::judge::read_installed::ReadInstalled;
use crate::judge::rule::rule_question;
use crate::judge::{RuledEdit, Ruling, Verdict};
use crate::resolve::{Choice, EditContext};

/// Rows 4 to 18 for every name that an edge starts at, and for one that no edge mentions.
pub(super) fn of_any_name<'s>(
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

/// What an edit comes to, whatever row says it.
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
