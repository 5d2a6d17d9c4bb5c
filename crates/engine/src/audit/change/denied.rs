//! The step that OLM takes automatically after a change, if an upgrade policy denies it.

use crate::audit::Audit;
use crate::audit::change::moves::is_same;
use crate::judge::{Ruling, Verdict, Walk};
use crate::resolve::{Choice, PolicyFinding};

/// A step that OLM takes automatically after a change and not before it, and that an upgrade policy denies.
#[derive(Clone, Copy, Debug)]
pub struct DeniedStep<'a, 's> {
    /// What it installs.
    pub to: Choice<'s>,
    /// The first rule that denies it.
    pub finding: &'a PolicyFinding<'s>,
}

/// The first step that OLM takes automatically and that an upgrade policy denies, if it is a new one.
///
/// Only rules about the bundle count: windows, ranges, the override and users are about edits of the extension, and OLM
/// takes this step without an edit. What was undecided before is no evidence.
pub fn denied_step<'a, 's>(before: &Audit<'_>, after: &'a Audit<'s>) -> Option<DeniedStep<'a, 's>> {
    let Ruling::Policy(refusal) = &after.judgement.ruled.ruling else {
        return None;
    };
    let mut findings = refusal.findings.iter();
    let finding = findings.find(|found| found.violation.rule.is_of_bundle())?;
    let takes = |walk: &Option<Walk<'_>>| {
        let steps = walk.as_ref().map(|walk| walk.steps.as_slice());
        Some(steps?.iter().any(|step| is_same(*step, finding.to)))
    };
    let is_new = takes(&after.automatic)? && !takes(&before.automatic)?;
    let was_known = before.judgement.verdict() != Verdict::Undecided;
    (is_new && was_known).then_some(DeniedStep {
        to: finding.to,
        finding,
    })
}
