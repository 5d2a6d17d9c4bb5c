//! Ways of an extension that sets the bypass: edges do not bind it, but what administrators do not let
//! the bypass lift does.
//!
//! One edit leads anywhere, unless guardrails forbid that step. Then a way is looked for along edges,
//! as the advice of `check` does; that there is none does not mean that no edits lead there.

use crate::path::{Sought, is_at, way as way_along_edges};
use crate::see::{Decision, Inquiry, is_given};
use olmguard_engine::extension::InstalledBundle;
use olmguard_engine::judge::{Token, pin, recorded, walk};
use olmguard_engine::resolve::{Choice, Origin};

/// The one edit that leads to one of these bundles, else to the best; where guardrails forbid it, the
/// edits along edges.
pub(super) fn way<'a>(
    inquiry: &Inquiry<'a>,
    origin: &Origin<'_>,
    targets: Option<&[Choice<'a>]>,
) -> Sought<'a> {
    let mut is_forbidden = false;
    for to in wanted(inquiry, origin, targets) {
        match edit(inquiry, &inquiry.installed, &to) {
            Edit::Given => return sought(Some(vec![to])),
            Edit::Forbidden => is_forbidden = true,
            Edit::Otherwise => {}
        }
    }
    if is_forbidden {
        along_edges(inquiry, origin, targets)
    } else {
        sought(None)
    }
}

/// Where one edit is to lead: to one of these bundles, else to what the request resolves to by itself,
/// unless that is lower than what is installed.
pub(super) fn wanted<'a>(
    inquiry: &Inquiry<'a>,
    origin: &Origin<'_>,
    targets: Option<&[Choice<'a>]>,
) -> Vec<Choice<'a>> {
    let wanted = match targets {
        Some(targets) => targets.to_vec(),
        None => best(inquiry, origin).into_iter().collect(),
    };
    let elsewhere = wanted.into_iter().filter(|to| !is_at(Some(origin), *to));
    elsewhere.collect()
}

fn best<'a>(inquiry: &Inquiry<'a>, origin: &Origin<'_>) -> Option<Choice<'a>> {
    let walk = walk(inquiry.basis, inquiry.filter, &inquiry.installed);
    let last = walk.steps.last().copied();
    last.filter(|last| !origin.is_newer_than(last.package, last.index))
}

fn along_edges<'a>(
    inquiry: &Inquiry<'a>,
    origin: &Origin<'_>,
    targets: Option<&[Choice<'a>]>,
) -> Sought<'a> {
    let found = way_along_edges(inquiry, origin, targets, &inquiry.bounds());
    Sought {
        way: found.way.filter(|way| is_admitted(inquiry, way)),
        is_along_edges: true,
        ..found
    }
}

/// Whether each edit is allowed and leads to its bundle, with the one before installed: the search took
/// only what edges lead to, and the bypass takes all.
fn is_admitted(inquiry: &Inquiry<'_>, way: &[Choice<'_>]) -> bool {
    let start = Some(inquiry.installed.clone());
    let end = way.iter().fold(start, |installed, hop| {
        let edit = edit(inquiry, &installed?, hop);
        let rules = inquiry.basis.snapshot.rules();
        recorded(*hop, rules).filter(|_| edit == Edit::Given)
    });
    end.is_some()
}

/// What becomes of an edit that pins a bundle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Edit {
    /// It is installed.
    Given,
    /// Guardrails forbid it.
    Forbidden,
    /// It cannot be pinned, or is refused for another reason, or the pin gives another bundle.
    Otherwise,
}

fn edit(inquiry: &Inquiry<'_>, installed: &InstalledBundle, to: &Choice<'_>) -> Edit {
    let Some(pin) = pin(*to) else {
        return Edit::Otherwise;
    };
    let pinned = inquiry.filter.with_version(&pin);
    let decision = Decision::new(inquiry.basis, &pinned, installed);
    let given = decision.given();
    match decision.token() {
        Token::Guardrail => Edit::Forbidden,
        _ if given.is_some_and(|bundle| is_given(to, &bundle)) => Edit::Given,
        _ => Edit::Otherwise,
    }
}

fn sought(way: Option<Vec<Choice<'_>>>) -> Sought<'_> {
    Sought {
        way,
        ..Sought::default()
    }
}
