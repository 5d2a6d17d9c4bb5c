//! The catalogs of a cluster while the program runs, as a snapshot of their last good contents.
//!
//! ```text
//! watch --WatchEvent--> table --Job--> loader: cache, otherwise catalogd, then the object once more
//! OLM   --Rules---------->  |   <--LoadOutcome---------'
//! images --BundleContents-> |
//!                           '--Snapshot--> store --swap--> judges
//! ```
//!
//! The digest that an object names decides what is loaded, and when. Loaded content stays in use until its successor is
//! completely loaded, whatever fails.
//!
//! Upstream: operator-controller, [`internal/operator-controller/controllers/clustercatalog_controller.go`]
//! (what makes it fetch) and [`internal/operator-controller/catalogmetadata/cache/cache.go`].
//!
//! Invariant: one task decides, and only that task writes the snapshot; other tasks load.
//!
//! [`internal/operator-controller/catalogmetadata/cache/cache.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/catalogmetadata/cache/cache.go
//! [`internal/operator-controller/controllers/clustercatalog_controller.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/controllers/clustercatalog_controller.go

mod catalog_table;
mod job;
mod load;
mod report;
mod run;
#[cfg(test)]
mod tests;
mod tracked;

pub use catalog_table::AgeLimit;
pub use load::ContentLoader;
pub use report::{StatusBoard, StatusListener};
pub use run::FollowConfig;

use std::ptr;
use std::sync::Arc;

use arc_swap::ArcSwap;

use olmguard_engine::snapshot::{CatalogState, Content, Snapshot};
use olmguard_preflight::content::BundleContents;

/// Follows the catalogs until the sender of events is dropped. Must be called within a runtime.
pub async fn follow(loader: ContentLoader, terms: FollowConfig) {
    run::run(loader, terms).await;
}

// === Publishing: a new snapshot replaces the old one, and no edit pays for dropping the old one ===
//
// A review keeps the snapshot that it started with. Dropping the last reference takes some milliseconds for a large
// catalog. So the store keeps an old snapshot until no review uses it.

/// The current snapshot, and the ones before it that are still in use.
#[derive(Debug)]
struct SnapshotStore {
    current: Arc<ArcSwap<Snapshot>>,
    retired: Vec<Arc<Snapshot>>,
}

impl SnapshotStore {
    fn new(current: Arc<ArcSwap<Snapshot>>) -> Self {
        Self {
            current,
            retired: Vec::new(),
        }
    }

    /// Makes this the current snapshot. Returns false if it equals the previous one.
    fn publish(&mut self, snapshot: Snapshot) -> bool {
        let is_other = !is_same(&self.current.load(), &snapshot);
        if is_other {
            self.retired.push(self.current.swap(Arc::new(snapshot)));
        }
        is_other
    }

    /// Removes the snapshots that no review uses any more.
    fn done(&mut self) -> Vec<Arc<Snapshot>> {
        // The swap has turned every borrow of an old snapshot into a reference count, and no new reference to it can
        // start. So a count of one stays one.
        let is_done = |snapshot: &mut Arc<Snapshot>| Arc::strong_count(snapshot) == 1;
        self.retired.extract_if(.., is_done).collect()
    }

    /// Whether old snapshots are still in use.
    fn is_waiting(&self) -> bool {
        !self.retired.is_empty()
    }
}

fn is_same(one: &Snapshot, other: &Snapshot) -> bool {
    let catalogs = || one.catalogs().iter().zip(other.catalogs());
    one.rules() == other.rules()
        && is_same_contents(one.contents(), other.contents())
        && one.catalogs().len() == other.catalogs().len()
        && catalogs().all(|(one, other)| is_same_state(one, other))
}

/// Compares the contents of images and of the cluster, by identity unless both are empty.
fn is_same_contents(one: &BundleContents, other: &BundleContents) -> bool {
    let is_nothing = |it: &BundleContents| it.is_empty() && it.cluster().is_none();
    let are_nothing = is_nothing(one) && is_nothing(other) && one.is_ahead() == other.is_ahead();
    are_nothing || ptr::eq(one, other)
}

/// Compares two states. Content is compared by identity, because nothing is loaded twice without a reason.
fn is_same_state(one: &CatalogState, other: &CatalogState) -> bool {
    let CatalogState {
        name,
        labels,
        priority,
        availability,
        serving,
        image_ref,
        last_unpacked,
        currency,
        age,
        content,
    } = one;
    let is_same_content = match (content, &other.content) {
        (Content::Loaded(one), Content::Loaded(other)) => Arc::ptr_eq(one, other),
        (Content::Missing, Content::Missing) => true,
        (Content::Unfetched(one), Content::Unfetched(other))
        | (Content::Unreadable(one), Content::Unreadable(other)) => one == other,
        _ => false,
    };
    is_same_content
        && *name == other.name
        && *labels == other.labels
        && *priority == other.priority
        && *availability == other.availability
        && *serving == other.serving
        && *image_ref == other.image_ref
        && *last_unpacked == other.last_unpacked
        && *currency == other.currency
        && *age == other.age
}
