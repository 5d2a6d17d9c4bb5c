//! `olmguard check` as it is run: what it reads, what it prints, where, and how it ends.
#![cfg(feature = "program")]
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on fails there"
)]

mod common {
    pub(crate) mod committed;
    pub(crate) mod saved;
    pub(crate) mod schema;
}

mod check {
    mod catalogs;
    mod edges;
    mod exit_codes;
    mod forms;
    mod inputs;
    mod installed;
    mod output;
    mod pinned;
    mod places;
    mod reviews;
    pub(crate) mod scene;
    mod snapshot;
}
