//! An extension of a base, and its key.

use std::rc::Rc;

use serde_json::Value;

use super::texts::may_name;
use crate::cli::commands::check::cases::CasePlace;
use crate::cli::commands::check::inputs::deciding_field;
use crate::manifest::{ManifestObject, Positions};
use olmguard_engine::extension::{Extension, Filter};
use olmguard_engine::judge::EarlierObject;

/// An extension as it was.
#[derive(Debug)]
pub(crate) struct Ancestor {
    pub(super) key: Key,
    pub(crate) place: CasePlace,
    /// The whole object. An input with the same text has it too.
    object: Rc<ManifestObject>,
    /// None in a version that is not known.
    pub(crate) extension: Option<Extension>,
}

/// What identifies an object in both revisions.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Key {
    pub(crate) kind: String,
    pub(crate) name: Option<String>,
}

impl Ancestor {
    pub(super) fn new(
        file: &str,
        object: Rc<ManifestObject>,
        positions: &Positions,
        extension: Option<Extension>,
    ) -> Self {
        Self {
            key: Key::of(&object),
            place: place(file, &object, positions, extension.as_ref()),
            object,
            extension,
        }
    }

    pub(crate) fn kind(&self) -> &str {
        &self.key.kind
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.key.name.as_deref()
    }

    pub(super) fn value(&self) -> &Value {
        &self.object.value
    }

    /// Whether an object is the same, value for value.
    pub(super) fn is_same(&self, object: &ManifestObject) -> bool {
        std::ptr::eq(Rc::as_ptr(&self.object), object) || *self.value() == object.value
    }

    pub(crate) fn before(&self) -> EarlierObject<'_> {
        EarlierObject {
            value: self.value(),
            extension: self.extension.as_ref(),
        }
    }

    /// Whether another extension has the same spec.
    pub(super) fn asks_as(&self, other: &Self) -> bool {
        self.value().get("spec") == other.value().get("spec")
    }

    /// What it asked for, where that can be read.
    pub(crate) fn filter(&self) -> Option<&Filter> {
        self.extension.as_ref()?.filter.as_ref().ok()
    }
}

impl Key {
    pub(super) fn of(object: &ManifestObject) -> Self {
        Self {
            kind: object.kind.clone(),
            name: object.name.clone(),
        }
    }

    /// Whether a text may hold an object of this name.
    pub(super) fn may_be_in(&self, text: &[u8]) -> bool {
        may_name(text, self.name.as_deref().unwrap_or_default().as_bytes())
    }
}

/// Where an extension is in a file: its deciding field, if its version is known.
fn place(
    file: &str,
    object: &ManifestObject,
    positions: &Positions,
    extension: Option<&Extension>,
) -> CasePlace {
    let path = extension.map(|extension| deciding_field(extension, &object.value, &[]));
    CasePlace {
        file: file.to_owned(),
        document: object.document,
        at: object.position(positions, &path.unwrap_or_default()),
    }
}
