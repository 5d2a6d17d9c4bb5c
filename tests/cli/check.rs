//! `olmguard check` as it is run: what it reads, what it prints, where, and how it ends.

mod catalogs;
mod edges;
mod exit_codes;
mod forms;
mod inputs;
mod installed;
mod output;
mod pinned;
mod places;
mod project;
mod requester;
mod reviews;
pub(crate) mod scene;
mod snapshot;
