//! What is different of one extension between two audits of it: before and after its catalogs change.
//!
//! ```text
//! before, after --outcome--> is the spec allowed?
//!               --moves----> what OLM installs automatically, and from which images
//!               --reach----> the newest version, and the edits to the newest version that can be reached
//!               --differences--> package, channels, installed bundle, deprecations, bypass
//! ```
//!
//! A fact that is missing after the change hides all others: then that is the only difference. If it is missing
//! before, what is found after the change counts as new.
//!
//! Invariant: two audits that agree in their verdicts, reasons, concerns, moves and edits have no difference, and two
//! that do not have one. The texts of others, such as the message of a deprecation, are not compared.

mod denied;
mod difference;
mod moves;
mod outcome;
mod reach;
mod sides;

pub use denied::denied_step;
pub use difference::Difference;
pub use moves::{Moves, other_images};
pub use reach::Reach;

use crate::audit::Audit;
use crate::resolve::Choice;
use outcome::Outcome;
use sides::Sides;

/// What is different after a change, the worst first.
pub fn differences(before: &Audit<'_>, after: &Audit<'_>) -> Vec<Difference> {
    let sides = Sides::of(before, after);
    let all = Difference::ALL.iter().copied();
    let found = all.filter(|difference| sides.have(*difference));
    match sides.outcomes {
        (Outcome::NotJudged, _) | (_, Outcome::NotJudged) => Vec::new(),
        (_, Outcome::Undecided) => found.filter(|found| found.is_of_verdict()).collect(),
        _ => found.collect(),
    }
}

impl<'s> Audit<'s> {
    /// What OLM installs next without an edit, in this order.
    pub fn moves(&self) -> Vec<Choice<'s>> {
        match &self.automatic {
            Some(walk) => walk.steps.clone(),
            None => self.judgement.ruled.resolved().into_iter().collect(),
        }
    }

    /// The requested channels that exist before, and no longer after.
    pub fn lost_channels(&self, after: &Audit<'_>) -> Vec<&'s str> {
        let (Some(before), Some(after)) = (&self.requested, &after.requested) else {
            return Vec::new();
        };
        let is_lost = |name: &&str| !after.channels.contains(name);
        before.channels.iter().copied().filter(is_lost).collect()
    }
}
