//! `olmguard check --base`: a change judged as an upgrade from what there was before.
#![cfg(feature = "program")]
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on fails there"
)]

mod common {
    pub(crate) mod git;
    pub(crate) mod junit;
    pub(crate) mod schema;
}

mod check {
    #[expect(dead_code, reason = "the rest is of the tests without a base")]
    pub(crate) mod scene;
}

mod base {
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
}
