//! The start: which catalogs are waited for before edits should be sent here.
//!
//! Once it is over it is over: a catalog that is lost later is lost for every replica, and if all of
//! them stopped being ready nobody would be left to say so.

use std::collections::BTreeSet;

/// How far the start is.
#[derive(Debug, Default)]
pub(super) enum StartProgress {
    /// The catalogs are not known yet.
    #[default]
    Unknown,
    /// These are not loaded yet.
    Loading(BTreeSet<String>),
    Over,
}

impl StartProgress {
    /// The catalogs are known for the first time, and these have content to load.
    pub(super) fn begin(&mut self, names: impl Iterator<Item = String>) {
        if matches!(self, Self::Unknown) {
            *self = Self::Loading(names.collect());
        }
    }

    /// Waits on for those of them that are `worth_it`.
    pub(super) fn go_on(&mut self, worth_it: impl Fn(&str) -> bool) {
        if let Self::Loading(names) = self {
            names.retain(|name| worth_it(name));
            if names.is_empty() {
                *self = Self::Over;
            }
        }
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self, Self::Over)
    }
}
