//! What the author of a package says of upgrade steps, from all places where it stands.

use crate::lint::written::{self, Carrier};
use olmguard_catalog::guardrail::{AuthorGuardrails, Guardrails, UnreadGuardrails};

/// The blobs and properties of a package that hold guardrails of the known schema.
#[derive(Debug, Default)]
pub(in crate::lint) struct GuardrailsView<'w> {
    pub(in crate::lint) blobs: Vec<&'w written::Guardrails>,
    pub(in crate::lint) properties: Vec<&'w written::Guardrails>,
}

impl<'w> GuardrailsView<'w> {
    pub(super) fn add(&mut self, written: &'w written::Guardrails) {
        match (&written.stated, written.carrier) {
            (None, _) => {}
            (Some(_), Carrier::Blob) => self.blobs.push(written),
            (Some(_), Carrier::Property) => self.properties.push(written),
        }
    }

    /// Why they cannot be read, all together.
    pub(in crate::lint) fn unread(&self) -> Option<UnreadGuardrails> {
        self.authored().stated()?.err().cloned()
    }

    /// What counts, and where it stands, if all of them can be read together.
    pub(in crate::lint) fn read(&self) -> Option<(&'w written::Guardrails, &'w Guardrails)> {
        let first = *self.blobs.first().or(self.properties.first())?;
        let stated = first.stated.as_ref()?.as_ref().ok()?;
        self.unread().is_none().then_some((first, stated))
    }

    fn authored(&self) -> AuthorGuardrails {
        // Two are too many already.
        let stated = |all: &[&written::Guardrails]| {
            let stated = all.iter().filter_map(|written| written.stated.clone());
            stated.take(2).collect()
        };
        AuthorGuardrails::new(stated(&self.blobs), stated(&self.properties), Vec::new())
    }
}
