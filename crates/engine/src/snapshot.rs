//! All catalogs of a cluster at one moment: what resolution sees, immutable and swapped whole.
//!
//! Upstream: operator-controller, [`internal/operator-controller/catalogmetadata/client/client.go`]
//! (when a catalog can be read) and [`internal/operator-controller/resolve/catalog.go`] (which catalogs
//! are walked). The order there is that of an informer's cache, so undefined; here it is the byte
//! order of the names, whatever the order of the inputs.
//!
//! [`internal/operator-controller/catalogmetadata/client/client.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/catalogmetadata/client/client.go
//! [`internal/operator-controller/resolve/catalog.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/resolve/catalog.go

mod cluster_catalog;
mod edit;

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use olmguard_catalog::Catalog;
use olmguard_catalog::olm::Rules;
use olmguard_catalog::selector::Selector;

pub use crate::snapshot::cluster_catalog::{
    BadClusterCatalog, ClusterCatalogError, METADATA_NAME_LABEL,
};
pub use crate::snapshot::edit::{CatalogEdit, EditedCatalogs, EditedContent};

/// The catalogs of a cluster at one moment, and the rules of the OLM in it.
///
/// Invariant: `catalogs` stand in byte order of their names, each name once.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    rules: Rules,
    catalogs: Arc<[CatalogState]>,
    /// No one said which catalogs there are; false of a cluster without any.
    is_unasked: bool,
}

/// One `ClusterCatalog`, with its content where that is held.
#[derive(Clone, Debug)]
pub struct CatalogState {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.labels`.
    pub labels: Labels,
    /// `spec.priority`; higher wins.
    pub priority: i32,
    /// `spec.availabilityMode`.
    pub availability: Availability,
    /// The Serving condition, as far as it is known.
    pub serving: ServingState,
    /// `status.resolvedSource.image.ref`; where content is held, that of the content.
    pub image_ref: Option<String>,
    /// `status.lastUnpacked`; where content is held, that of the content.
    pub last_unpacked: Option<String>,
    /// Whether the content held is what the object names.
    pub currency: Currency,
    /// Whether that was known not too long ago.
    pub age: Age,
    /// What is held of its content.
    pub content: Content,
}

/// What is known of a catalog's labels.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Labels {
    /// All of them, the automatic one included.
    Known(BTreeMap<String, String>),
    /// They cannot be read, so that any selector may match them.
    Unknown,
}

/// Whether a catalog takes part in resolution at all.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Availability {
    /// It does.
    #[default]
    Available,
    /// `spec.availabilityMode: Unavailable`: it is as if it did not exist.
    Unavailable,
}

/// What is known of a catalog's Serving condition.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ServingState {
    /// It is True, or nothing says that it is not.
    #[default]
    Presumed,
    /// The object carries a status, and Serving is absent in it or not True.
    KnownNot,
}

/// Whether content that is held is what its object names.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Currency {
    /// It is, or nothing says that it is not.
    #[default]
    Current,
    /// The object names other content by now, which is not held yet.
    Superseded,
}

/// How long ago it was known that content is what its object names, by what is allowed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Age {
    /// No longer than is allowed.
    #[default]
    Allowed,
    /// Longer, and this is what becomes of edits that need it.
    Old(OnOldCatalog),
}

/// What becomes of edits that need a catalog whose content is too old.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum OnOldCatalog {
    /// They are judged by it, with a warning.
    #[default]
    Warn,
    /// They are undecided.
    Undecided,
}

/// What is held of a catalog's content.
#[derive(Clone, Debug)]
pub enum Content {
    /// All of it, decoded.
    Loaded(Arc<Catalog>),
    /// Nothing was given for it.
    Missing,
    /// It could not be fetched, for this reason: what it is, nobody has seen.
    Unfetched(String),
    /// It could not be read, for this reason.
    Unreadable(String),
}

impl Snapshot {
    /// A snapshot of these catalogs; of two with one name the last is kept.
    pub fn new(rules: Rules, catalogs: impl IntoIterator<Item = CatalogState>) -> Self {
        let by_name: BTreeMap<String, CatalogState> = catalogs
            .into_iter()
            .map(|catalog| (catalog.name.clone(), catalog))
            .collect();
        Self {
            rules,
            catalogs: by_name.into_values().collect(),
            is_unasked: false,
        }
    }

    /// A snapshot of no catalogs because no one said which there are, as opposed to a cluster without any.
    pub fn not_given(rules: Rules) -> Self {
        Self {
            is_unasked: true,
            ..Self::new(rules, [])
        }
    }

    /// The same with this catalog, in the place of the one of its name if there is one.
    #[must_use]
    pub fn with(&self, catalog: CatalogState) -> Self {
        let all = self.catalogs.iter().cloned();
        Self::new(self.rules.clone(), all.chain([catalog]))
    }

    /// The same without the catalog of this name.
    #[must_use]
    pub fn without(&self, name: &str) -> Self {
        let mut others = self.catalogs.to_vec();
        others.retain(|catalog| catalog.name != name);
        Self::new(self.rules.clone(), others)
    }

    /// Whether it is known which catalogs there are.
    pub fn is_given(&self) -> bool {
        !self.is_unasked
    }

    /// The rules of the OLM in the cluster.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Every catalog, in byte order of the names.
    pub fn catalogs(&self) -> &[CatalogState] {
        &self.catalogs
    }

    /// The catalog of this name.
    pub fn catalog(&self, name: &str) -> Option<&CatalogState> {
        let at = self
            .catalogs
            .binary_search_by(|catalog| catalog.name.as_str().cmp(name))
            .ok()?;
        self.catalogs.get(at)
    }
}

impl Content {
    /// Why there is none, where that is known.
    pub fn fault(&self) -> Option<&str> {
        match self {
            Self::Unfetched(why) | Self::Unreadable(why) => Some(why),
            Self::Loaded(_) | Self::Missing => None,
        }
    }
}

impl Labels {
    /// These, with the automatic one, which replaces any other value.
    pub fn with_name(name: &str, mut labels: BTreeMap<String, String>) -> Self {
        labels.insert(METADATA_NAME_LABEL.to_owned(), name.to_owned());
        Self::Known(labels)
    }
}

impl CatalogState {
    /// A catalog that no object describes: priority 0 and only its automatic label.
    pub fn named(name: &str, content: Content) -> Self {
        Self {
            name: name.to_owned(),
            labels: Labels::with_name(name, BTreeMap::new()),
            priority: 0,
            availability: Availability::default(),
            serving: ServingState::default(),
            image_ref: None,
            last_unpacked: None,
            currency: Currency::default(),
            age: Age::default(),
            content,
        }
    }

    /// Whether a selector takes it, or may take it: what is unknown rules nothing out.
    pub fn may_match(&self, selector: &Selector) -> bool {
        match &self.labels {
            Labels::Known(labels) => selector.matches(labels),
            Labels::Unknown => true,
        }
    }

    /// The digest of the content, `sha256:...`, where the object names one.
    pub fn digest(&self) -> Option<&str> {
        digest_of(self.image_ref.as_deref()?)
    }

    /// The content, if resolution can use it.
    pub fn loaded(&self) -> Option<&Catalog> {
        match (&self.content, self.serving) {
            (Content::Loaded(catalog), ServingState::Presumed) => Some(catalog),
            _ => None,
        }
    }
}

/// The digest of a reference to an image, if it has one.
fn digest_of(image: &str) -> Option<&str> {
    image.split_once('@').map(|(_, digest)| digest)
}

// === Catalogs that a cluster, objects and users describe together ===

/// The catalogs of a cluster or of a saved one, as `objects` describe them and with the contents that are given.
///
/// An object says which labels, priority and mode a catalog has; given content takes the place of what the cluster
/// holds. A catalog that only an object or only content names is one as well.
pub fn merge(
    mut cluster: Vec<CatalogState>,
    objects: Vec<CatalogState>,
    mut contents: Vec<(&str, Content)>,
) -> Vec<CatalogState> {
    replace(&mut cluster, &mut contents);
    describe(&mut cluster, objects);
    fill(&mut cluster, contents);
    cluster
}

/// Gives catalogs the contents of their names, and takes those from the list. What the cluster says about the
/// content that it holds is not true of another one.
fn replace(states: &mut [CatalogState], contents: &mut Vec<(&str, Content)>) {
    contents.retain_mut(|(name, content)| {
        let state = states.iter_mut().find(|state| state.name == *name);
        let is_new = state.is_none();
        if let Some(state) = state {
            state.content = mem::replace(content, Content::Missing);
            state.image_ref = None;
            state.last_unpacked = None;
            state.currency = Currency::Current;
        }
        is_new
    });
}

/// What an object says wrong about a catalog stays wrong, whatever its content is. An object that names another
/// digest than that of the content has newer content.
fn describe(states: &mut Vec<CatalogState>, objects: Vec<CatalogState>) {
    for object in objects {
        match states.iter_mut().find(|state| state.name == object.name) {
            None => states.push(object),
            Some(state) => {
                if differ(object.digest(), state.digest()) {
                    state.currency = Currency::Superseded;
                }
                state.labels = object.labels;
                state.priority = object.priority;
                state.availability = object.availability;
                if let Content::Unreadable(_) = object.content {
                    state.content = object.content;
                }
            }
        }
    }
}

/// Whether both are known, and not the same.
fn differ(one: Option<&str>, other: Option<&str>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}

/// Gives the catalogs that objects describe the contents of their names.
fn fill(states: &mut Vec<CatalogState>, contents: Vec<(&str, Content)>) {
    for (name, content) in contents {
        match states.iter_mut().find(|state| state.name == name) {
            None => states.push(CatalogState::named(name, content)),
            Some(state) if matches!(state.content, Content::Missing) => state.content = content,
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetched(why: &str) -> Content {
        Content::Unfetched(why.to_owned())
    }

    fn state(name: &str, digest: &str, content: Content) -> CatalogState {
        CatalogState {
            image_ref: Some(format!("example.com/{name}@sha256:{digest}")),
            ..CatalogState::named(name, content)
        }
    }

    #[test]
    fn given_content_replaces_that_of_the_cluster_and_what_is_said_of_it() {
        let cluster = vec![state("hub", "1", fetched("cluster"))];
        let merged = merge(
            cluster,
            Vec::new(),
            vec![("hub", fetched("flag")), ("new", fetched("flag"))],
        );
        let found: Vec<_> = merged
            .iter()
            .map(|one| (&*one.name, one.content.fault(), one.digest()))
            .collect();
        assert_eq!(
            found,
            [("hub", Some("flag"), None), ("new", Some("flag"), None)]
        );
    }

    #[test]
    fn an_object_describes_and_supersedes_and_takes_content_it_lacks() {
        let cluster = vec![state("hub", "1", fetched("cluster"))];
        let mut hub = state("hub", "2", Content::Missing);
        hub.priority = 7;
        let bare = state("bare", "3", Content::Missing);
        let merged = merge(cluster, vec![hub, bare], vec![("bare", fetched("flag"))]);
        let found: Vec<_> = merged
            .iter()
            .map(|one| (&*one.name, one.priority, one.currency, one.content.fault()))
            .collect();
        let expected = [
            ("hub", 7, Currency::Superseded, Some("cluster")),
            ("bare", 0, Currency::Current, Some("flag")),
        ];
        assert_eq!(found, expected);
    }
}
