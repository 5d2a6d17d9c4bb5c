//! `olmguard check` as a command: its inputs, its output, and its exit code.

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
