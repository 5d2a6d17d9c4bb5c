//! What a catalog says of a package, from all the places where it can say it.

use crate::guardrail::{Guardrails, Problem, UnreadGuardrails};
use crate::heap::Heap;

/// The guardrails of a package in its catalog.
#[derive(Clone, Debug, Default)]
pub struct AuthorGuardrails {
    stated: Option<Result<Guardrails, UnreadGuardrails>>,
    /// The schemas of blobs and the types of properties in another version than the known one, which
    /// are passed over; in byte order, each once.
    of_other_versions: Box<[Box<str>]>,
}

impl AuthorGuardrails {
    /// From the blobs of the package and the properties of its `olm.package`. A blob is enough, and so
    /// is a property, for tools that lose blobs; both must say the same.
    pub fn new(
        blobs: Vec<Result<Guardrails, UnreadGuardrails>>,
        properties: Vec<Result<Guardrails, UnreadGuardrails>>,
        mut of_other_versions: Vec<Box<str>>,
    ) -> Self {
        of_other_versions.sort_unstable();
        of_other_versions.dedup();
        let stated = match (single(blobs), single(properties)) {
            (Some(Ok(blob)), Some(Ok(property))) if blob != property => {
                Some(Err(UnreadGuardrails::whole(Problem::Differ)))
            }
            (Some(Ok(_)), Some(Err(unread))) => Some(Err(unread)),
            (blob, property) => blob.or(property),
        };
        Self {
            stated,
            of_other_versions: of_other_versions.into(),
        }
    }

    /// The guardrails, or why they cannot be read; `None` where there are none.
    pub fn stated(&self) -> Option<Result<&Guardrails, &UnreadGuardrails>> {
        self.stated.as_ref().map(Result::as_ref)
    }

    /// The schemas of blobs, and the types of properties, in another version than the known one.
    pub fn of_other_versions(&self) -> impl Iterator<Item = &str> {
        self.of_other_versions.iter().map(|schema| &**schema)
    }
}

impl Heap for AuthorGuardrails {
    fn heap_bytes(&self) -> usize {
        self.stated.heap_bytes() + self.of_other_versions.heap_bytes()
    }
}

fn single(
    mut stated: Vec<Result<Guardrails, UnreadGuardrails>>,
) -> Option<Result<Guardrails, UnreadGuardrails>> {
    let first = stated.pop()?;
    if stated.is_empty() {
        Some(first)
    } else {
        Some(Err(UnreadGuardrails::whole(Problem::Twice)))
    }
}
