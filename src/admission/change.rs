//! One edit of an extension, as a request tells it: what is to be, what is, and what is installed.
//!
//! Invariant: what is installed is read from the old object alone, whatever status the new one claims.

use crate::admission::Operation;
use crate::admission::decode::Filters;
use crate::admission::named::identify;
use olmguard_engine::extension::{
    Extension, Filter, FilterError, FilterProblem, Identity, Installed, Json, RecognisedObject,
    Shape, UnknownCause,
};
use olmguard_engine::judge::{Edit, Requester};

/// An edit of an extension.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) new: Extension,
    old: Option<Extension>,
}

impl Change {
    /// Reads the edit of an object of this shape; `identity` is that of the object.
    pub(super) fn read<'a, J: Json<'a>>(
        (identity, shape): (Identity, Shape),
        operation: Operation,
        (request, object): (J, J),
        filters: Filters,
    ) -> Self {
        let old = match operation {
            Operation::Update => Some(old_extension(request)),
            Operation::Create | Operation::Other => None,
        };
        let new = Extension {
            installed: installed(old.as_ref()),
            ..Extension::requested(identity, shape, object)
        };
        let mut change = Self {
            new,
            old: old.flatten(),
        };
        match filters {
            Filters::Comparable => {}
            Filters::Alike => change.keep_no_entries(),
            Filters::Different => change.tell_apart(),
        }
        change
    }

    /// What is judged. The CRD has spoken before an API server asks, so its rules are not repeated.
    pub(super) fn edit<'a>(&'a self, requester: &'a Requester) -> Edit<'a> {
        Edit {
            new: &self.new,
            old: self.old.as_ref(),
            installed: &self.new.installed,
            schema: &[],
            requester,
        }
    }

    /// Both filters have the same entries, too many to keep: they differ in nothing but their texts.
    fn keep_no_entries(&mut self) {
        for extension in [&mut self.new].into_iter().chain(&mut self.old) {
            if let (false, Ok(filter)) = (is_flat(extension.shape), &mut extension.filter) {
                *filter = std::mem::take(filter).too_large();
            }
        }
    }

    /// What was kept of both filters may be the same although they differ: the old one then counts
    /// as one that cannot be read. In a flat shape nothing that was left out counts.
    fn tell_apart(&mut self) {
        if let Some(old) = &mut self.old
            && !(is_flat(old.shape) && is_flat(self.new.shape))
        {
            old.filter = Err(FilterError {
                field: old.fields.prefix().to_owned(),
                problem: FilterProblem::TooLarge {
                    most: Filter::MOST_ENTRIES,
                },
            });
        }
    }
}

/// Whether objects of a shape ask for no more than one channel, and select no catalogs.
fn is_flat(shape: Shape) -> bool {
    matches!(shape, Shape::V1Alpha1Flat | Shape::Operator)
}

/// Without a readable old object nothing tells what is installed, and that is no reason to refuse.
fn old_extension<'a>(request: impl Json<'a>) -> Option<Extension> {
    let object = request.get("oldObject").filter(|old| old.is_object())?;
    match identify(object, request) {
        (identity, RecognisedObject::Extension(shape)) => {
            Some(Extension::of(identity, shape, object))
        }
        (_, RecognisedObject::UnknownVersion | RecognisedObject::Other) => None,
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
