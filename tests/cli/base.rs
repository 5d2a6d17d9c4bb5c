//! `olmguard check --base`: a change checked as an upgrade from the earlier state.
#![expect(
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails there"
)]

mod broken;
mod changes;
mod dotted;
mod doubts;
mod emptied;
mod flags;
mod folders;
mod forms;
mod installed;
mod links;
mod many;
mod repositories;
mod repository;
mod safety;
mod skipped;
mod table;
mod templates;
mod unchanged;
