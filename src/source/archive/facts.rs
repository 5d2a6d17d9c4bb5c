//! The facts of an archive about a cluster and its catalogs, stored next to the contents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ArchiveFault, FetchedContent};
use olmguard_catalog::dns1123::is_subdomain;
use olmguard_catalog::olm::{GateError, Gates, OlmRelease, UnknownRelease};
use olmguard_engine::json_values;
use olmguard_engine::snapshot::{
    Age, Availability, CatalogState, Content, Currency, Labels, ServingState,
};

/// The facts of an archive about the cluster that its catalogs come from.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ArchiveFacts {
    /// The time at which it was saved, such as `2026-11-21T14:30:00Z`.
    pub saved: String,
    /// The version of the program that saved it.
    pub program: String,
    /// The OLM in the cluster, or `None` if it was not known.
    pub olm: Option<OlmFacts>,
    /// The restrictions that administrators of the cluster have set.
    #[serde(default)]
    pub policies: SavedPolicies,
    /// The extensions installed in the cluster.
    #[serde(default)]
    pub extensions: SavedExtensions,
}

/// The `UpgradePolicy` and `UpgradeGuardrails` objects of a cluster.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SavedPolicies {
    /// The objects as written.
    Objects(Vec<Value>),
    /// The objects are unavailable, for this reason.
    Unfetched(String),
}

/// The `ClusterExtension` objects of a cluster, each with its status.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SavedExtensions {
    /// Not saved, or saved by a program that did not save extensions.
    #[default]
    NotSaved,
    /// The fields of each object from which an extension is read.
    Objects(Vec<Value>),
    /// The objects are unavailable, for this reason.
    Unfetched(String),
}

impl SavedExtensions {
    /// Keeps these objects, or only a reason if they are too large for a snapshot.
    pub fn of(objects: Vec<Value>) -> Self {
        let length = |object: &Value| object.to_string().len();
        let length: usize = objects.iter().map(length).sum();
        if length > MOST_EXTENSIONS {
            let why = format!(
                "the extensions have {length} bytes: expected at most {MOST_EXTENSIONS} in a snapshot"
            );
            return Self::Unfetched(why);
        }
        Self::Objects(objects)
    }
}

impl SavedPolicies {
    /// The objects, or none if they are unavailable.
    pub fn objects(&self) -> &[Value] {
        match self {
            Self::Objects(objects) => objects,
            Self::Unfetched(_) => &[],
        }
    }
}

impl Default for SavedPolicies {
    fn default() -> Self {
        Self::Objects(Vec::new())
    }
}

/// An OLM by the names of its release and gates, which may be unknown to an older program.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct OlmFacts {
    /// The release.
    pub release: String,
    /// The feature gates that touch resolution and are on.
    pub gates: Vec<String>,
}

/// Why the names of an OLM are unknown.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UnknownOlm {
    /// The release is unknown.
    #[error(transparent)]
    Release(#[from] UnknownRelease),
    /// The release has no such gate.
    #[error(transparent)]
    Gate(#[from] GateError),
}

/// All facts of an archive, without the contents.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct SnapshotFacts {
    schema: String,
    #[serde(flatten)]
    pub(super) cluster: ArchiveFacts,
    pub(super) catalogs: Vec<CatalogFacts>,
}

/// A catalog without its content.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CatalogFacts {
    pub(super) name: String,
    /// `None` if the labels cannot be read.
    labels: Option<BTreeMap<String, String>>,
    priority: i32,
    availability: Availability,
    serving: ServingState,
    image_ref: Option<String>,
    last_unpacked: Option<String>,
    currency: Currency,
    pub(super) content: ContentFacts,
}

/// The state of a catalog's content in the archive.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ContentFacts {
    /// The content is in this file of the archive.
    File(String),
    Missing,
    Unfetched(String),
    Unreadable(String),
}

/// The part of the facts that every schema shares.
#[derive(Deserialize)]
struct AnyFacts {
    #[serde(default)]
    schema: Box<str>,
}

/// Returns the name of the file with the content of this catalog. `number` is the position of the catalog.
///
/// A file name in an archive can have 100 bytes, but the name of a catalog can have 253.
pub(super) fn member(number: usize, catalog: &str) -> String {
    if catalog.len() <= NAME_LIMIT && is_subdomain(catalog) {
        format!("catalogs/{catalog}.jsonl")
    } else {
        format!("catalogs/by-number/{number}.jsonl")
    }
}

impl SnapshotFacts {
    /// The facts of these catalogs, each with its content if that was fetched.
    pub(super) fn of(
        cluster: &ArchiveFacts,
        catalogs: &[(&CatalogState, Option<&FetchedContent>)],
    ) -> Self {
        let numbered = catalogs.iter().enumerate();
        let catalogs = numbered.map(|(number, (state, content))| {
            let file = content.map(|_| member(number, &state.name));
            CatalogFacts::of(state, file)
        });
        Self {
            schema: SCHEMA.to_owned(),
            cluster: cluster.clone(),
            catalogs: catalogs.collect(),
        }
    }

    pub(super) fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec_pretty(self)
    }

    /// Parses the facts. Their size is checked before the first value is built.
    pub(super) fn parse(json: &[u8]) -> Result<Self, ArchiveFault> {
        check_size(json)?;
        let AnyFacts { schema: found } = serde_json::from_slice(json)?;
        if *found != *SCHEMA {
            let expected = SCHEMA;
            return Err(ArchiveFault::Schema { found, expected });
        }
        Ok(serde_json::from_slice(json)?)
    }
}

impl ArchiveFacts {
    /// The facts of a cluster, saved by this version of the program.
    pub fn new(saved: String, olm: Option<OlmFacts>, policies: SavedPolicies) -> Self {
        Self {
            saved,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            olm,
            policies,
            extensions: SavedExtensions::default(),
        }
    }
}

impl OlmFacts {
    /// The names of a release and of its gates.
    pub fn of(release: OlmRelease, gates: Gates) -> Self {
        Self {
            release: release.name().to_owned(),
            gates: gates.turned_on(release).map(str::to_owned).collect(),
        }
    }

    /// Returns the release and the gates, if this program knows them.
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
    /// The facts of a catalog whose content is in this file, if it was fetched.
    fn of(state: &CatalogState, file: Option<String>) -> Self {
        let content = match (&state.content, file) {
            (_, Some(file)) => ContentFacts::File(file),
            (Content::Unfetched(why), None) => ContentFacts::Unfetched(why.clone()),
            (Content::Unreadable(why), None) => ContentFacts::Unreadable(why.clone()),
            (Content::Loaded(_) | Content::Missing, None) => ContentFacts::Missing,
        };
        Self {
            name: state.name.clone(),
            labels: match &state.labels {
                Labels::Known(labels) => Some(labels.clone()),
                Labels::Unknown => None,
            },
            priority: state.priority,
            availability: state.availability,
            serving: state.serving,
            image_ref: state.image_ref.clone(),
            last_unpacked: state.last_unpacked.clone(),
            currency: state.currency,
            content,
        }
    }

    /// Returns the catalog with this content. Its age is not saved, because it depends on the time of the check.
    pub(super) fn into_state(self, content: Content) -> CatalogState {
        CatalogState {
            name: self.name,
            labels: self.labels.map_or(Labels::Unknown, Labels::Known),
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

const SCHEMA: &str = "olmguard.snapshot/v1";

/// The maximum size of all extensions in bytes. Each one has about a thousand. The limit of all facts is four times as
/// large, because they are indented.
const MOST_EXTENSIONS: usize = 4 << 20;

/// The maximum length in bytes of a catalog name that fits into a file name, with directory and extension.
const NAME_LIMIT: usize = 80;

// === The memory that the facts of an archive can need, checked before they are read ===

/// The maximum size of the facts in bytes. A cluster of a thousand extensions and a thousand policies has two million.
pub(super) const MOST_BYTES: u64 = 16 << 20;

/// The maximum number of values: items of lists and members of objects. The same cluster has about 80,000.
const MOST_VALUES: usize = 400_000;

/// Refuses facts that are larger than those of any real cluster.
pub(super) fn check_size(json: &[u8]) -> Result<(), ArchiveFault> {
    if json.len() as u64 > MOST_BYTES {
        return Err(ArchiveFault::Size);
    }
    Ok(json_values::at_most(MOST_VALUES, json)?)
}
