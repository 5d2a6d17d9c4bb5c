//! Row 15a: what operator-controller checks of the bundle that it has chosen, before it pulls the image.
//!
//! The edit itself is checked, and no step that OLM takes automatically after it: a bundle that cannot be installed stops
//! the extension until an edit or a catalog changes, and the next edit is checked again.

use crate::judge::question::FilterQuestion;
use crate::judge::rows::superseded;
use crate::judge::{AllowedChange, PreflightRefusal, RuledEdit, Ruling};
use crate::resolve::{EditContext, Occasion};
use olmguard_catalog::olm::PreflightMode;

/// Checks the bundle that an edit resolves to. Like rows 6 to 15 it denies only on the newest content.
pub(super) fn put<'s>(
    ruled: &mut RuledEdit<'s>,
    question: &FilterQuestion<'_, 's>,
    context: EditContext<'_>,
) {
    let Ruling::Allowed(change, resolved) = ruled.ruling else {
        return;
    };
    let Some(install) = context.install else {
        return;
    };
    let olm = question.basis.snapshot.rules();
    let is_as_before =
        change == AllowedChange::Unchanged && install.occasion != Occasion::Reconfiguration;
    if is_as_before || olm.preflight == PreflightMode::Off {
        return;
    }
    let Some(faults) = install.faults(&resolved, olm) else {
        return;
    };
    let refusal = PreflightRefusal { resolved, faults };
    let is_newest = superseded(&question.in_play).is_empty();
    if refusal.faults.is_certain && is_newest && olm.preflight == PreflightMode::Deny {
        ruled.ruling = Ruling::Preflight(Box::new(refusal));
    } else {
        ruled.preflight = Some(refusal);
    }
}
