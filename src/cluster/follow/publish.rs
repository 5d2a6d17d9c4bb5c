//! Snapshots take each other's place, and the end of an old one costs no edit anything.
//!
//! Whoever judges holds the snapshot that it began with, and who lets go last pays for its end, some
//! milliseconds for a large catalog. So an old one is held here, too, until nobody else does.

use std::sync::Arc;

use arc_swap::ArcSwap;

use olmguard_engine::snapshot::{CatalogState, Content, Snapshot};

/// Where the snapshot of the moment stands, and those that were there before.
#[derive(Debug)]
pub(super) struct SnapshotStore {
    current: Arc<ArcSwap<Snapshot>>,
    retired: Vec<Arc<Snapshot>>,
}

impl SnapshotStore {
    pub(super) fn new(current: Arc<ArcSwap<Snapshot>>) -> Self {
        Self {
            current,
            retired: Vec::new(),
        }
    }

    /// Edits are judged by this one from now on; false if that is no other than before.
    pub(super) fn publish(&mut self, snapshot: Snapshot) -> bool {
        let is_other = !is_same(&self.current.load(), &snapshot);
        if is_other {
            self.retired.push(self.current.swap(Arc::new(snapshot)));
        }
        is_other
    }

    /// Takes those out that nobody judges by any more.
    pub(super) fn done(&mut self) -> Vec<Arc<Snapshot>> {
        // A swap has turned whatever was borrowed into a count, and nobody can begin with an old one,
        // so a count of one stays one.
        let is_done = |snapshot: &mut Arc<Snapshot>| Arc::strong_count(snapshot) == 1;
        self.retired.extract_if(.., is_done).collect()
    }

    /// Whether some are still judged by.
    pub(super) fn is_waiting(&self) -> bool {
        !self.retired.is_empty()
    }
}

fn is_same(one: &Snapshot, other: &Snapshot) -> bool {
    let catalogs = || one.catalogs().iter().zip(other.catalogs());
    one.rules() == other.rules()
        && one.catalogs().len() == other.catalogs().len()
        && catalogs().all(|(one, other)| is_same_state(one, other))
}

/// Content is compared by where it is: nothing is loaded twice without a reason.
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

#[cfg(test)]
mod tests {
    use super::*;
    use olmguard_catalog::olm::Rules;

    fn snapshot(priority: i32) -> Snapshot {
        let mut state = CatalogState::named("hub", Content::Missing);
        state.priority = priority;
        Snapshot::new(Rules::default(), [state])
    }

    #[test]
    fn the_same_again_is_not_published() {
        let mut stage = SnapshotStore::new(Arc::default());
        assert!(!stage.publish(Snapshot::default()));
        assert!(stage.publish(snapshot(1)) && !stage.publish(snapshot(1)));
        assert!(stage.publish(snapshot(2)));
        assert_eq!(stage.done().len(), 2);
    }

    #[test]
    fn an_old_snapshot_ends_when_nobody_reads_it() {
        let current = Arc::new(ArcSwap::from_pointee(Snapshot::default()));
        let mut stage = SnapshotStore::new(Arc::clone(&current));
        let read = current.load();
        stage.publish(snapshot(1));
        stage.publish(snapshot(2));
        assert_eq!(stage.done().len(), 1, "the one between was read by nobody");
        assert!(stage.is_waiting() && stage.done().is_empty());
        drop(read);
        assert_eq!(stage.done().len(), 1);
        assert!(!stage.is_waiting());
    }
}
