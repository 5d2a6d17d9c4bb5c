//! The commands that read a cluster, against an API server: `check --from-cluster`, `audit --from-cluster`,
//! `migrate --from-cluster`, `catalogs`, `doctor` and `snapshot save`.
#![expect(
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails there"
)]

mod audit;
mod catalogs;
mod check;
mod costly;
mod doctor;
mod guarded;
mod migrate;
mod policies;
mod presync;
mod save;
pub(crate) mod scene;
mod unreachable;
