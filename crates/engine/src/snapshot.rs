//! All catalogs of a cluster at one moment: the input of resolution, immutable and replaced as a whole.
//!
//! Upstream: operator-controller, [`internal/operator-controller/catalogmetadata/client/client.go`] (when a catalog can
//! be read) and [`internal/operator-controller/resolve/catalog.go`] (which catalogs are visited). Upstream, the order
//! of catalogs is that of an informer's cache, so it is undefined. Here it is the byte order of the names, regardless
//! of the order of the inputs.
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
use olmguard_preflight::content::BundleContents;

pub use crate::snapshot::cluster_catalog::{
    BadClusterCatalog, ClusterCatalogError, METADATA_NAME_LABEL,
};
pub use crate::snapshot::edit::{CatalogEdit, EditedCatalogs, EditedContent};

/// The catalogs of a cluster at one moment, the rules of its release of OLM, and the contents of bundles.
///
/// Invariant: `catalogs` are in byte order of their names, each name once.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    rules: Rules,
    catalogs: Arc<[CatalogState]>,
    contents: Arc<BundleContents>,
    /// Whether no catalogs were given; false for a cluster without catalogs.
    is_unasked: bool,
}

/// One `ClusterCatalog`, with its content if the content is loaded.
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
    /// `status.resolvedSource.image.ref`. If content is loaded, the reference that the content was loaded from.
    pub image_ref: Option<String>,
    /// `status.lastUnpacked`. If content is loaded, the time of that content.
    pub last_unpacked: Option<String>,
    /// Whether the loaded content is the content that the object names.
    pub currency: Currency,
    /// Whether the loaded content was confirmed current recently enough.
    pub age: Age,
    /// The content, or why it is missing.
    pub content: Content,
}

/// The labels of a catalog, as far as they are known.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Labels {
    /// All labels, including the automatic one.
    Known(BTreeMap<String, String>),
    /// The labels cannot be read, so any selector may match them.
    Unknown,
}

/// Whether a catalog takes part in resolution at all.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Availability {
    /// The catalog takes part.
    #[default]
    Available,
    /// `spec.availabilityMode: Unavailable`: the catalog is treated as if it did not exist.
    Unavailable,
}

/// The Serving condition of a catalog, as far as it is known.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ServingState {
    /// The condition is True, or nothing shows that it is not.
    #[default]
    Presumed,
    /// The object has a status in which Serving is absent or not True.
    KnownNot,
}

/// Whether loaded content is the content that its object names.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Currency {
    /// The content is current, or nothing shows that it is not.
    #[default]
    Current,
    /// The object names newer content, which is not loaded yet.
    Superseded,
}

/// How long ago content was confirmed current, compared with the limit.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Age {
    /// Within the limit.
    #[default]
    Allowed,
    /// Beyond the limit, with the treatment of edits that need the catalog.
    Old(OnOldCatalog),
}

/// The treatment of edits that need a catalog whose content is too old.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum OnOldCatalog {
    /// The edits are judged by the old content, with a warning.
    #[default]
    Warn,
    /// The edits are undecided.
    Undecided,
}

/// The content of a catalog, or why it is missing.
#[derive(Clone, Debug)]
pub enum Content {
    /// The whole content, decoded.
    Loaded(Arc<Catalog>),
    /// No content was given.
    Missing,
    /// The content could not be fetched, for this reason.
    Unfetched(String),
    /// The content could not be read, for this reason.
    Unreadable(String),
}

impl Snapshot {
    /// A snapshot of these catalogs. If several have the same name, the last one is kept.
    pub fn new(rules: Rules, catalogs: impl IntoIterator<Item = CatalogState>) -> Self {
        let by_name: BTreeMap<String, CatalogState> = catalogs
            .into_iter()
            .map(|catalog| (catalog.name.clone(), catalog))
            .collect();
        Self {
            rules,
            catalogs: by_name.into_values().collect(),
            contents: Arc::default(),
            is_unasked: false,
        }
    }

    /// A snapshot for which no catalogs are given, as opposed to a cluster without any.
    pub fn not_given(rules: Rules) -> Self {
        Self {
            is_unasked: true,
            ..Self::new(rules, [])
        }
    }

    /// The same snapshot with this catalog, which replaces any catalog of the same name.
    pub fn with(&self, catalog: CatalogState) -> Self {
        let all = self.catalogs.iter().cloned();
        self.of_catalogs(all.chain([catalog]))
    }

    /// The same snapshot without the catalog of this name.
    pub fn without(&self, name: &str) -> Self {
        let mut others = self.catalogs.to_vec();
        others.retain(|catalog| catalog.name != name);
        self.of_catalogs(others)
    }

    fn of_catalogs(&self, catalogs: impl IntoIterator<Item = CatalogState>) -> Self {
        Self {
            contents: Arc::clone(&self.contents),
            ..Self::new(self.rules.clone(), catalogs)
        }
    }

    /// The same snapshot with the known contents of bundle images.
    pub fn with_contents(self, contents: impl Into<Arc<BundleContents>>) -> Self {
        Self {
            contents: contents.into(),
            ..self
        }
    }

    /// The known contents of bundle images.
    pub fn contents(&self) -> &BundleContents {
        &self.contents
    }

    /// Whether catalogs were given.
    pub fn is_given(&self) -> bool {
        !self.is_unasked
    }

    /// The rules of the release of OLM in the cluster.
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
    /// Why the content is missing, if that is known.
    pub fn fault(&self) -> Option<&str> {
        match self {
            Self::Unfetched(why) | Self::Unreadable(why) => Some(why),
            Self::Loaded(_) | Self::Missing => None,
        }
    }
}

impl Labels {
    /// These labels with the automatic one, which replaces any other value of that label.
    pub fn with_name(name: &str, mut labels: BTreeMap<String, String>) -> Self {
        labels.insert(METADATA_NAME_LABEL.to_owned(), name.to_owned());
        Self::Known(labels)
    }
}

impl CatalogState {
    /// A catalog without an object: priority 0 and only the automatic label.
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

    /// Whether a selector matches the catalog, or may match it because its labels are unknown.
    pub fn may_match(&self, selector: &Selector) -> bool {
        match &self.labels {
            Labels::Known(labels) => selector.matches(labels),
            Labels::Unknown => true,
        }
    }

    /// The digest of the content, `sha256:...`, if the object names one.
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

/// The digest in an image reference, if there is one.
fn digest_of(image: &str) -> Option<&str> {
    image.split_once('@').map(|(_, digest)| digest)
}

// === Catalogs from a cluster, from objects and from users ===

/// The catalogs of a live or saved cluster, as `objects` describe them and with the given contents.
///
/// An object determines the labels, priority and mode of a catalog, and can show that the catalog is not served. Given
/// content replaces the content from the cluster. A catalog may come from an object alone, or from content alone.
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

/// Replaces the contents of catalogs with given contents of the same name, and removes those from the list. The
/// reference, the time, the currency and the serving state in the cluster describe the replaced content, so they are
/// dropped.
fn replace(states: &mut [CatalogState], contents: &mut Vec<(&str, Content)>) {
    contents.retain_mut(|(name, content)| {
        let state = states.iter_mut().find(|state| state.name == *name);
        let is_new = state.is_none();
        if let Some(state) = state {
            state.content = mem::replace(content, Content::Missing);
            state.image_ref = None;
            state.last_unpacked = None;
            state.currency = Currency::Current;
            state.serving = ServingState::Presumed;
        }
        is_new
    });
}

/// Applies the objects to the catalogs. A fault of an object remains, whatever the content is. If the digest of an
/// object differs from that of the content, newer content exists.
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
                if object.serving == ServingState::KnownNot {
                    state.serving = ServingState::KnownNot;
                }
                if let Content::Unreadable(_) = object.content {
                    state.content = object.content;
                }
            }
        }
    }
}

/// Whether both values are known and differ.
fn differ(one: Option<&str>, other: Option<&str>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}

/// Adds the given contents to catalogs without content, and adds catalogs for the remaining names. What the object of a
/// catalog says about serving remains.
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
    fn content_in_place_of_that_of_a_cluster_counts_as_served() {
        let unserved = |name, content| CatalogState {
            serving: ServingState::KnownNot,
            ..state(name, "1", content)
        };
        let cluster = vec![unserved("hub", Content::Missing)];
        let objects = vec![unserved("bare", Content::Missing)];
        let given = vec![("hub", fetched("flag")), ("bare", fetched("flag"))];
        let merged = merge(cluster, objects, given);
        let found = merged.iter().map(|one| (&*one.name, one.serving));
        let expected = [
            ("hub", ServingState::Presumed),
            ("bare", ServingState::KnownNot),
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn an_object_that_is_not_served_says_so_of_content_from_a_cluster() {
        let object = |name, serving| CatalogState {
            serving,
            ..state(name, "1", Content::Missing)
        };
        let cluster = ["a", "b", "c"].map(|name| state(name, "1", fetched("cluster")));
        let objects = vec![
            object("a", ServingState::KnownNot),
            object("b", ServingState::Presumed),
            object("c", ServingState::KnownNot),
        ];
        let merged = merge(cluster.to_vec(), objects, vec![("c", fetched("flag"))]);
        let found: Vec<_> = merged.iter().map(|one| one.serving).collect();
        let (presumed, not) = (ServingState::Presumed, ServingState::KnownNot);
        assert_eq!(found, [not, presumed, not]);
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
