//! An edit of a `ClusterCatalog`, and the catalogs as they are after it.
//!
//! Upstream: operator-controller, [`internal/operator-controller/controllers/clusterextension_controller.go`], resolves
//! every extension again after each change of a catalog, except a change that keeps its resolved image. catalogd drops
//! the content of a catalog that becomes Unavailable, and fetches the content of another image later. So the content
//! behind a tag is not known when the edit is made.
//!
//! Invariant: contents are shared with the snapshot before the edit, never copied.
//!
//! [`internal/operator-controller/controllers/clusterextension_controller.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/controllers/clusterextension_controller.go

use std::sync::Arc;

use serde_json::Value;

use crate::snapshot::{
    Age, Availability, CatalogState, ClusterCatalogError, Content, Currency, ServingState,
    Snapshot, digest_of,
};
use olmguard_catalog::Catalog;

/// An edit of one `ClusterCatalog`, as far as it affects resolution.
#[derive(Clone, Debug)]
pub struct CatalogEdit {
    name: String,
    old: Option<RequestedCatalog>,
    new: Option<RequestedCatalog>,
}

/// The source that an object requests.
#[derive(Clone, Debug)]
struct RequestedCatalog {
    state: CatalogState,
    /// `spec.source.image.ref`.
    image: Option<String>,
}

/// The catalogs after an edit.
#[derive(Clone, Debug)]
pub struct EditedCatalogs {
    /// All catalogs after the edit; absent if nothing comparable is known about the edited catalog.
    pub snapshot: Option<Snapshot>,
    /// The content of the edited catalog.
    pub content: EditedContent,
}

/// The content of a catalog after an edit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum EditedContent {
    /// The content stays the same, or no content matters.
    Same,
    /// The content that this catalog has loaded, because both images have the same digest.
    LoadedAs(String),
    /// The content is not loaded.
    Unknown,
}

impl CatalogEdit {
    /// Reads the edit that replaces `old` with `new`. Without `old`, the edit is a creation; without `new`, a deletion.
    ///
    /// # Errors
    /// Fails if an object cannot be read.
    pub fn read(old: Option<&Value>, new: Option<&Value>) -> Result<Self, ClusterCatalogError> {
        let read = |object: Option<&Value>| object.map(RequestedCatalog::read).transpose();
        let (old, new) = (read(old)?, read(new)?);
        let named = new.as_ref().or(old.as_ref());
        let named = named.ok_or(ClusterCatalogError::NoName)?;
        Ok(Self {
            name: named.state.name.clone(),
            old,
            new,
        })
    }

    /// The name of the catalog.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether OLM resolves the same before and after the edit, whatever the catalogs contain.
    pub fn is_idle(&self) -> bool {
        match (&self.old, &self.new) {
            (Some(old), Some(new)) => {
                let is_same = old.image == new.image && is_described_as(&old.state, &new.state);
                is_same || !(old.is_available() || new.is_available())
            }
            (None, Some(new)) => !new.is_available(),
            (Some(old), None) => !old.is_available(),
            (None, None) => true,
        }
    }

    /// Whether a policy can deny the edit, with this content after it. A removal of the catalog, by deletion or as
    /// Unavailable, is never denied. Without the new content there is no evidence.
    pub fn can_be_denied(&self, content: &EditedContent) -> bool {
        let stays = self
            .new
            .as_ref()
            .is_some_and(RequestedCatalog::is_available);
        stays && *content != EditedContent::Unknown
    }

    /// The catalogs before the edit, if the known state of the edited catalog differs from its old object. A change
    /// that a watch has missed is then not attributed to the edit.
    pub fn before(&self, now: &Snapshot) -> Option<Snapshot> {
        let current = now.catalog(&self.name)?;
        let old = self.old.as_ref()?;
        (!is_described_as(&old.state, current)).then(|| now.with(old.described(current)))
    }

    /// The catalogs after the edit.
    pub fn after(&self, now: &Snapshot) -> EditedCatalogs {
        let current = now.catalog(&self.name);
        let Some(new) = &self.new else {
            return EditedCatalogs::same(current.map(|_| now.without(&self.name)));
        };
        if !new.is_available() {
            let state = new.described(current.unwrap_or(&new.state));
            return EditedCatalogs::same(Some(now.with(state)));
        }
        if self.keeps_content() {
            let state = current.map(|current| now.with(new.described(current)));
            return EditedCatalogs::same(state);
        }
        match new.loaded_in(now) {
            Some((catalog, content)) => EditedCatalogs {
                snapshot: Some(now.with(new.loaded_with(content))),
                content: EditedContent::LoadedAs(catalog.name.clone()),
            },
            None => EditedCatalogs {
                snapshot: self.with_present_content(now, new),
                content: EditedContent::Unknown,
            },
        }
    }

    /// Whether the loaded content stays in use. A catalog that was Unavailable has no content until catalogd fetches it
    /// again.
    fn keeps_content(&self) -> bool {
        match (&self.old, &self.new) {
            (Some(old), Some(new)) => old.image == new.image && old.is_available(),
            _ => false,
        }
    }

    /// The catalogs with the other changes of the edit, while catalogd still serves the content of the old image.
    fn with_present_content(&self, now: &Snapshot, new: &RequestedCatalog) -> Option<Snapshot> {
        let old = self.old.as_ref().filter(|old| old.is_available())?;
        let current = now.catalog(&self.name)?;
        (!is_described_as(&old.state, &new.state)).then(|| now.with(new.described(current)))
    }
}

impl EditedCatalogs {
    /// The catalogs, with unchanged content. If the snapshot does not have the catalog, its content is unknown too.
    fn same(snapshot: Option<Snapshot>) -> Self {
        let content = match snapshot {
            Some(_) => EditedContent::Same,
            None => EditedContent::Unknown,
        };
        Self { snapshot, content }
    }
}

impl RequestedCatalog {
    fn read(object: &Value) -> Result<Self, ClusterCatalogError> {
        let image = object.pointer("/spec/source/image/ref");
        Ok(Self {
            state: CatalogState::read(object).map_err(|bad| bad.error)?,
            image: image.and_then(Value::as_str).map(str::to_owned),
        })
    }

    fn is_available(&self) -> bool {
        self.state.availability == Availability::Available
    }

    /// The catalog `of` with the requested labels, priority and availability, and its own content.
    fn described(&self, of: &CatalogState) -> CatalogState {
        CatalogState {
            labels: self.state.labels.clone(),
            priority: self.state.priority,
            availability: self.state.availability,
            ..of.clone()
        }
    }

    /// The catalog whose loaded content has the requested digest, and that content.
    fn loaded_in<'s>(&self, now: &'s Snapshot) -> Option<(&'s CatalogState, &'s Arc<Catalog>)> {
        let digest = digest_of(self.image.as_deref()?)?;
        let mut loaded = now.catalogs().iter().filter_map(|catalog| {
            let Content::Loaded(content) = &catalog.content else {
                return None;
            };
            (catalog.digest() == Some(digest)).then_some((catalog, content))
        });
        loaded.next()
    }

    /// The requested catalog once catalogd serves the content.
    fn loaded_with(&self, content: &Arc<Catalog>) -> CatalogState {
        CatalogState {
            serving: ServingState::Presumed,
            image_ref: self.image.clone(),
            last_unpacked: None,
            currency: Currency::Current,
            age: Age::default(),
            content: Content::Loaded(Arc::clone(content)),
            ..self.state.clone()
        }
    }
}

/// Whether both catalogs have the same labels, priority and availability.
fn is_described_as(one: &CatalogState, other: &CatalogState) -> bool {
    one.labels == other.labels
        && one.priority == other.priority
        && one.availability == other.availability
}

#[cfg(test)]
mod tests;
