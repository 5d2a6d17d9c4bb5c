//! The step that OLM takes automatically after a change, if an upgrade policy denies it.

use crate::audit::Audit;
use crate::audit::change::moves::is_same;
use crate::judge::{Ruling, Verdict};
use crate::resolve::{Choice, PolicyFinding};

/// A step that OLM takes automatically after a change and not before it, and that an upgrade policy denies.
#[derive(Clone, Copy, Debug)]
pub struct DeniedStep<'a, 's> {
    /// What it installs.
    pub to: Choice<'s>,
    /// The first rule that denies it.
    pub finding: &'a PolicyFinding<'s>,
}

/// The next step that OLM takes automatically, if it is a new one and an upgrade policy denies its bundle.
///
/// Only rules about the bundle count: windows, ranges, the override and conditions are about edits of the extension and
/// their users, and OLM takes this step without an edit. What was undecided before is no evidence.
pub fn denied_step<'a, 's>(before: &Audit<'_>, after: &'a Audit<'s>) -> Option<DeniedStep<'a, 's>> {
    let Ruling::Policy(refusal) = &after.judgement.ruled.ruling else {
        return None;
    };
    let to = *after.automatic.as_ref()?.steps.first()?;
    let old = before.automatic.as_ref()?.steps.first();
    let is_new = old.is_none_or(|old| !is_same(*old, to));
    let was_known = before.judgement.verdict() != Verdict::Undecided;
    let mut findings = refusal.findings.iter();
    let finding = findings.find(|found| found.violation.rule.is_of_bundle())?;
    (is_new && was_known && is_same(to, refusal.resolved)).then_some(DeniedStep { to, finding })
}
