//! An extension before and after a change, as its sentences need it.

use olmguard_engine::audit::{Audit, Deprecations, Moves, Reach};
use olmguard_engine::explain::reason;
use olmguard_engine::judge::{Edit, pin};
use olmguard_engine::resolve::Choice;

/// An extension before and after.
pub(super) struct Sides<'a, 'b, 's> {
    pub(super) before: &'a Audit<'b>,
    pub(super) after: &'a Audit<'s>,
    pub(super) moves: Moves<'b, 's>,
    edit: &'a Edit<'a>,
}

impl<'a, 'b, 's> Sides<'a, 'b, 's> {
    pub(super) fn of(edit: &'a Edit<'a>, before: &'a Audit<'b>, after: &'a Audit<'s>) -> Self {
        Self {
            before,
            after,
            moves: Moves::of(before, after),
            edit,
        }
    }

    /// Why the spec has its verdict, after the change.
    pub(super) fn reason(&self) -> String {
        reason(self.edit, &self.after.judgement).unwrap_or_default()
    }

    /// The same before it.
    pub(super) fn old_reason(&self) -> String {
        reason(self.edit, &self.before.judgement).unwrap_or_default()
    }

    /// The version at which the edits end before the change.
    pub(super) fn old_end(&self) -> Option<String> {
        Reach::of(self.before)?.end().and_then(pin)
    }

    /// The edits before the change.
    pub(super) fn old_path(&self) -> &'a [Choice<'b>] {
        let next = Reach::of(self.before).and_then(Reach::next);
        next.map_or(&[], |next| &next.path)
    }

    /// What is deprecated before and after; what has no place has nothing.
    pub(super) fn deprecations(&self) -> (Deprecations<'b>, Deprecations<'s>) {
        (deprecations(self.before), deprecations(self.after))
    }

    /// Whether nothing is installed yet.
    pub(super) fn is_new(&self) -> bool {
        self.after.automatic.is_none()
    }
}

fn deprecations<'s>(audit: &Audit<'s>) -> Deprecations<'s> {
    let place = audit.place.as_ref();
    place.map_or_else(Deprecations::default, |place| place.deprecations.clone())
}
