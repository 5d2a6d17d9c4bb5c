//! An extension in every API shape: what it asks for, and what is installed.
//!
//! ```text
//! object --identify--> Shape --read--> Extension { Filter, Installed, ... }
//! ```
//!
//! Upstream: operator-controller, [`api/v1/clusterextension_types.go`] and its predecessors from tag
//! v0.0.1 on. One type holds all shapes: `Enforce` is `CatalogProvided`, `Ignore` is
//! `SelfCertified`, `channel: x` is `channels: [x]`. Messages name the fields of the object's own
//! shape ([`Fields`]).
//!
//! [`api/v1/clusterextension_types.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/api/v1/clusterextension_types.go

mod fields;
mod filter;
mod hints;
mod identity;
mod read;
pub mod schema;
mod shape;
mod status;
mod subject;

pub use fields::{BypassWords, ChannelField, Fields, SelectorField};
pub use filter::{Filter, Policy};
pub use hints::{Hint, Instead, catalog_hints, hints};
pub use identity::{Identity, RecognisedObject, recognise};
pub use read::{FilterError, FilterProblem, SourceType};
pub use shape::Shape;
pub use status::{Installed, InstalledBundle, Rollout, UnknownCause};
pub use subject::PolicySubject;

pub use olmguard_catalog::json::Json;

/// One extension as an object describes it.
#[derive(Clone, Debug)]
pub struct Extension {
    /// Which object it is.
    pub identity: Identity,
    /// The shape it is written in.
    pub shape: Shape,
    /// Where its fields are in this shape.
    pub fields: Fields,
    /// Whether it is being deleted: `metadata.deletionTimestamp` is set.
    pub deleting: bool,
    /// `spec.source.sourceType`.
    pub source_type: SourceType,
    /// What it asks for, or why that cannot be read.
    pub filter: Result<Filter, FilterError>,
    /// What its status says is installed.
    pub installed: Installed,
    /// Whether an upgrade is still rolling out.
    pub rollout: Rollout,
    /// What upgrade policies match it by.
    pub subject: PolicySubject,
    /// Fields and words that its API does not have.
    pub hints: Vec<Hint>,
}

impl Extension {
    /// The extension that an object is; none if it is something else, or of an unknown version.
    pub fn recognised<'a>(object: impl Json<'a>) -> Option<Self> {
        let identity = Identity::read(object);
        match identity.recognise(object) {
            RecognisedObject::Extension(shape) => Some(Self::of(identity, shape, object)),
            RecognisedObject::UnknownVersion | RecognisedObject::Other => None,
        }
    }

    /// Reads an object of a kind and version that [`recognise`] knows.
    ///
    /// An object of any content can be read; what cannot be understood is kept as an error.
    pub fn read<'a>(shape: Shape, object: impl Json<'a>) -> Self {
        Self::of(Identity::read(object), shape, object)
    }

    /// The same where it is already known which object it is.
    pub fn of<'a>(identity: Identity, shape: Shape, object: impl Json<'a>) -> Self {
        Self {
            installed: Installed::read(shape, object),
            rollout: Rollout::read(object),
            ..Self::requested(identity, shape, object)
        }
    }

    /// The same without its status, as if nothing was installed.
    pub fn requested<'a>(identity: Identity, shape: Shape, object: impl Json<'a>) -> Self {
        let fields = Fields::of(shape, object);
        Self {
            identity,
            shape,
            deleting: object
                .at(&["metadata", "deletionTimestamp"])
                .is_some_and(|at| !at.is_null()),
            source_type: SourceType::read(shape, object),
            filter: Filter::read(&fields, object),
            installed: Installed::Nothing,
            rollout: Rollout::Settled,
            subject: PolicySubject::read(object),
            hints: hints(shape, None, object),
            fields,
        }
    }
}
