//! Shared parts of the program's tests: servers, clients, and processes.

#![expect(
    missing_docs,
    missing_debug_implementations,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::return_self_not_must_use,
    clippy::unwrap_used,
    reason = "only tests use it: what cannot go on fails there, and names say what is what"
)]

use std::path::PathBuf;

use tokio::sync::Mutex;

pub mod api;
pub mod api_server;
pub mod examples;
pub mod git;
pub mod https;
pub mod junit;
pub mod oci;
pub mod process;
pub mod programs;
pub mod schema;
pub mod shapes;
pub mod shown;
pub mod load {
    pub mod figures;
    pub mod files;
    pub mod fleet;
    pub mod questions;
    pub mod review;
    pub mod served;
    pub mod wire;
}
pub mod catalogd {
    pub mod answer;
    pub mod authority;
    pub mod scripted;
}
pub mod apiserver {
    pub mod objects;
    pub mod served;
}

/// The root directory of the repository.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A lock for tests that measure their process or the machine, so that no two of them run together.
pub static ALONE: Mutex<()> = Mutex::const_new(());

/// Returns the path of the program, which Cargo builds next to the tests that run it.
pub fn program() -> PathBuf {
    let test = std::env::current_exe().expect("a test is a file");
    let deps = test.parent().expect("it lies in a folder");
    let folder = deps.parent().expect("which lies beside the program");
    folder.join(format!("olmguard{}", std::env::consts::EXE_SUFFIX))
}
