//! The catalogs of a cluster, followed: a snapshot that is always as good as it can be.
//!
//! ```text
//! watch --WatchEvent--> table --Job--> loader: cache, else catalogd, then the object once more
//! OLM   --Rules---------->  |   <--Loaded, or why not--'
//!                           '--Snapshot--> stage --swap--> whoever judges
//! ```
//!
//! The digest that an object names decides what is loaded, and when. What is held stays, whatever
//! fails, until its successor is there whole.
//!
//! Upstream: operator-controller, [`internal/operator-controller/controllers/clustercatalog_controller.go`]
//! (what makes it fetch) and [`internal/operator-controller/catalogmetadata/cache/cache.go`].
//!
//! Invariant: one task decides, and it alone writes the snapshot; loading is done beside it.
//!
//! [`internal/operator-controller/catalogmetadata/cache/cache.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/catalogmetadata/cache/cache.go
//! [`internal/operator-controller/controllers/clustercatalog_controller.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/controllers/clustercatalog_controller.go

mod boot;
mod catalog_table;
mod confidence;
mod job;
mod load;
mod publish;
mod report;
mod run;
mod tell;
#[cfg(test)]
mod tests;
mod tracked;

pub use load::Loader;
pub use report::StatusBoard;
pub use run::FollowConfig;
pub use tell::StatusListener;

use std::num::NonZero;
use std::time::Duration;

use crate::source::catalogd::retry::Retry;
use olmguard_engine::snapshot::{Age, OnOldCatalog};

/// Follows for as long as somebody sends events; it must be called within a runtime.
pub async fn follow(loader: Loader, terms: FollowConfig) {
    run::run(loader, terms).await;
}

/// How old content may be, and what becomes of edits where it is older.
///
/// Its age is the time since it was known that the object names its digest: 0 while the watch is
/// alive and they agree, whatever the date of the content.
#[derive(Clone, Copy, Debug, Default)]
pub struct AgeLimit {
    /// Absent: any age will do.
    pub max: Option<Duration>,
    /// What becomes of edits.
    pub on_old: OnOldCatalog,
}

impl AgeLimit {
    /// What this age means; absent where nothing is held.
    fn of(&self, age: Option<Duration>) -> Age {
        match (age, self.max) {
            (Some(age), Some(max)) if age > max => Age::Old(self.on_old),
            _ => Age::Allowed,
        }
    }
}

/// How what fails is tried again. It is never given up; after so many tries nobody waits for it at
/// the start any longer.
const RETRY: Retry = Retry {
    base: Duration::from_millis(500),
    cap: Duration::from_mins(1),
    tries: NonZero::new(4).expect("more than none"),
};
