//! The step that OLM takes automatically after a change, if an upgrade policy denies it.

use crate::audit::Audit;
use crate::audit::change::moves::is_same;
use crate::judge::{Basis, Edit, Verdict, denied_steps};
use crate::resolve::{Choice, PolicyFinding};

/// The first step that OLM takes automatically after a change and not before it, and that an upgrade policy denies:
/// where it leads, and the rule.
///
/// Only rules about the bundle count: windows, ranges, the override and users are about edits of the extension, and OLM
/// takes this step without an edit. A step that is denied before and after the change hides none behind it. What was
/// undecided before is no evidence.
pub fn denied_step<'s>(
    edit: &Edit<'_>,
    before: &Audit<'_>,
    (basis, after): (Basis<'s>, &Audit<'s>),
) -> Option<PolicyFinding<'s>> {
    let old = before.automatic.as_ref()?;
    let was_taken = |to: Choice<'_>| old.steps.iter().any(|step| is_same(*step, to));
    let was_known = before.judgement.verdict() != Verdict::Undecided;
    let walk = after.automatic.as_ref()?;
    if !was_known || walk.steps.iter().all(|step| was_taken(*step)) {
        return None;
    }
    let request = edit.request()?;
    let denied = denied_steps(basis, &request, request.installed.bundle()?);
    denied.into_iter().find(|found| !was_taken(found.to))
}
