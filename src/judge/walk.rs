//! What the controller does by itself with an extension that nobody edits: step by step, until it
//! stays where it is or can do nothing.
//!
//! Each step is the answer to the same request, with what the step before installed.
//!
//! Invariant: the walk ends. What a step took is a candidate of the next one, by the stay rule, so each
//! step betters the one before: from deprecated to not, from a catalog to one of higher priority, or
//! within a catalog to a better bundle, in this order. So no bundle comes twice.

use crate::extension::{Filter, Installed, InstalledBundle};
use crate::judge::{Allowed, Request, Ruled, Ruling, rule};
use crate::olm::{ReleaseKey, Rules};
use crate::resolve::Choice;
use crate::snapshot::Snapshot;
use crate::version::BundleReleaseSupport;

/// The steps, and why there is none after the last.
#[derive(Debug)]
pub struct Walk<'s> {
    /// What each step installs, what is installed at first left out.
    pub steps: Vec<Choice<'s>>,
    /// What is installed at the end.
    pub last: InstalledBundle,
    /// Why it ends there.
    pub end: WalkEnd<'s>,
}

/// Why a walk ends.
#[derive(Debug)]
pub enum WalkEnd<'s> {
    /// The request resolves to what is installed.
    Stays(Choice<'s>),
    /// It does not resolve, for this reason.
    Stops(Box<Ruled<'s>>),
}

/// The walk under a filter from an installed bundle on.
pub fn walk<'s>(snapshot: &'s Snapshot, filter: &Filter, installed: &InstalledBundle) -> Walk<'s> {
    let mut last = installed.clone();
    let mut steps: Vec<Choice<'s>> = Vec::new();
    let end = loop {
        let installed = Installed::Bundle(last.clone());
        let ruled = rule(
            snapshot,
            &Request {
                filter,
                installed: &installed,
            },
        );
        let choice = match ruled.ruling {
            Ruling::Allowed(Allowed::Unchanged, choice) => break WalkEnd::Stays(choice),
            Ruling::Allowed(_, choice) => choice,
            _ => break WalkEnd::Stops(Box::new(ruled)),
        };
        match recorded(choice, snapshot.rules()) {
            Some(recorded) => last = recorded,
            None => break WalkEnd::Stops(Box::new(ruled)),
        }
        steps.push(choice);
    };
    Walk { steps, last, end }
}

/// A bundle as the controller records it once it is installed; none whose version cannot be read.
pub(crate) fn recorded(choice: Choice<'_>, rules: &Rules) -> Option<InstalledBundle> {
    let gate = match rules.release_key {
        ReleaseKey::Honoured => BundleReleaseSupport::Enabled,
        ReleaseKey::Typed | ReleaseKey::Unknown => BundleReleaseSupport::Disabled,
    };
    let bundle = choice.bundle();
    let recorded = bundle.version.as_ref().ok()?.recorded(gate);
    Some(InstalledBundle {
        name: Some(bundle.name.to_string()),
        version: recorded.version,
        release: recorded.release,
    })
}
