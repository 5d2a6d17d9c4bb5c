//! `olmguard check --base`: a change judged as an upgrade from what there was before.
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
