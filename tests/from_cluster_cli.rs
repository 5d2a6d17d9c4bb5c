//! `check --from-cluster`, `catalogs`, `doctor` and `snapshot save` as they are run, against an API server.
#![cfg(feature = "program")]
#![expect(
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails there"
)]

mod common {
    pub(crate) mod api_server;
    pub(crate) mod schema;
}

mod from_cluster {
    mod catalogs;
    mod check;
    mod doctor;
    mod guarded;
    mod presync;
    mod save;
    mod scene;
    mod unreachable;
}
