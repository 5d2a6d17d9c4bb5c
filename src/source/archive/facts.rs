//! What an archive says of a cluster and its catalogs, beside their contents.

use serde::{Deserialize, Serialize};

use olmguard_catalog::olm::{GateError, Gates, OlmRelease, UnknownRelease};
use olmguard_engine::snapshot::{
    Age, Availability, CatalogState, Content, Currency, Labels, Serving,
};

/// What an archive says of the cluster that its catalogs are from.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ArchiveFacts {
    /// When it was saved, such as `2026-11-21T14:30:00Z`.
    pub saved: String,
    /// The version of the program that saved it.
    pub program: String,
    /// The OLM in the cluster; none if that was not known.
    pub olm: Option<OlmFacts>,
}

/// An OLM by its names, which a program older than it does not know.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct OlmFacts {
    /// The release.
    pub release: String,
    /// The feature gates that touch resolution and are on.
    pub gates: Vec<String>,
}

/// Why an OLM is not known by its names.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UnknownOlm {
    /// There is no such release.
    #[error(transparent)]
    Release(#[from] UnknownRelease),
    /// The release has no such gate.
    #[error(transparent)]
    Gate(#[from] GateError),
}

/// A catalog without its content, which follows if it is held.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct CatalogFacts {
    pub(super) name: String,
    labels: Labels,
    priority: i32,
    availability: Availability,
    serving: Serving,
    image_ref: Option<String>,
    last_unpacked: Option<String>,
    currency: Currency,
    pub(super) content: ContentFacts,
}

/// What there is of a catalog's content.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum ContentFacts {
    /// Its record follows.
    Recorded,
    Missing,
    Unfetched(String),
    Unreadable(String),
}

impl ArchiveFacts {
    /// The facts of a cluster as this program saves them.
    pub fn new(saved: String, olm: Option<OlmFacts>) -> Self {
        Self {
            saved,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            olm,
        }
    }
}

impl OlmFacts {
    /// The names of a release and its gates.
    pub fn of(release: OlmRelease, gates: Gates) -> Self {
        Self {
            release: release.name().to_owned(),
            gates: gates.on().map(str::to_owned).collect(),
        }
    }

    /// The release and the gates, if this program knows them.
    pub fn read(&self) -> Result<(OlmRelease, Gates), UnknownOlm> {
        let release = self.release.parse()?;
        let settings: Vec<_> = self
            .gates
            .iter()
            .map(|gate| format!("{gate}=true"))
            .collect();
        let gates = Gates::parse(settings.iter().map(String::as_str), release)?;
        Ok((release, gates))
    }
}

impl CatalogFacts {
    /// The facts of a catalog whose record is at hand, or not.
    pub(super) fn of(state: &CatalogState, is_recorded: bool) -> Self {
        let content = match &state.content {
            _ if is_recorded => ContentFacts::Recorded,
            Content::Unfetched(why) => ContentFacts::Unfetched(why.clone()),
            Content::Unreadable(why) => ContentFacts::Unreadable(why.clone()),
            Content::Loaded(_) | Content::Missing => ContentFacts::Missing,
        };
        Self {
            name: state.name.clone(),
            labels: state.labels.clone(),
            priority: state.priority,
            availability: state.availability,
            serving: state.serving,
            image_ref: state.image_ref.clone(),
            last_unpacked: state.last_unpacked.clone(),
            currency: state.currency,
            content,
        }
    }

    /// The catalog with this content. Its age is a matter of who asks, and when.
    pub(super) fn into_state(self, content: Content) -> CatalogState {
        CatalogState {
            name: self.name,
            labels: self.labels,
            priority: self.priority,
            availability: self.availability,
            serving: self.serving,
            image_ref: self.image_ref,
            last_unpacked: self.last_unpacked,
            currency: self.currency,
            age: Age::Allowed,
            content,
        }
    }
}
