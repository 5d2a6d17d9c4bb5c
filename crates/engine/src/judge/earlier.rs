//! What is installed, where all that is known is what was asked for before.

use crate::extension::{Filter, Installed, InstalledBundle};
use crate::judge::walk::recorded;
use crate::judge::{Basis, Request, RuledEdit, identify, rule};
use crate::resolve::EditContext;
use olmguard_catalog::version::Constraint;

/// The bundle of the only version that an earlier filter takes; none where it takes others too.
///
/// Its name is looked up. Where no catalog has a bundle of just this version and release, the pin may
/// still resolve to one with a release of its own, and then that one counts.
pub fn pinned(basis: Basis<'_>, earlier: &Filter) -> Option<Installed> {
    let range = Constraint::parse(earlier.range()?, basis.snapshot.rules().masterminds).ok()?;
    let version = InstalledBundle {
        version: range.only()?,
        ..InstalledBundle::default()
    };
    let pinned = identify(basis.snapshot, earlier, Installed::Bundle(version));
    Some(match &pinned {
        Installed::Inferred(_) | Installed::Bundle(InstalledBundle { name: None, .. }) => {
            resolved(basis, earlier).unwrap_or(pinned)
        }
        _ => pinned,
    })
}

/// What an earlier filter resolves to today, where nothing is installed.
///
/// # Errors
/// The row that says why it resolves to nothing.
pub fn resolved<'s>(basis: Basis<'s>, earlier: &Filter) -> Result<Installed, Box<RuledEdit<'s>>> {
    let request = Request {
        filter: earlier,
        installed: &Installed::Nothing,
        context: EditContext::unknown(),
    };
    let ruled = rule(basis, &request);
    let choice = ruled.resolved();
    let bundle = choice.and_then(|choice| recorded(choice, basis.snapshot.rules()));
    bundle.map(Installed::Bundle).ok_or(Box::new(ruled))
}
