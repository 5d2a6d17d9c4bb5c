//! What a new object was before.

use std::rc::Rc;

use super::{Ancestor, BaseSource};
use crate::cli::commands::check::cases::CasePlace;
use olmguard_engine::extension::Extension;

/// What the base says of an object.
#[derive(Debug)]
pub(crate) enum Past {
    /// Nothing: there is no base, or the object tells its past itself.
    NotAsked,
    /// It is new.
    Added,
    Found(EarlierState),
    /// It cannot be told, for this reason.
    Unknown(String),
}

/// What an object was.
#[derive(Debug)]
pub(crate) struct EarlierState {
    pub(crate) ancestor: Rc<Ancestor>,
    /// Whether the object is what it was, value for value.
    pub(crate) is_same: bool,
    /// Whether the CRD refuses the edit for something that it did not refuse before.
    pub(crate) breaks: bool,
}

/// Why the past of an object cannot be told.
#[derive(Debug)]
pub(super) enum Doubt {
    /// It may be in this file, of which a part cannot be read.
    Unread(String),
    /// It is there twice, and asks for two things.
    Twice(CasePlace, CasePlace),
}

impl Past {
    /// The object as it was.
    pub(crate) fn found(&self) -> Option<&EarlierState> {
        match self {
            Self::Found(found) => Some(found),
            Self::NotAsked | Self::Added | Self::Unknown(_) => None,
        }
    }

    /// Whether nothing has changed.
    pub(crate) fn is_same(&self) -> bool {
        self.found().is_some_and(|found| found.is_same)
    }
}

impl EarlierState {
    /// The extension as it was, where it is an update that may be exempt: one that the CRD refuses is
    /// none. Where all are to be judged, one that asks for the same is judged by itself.
    pub(crate) fn old(&self, new: &Extension, all: bool) -> Option<Extension> {
        let old = self.ancestor.extension.as_ref()?;
        let filters = new.filter.as_ref().ok().zip(old.filter.as_ref().ok());
        let asks_the_same = filters.is_some_and(|(new, old)| new.asks_the_same_as(old));
        let is_judged_alone = self.breaks || (all && asks_the_same);
        let before = Some(self.ancestor.before()).filter(|_| !is_judged_alone);
        before?.old(new)
    }
}

impl Doubt {
    pub(super) fn told(&self, source: &BaseSource) -> String {
        match self {
            Self::Unread(file) => format!("{} cannot be read completely", source.shown(file)),
            Self::Twice(one, other) => format!(
                "it is defined twice, at {} and at {}",
                source.shown(&one.to_string()),
                source.shown(&other.to_string()),
            ),
        }
    }
}
