//! One edit of an extension, as a request tells it: what is to be, what is, and what is installed.
//!
//! Invariant: what is installed is read from the old object alone, whatever status the new one claims.

use crate::admission::Operation;
use crate::admission::decode::{Extent, Extents};
use crate::admission::keep::FILTER;
use crate::admission::named::identify;
use crate::extension::{
    Extension, FilterError, FilterProblem, Identity, Installed, Json, Recognised, Rollout, Shape,
    UnknownCause,
};
use crate::judge::Edit;

/// An edit of an extension.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) new: Extension,
    old: Option<Extension>,
}

impl Change {
    /// Reads the edit of an object of this shape; `identity` is that of the object.
    pub(super) fn read<'a, J: Json<'a>>(
        (identity, shape): (&Identity, Shape),
        operation: Operation,
        (request, object): (J, J),
        extents: Extents,
    ) -> Self {
        let old = match operation {
            Operation::Update => Some(old_extension(request)),
            Operation::Create | Operation::Other => None,
        };
        let new = Extension {
            installed: installed(old.as_ref()),
            rollout: Rollout::Settled,
            ..Extension::of(identity.clone(), shape, object)
        };
        let mut change = Self {
            new,
            old: old.flatten(),
        };
        change.bound(extents);
        change
    }

    /// What is judged. The CRD has spoken before an API server asks, so its rules are not repeated.
    pub(super) fn edit(&self) -> Edit<'_> {
        Edit {
            new: &self.new,
            old: self.old.as_ref(),
            installed: &self.new.installed,
            schema: &[],
        }
    }

    /// A filter that was not kept whole cannot be read, unless nothing of it is changed.
    fn bound(&mut self, extents: Extents) {
        let is_read = matches!(self.new.shape, Shape::V1 | Shape::V1Alpha1Nested);
        if extents.new == Extent::Whole || !is_read || self.is_cut_alike(extents) {
            return;
        }
        self.new.filter = Err(FilterError {
            field: "spec.source.catalog".to_owned(),
            problem: FilterProblem::TooLarge { most: FILTER },
        });
    }

    fn is_cut_alike(&self, extents: Extents) -> bool {
        let old = self.old.as_ref().and_then(|old| old.filter.as_ref().ok());
        let both = self.new.filter.as_ref().ok().zip(old);
        extents.old == Extent::Cut && both.is_some_and(|(new, old)| new.asks_the_same_as(old))
    }
}

/// Without a readable old object nothing tells what is installed, and that is no reason to refuse.
fn old_extension<'a>(request: impl Json<'a>) -> Option<Extension> {
    let object = request.get("oldObject").filter(|old| old.is_object())?;
    match identify(object, request) {
        (identity, Recognised::Extension(shape)) => Some(Extension::of(identity, shape, object)),
        (_, Recognised::UnknownVersion | Recognised::Other) => None,
    }
}

/// By the old object, where there should be one.
fn installed(old: Option<&Option<Extension>>) -> Installed {
    match old {
        None => Installed::Nothing,
        Some(None) => Installed::Unknown(UnknownCause::NoOldObject),
        Some(Some(old)) => old.installed.clone(),
    }
}
