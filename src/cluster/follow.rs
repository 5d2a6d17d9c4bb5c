//! The catalogs of a cluster while the program runs, as a snapshot of their best known contents.
//!
//! ```text
//! watch --WatchEvent--> table --Job--> loader: cache, else catalogd, then the object once more
//! OLM   --Rules---------->  |   <--Loaded, or why not--'
//! images --BundleContents-> |
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

mod catalog_table;
mod confidence;
mod content;
mod job;
mod load;
mod publish;
mod report;
mod run;
#[cfg(test)]
mod tests;
mod tracked;

pub use catalog_table::AgeLimit;
pub use load::ContentLoader;
pub use report::{StatusBoard, StatusListener};
pub use run::FollowConfig;

/// Follows for as long as somebody sends events; it must be called within a runtime.
pub async fn follow(loader: ContentLoader, terms: FollowConfig) {
    run::run(loader, terms).await;
}
