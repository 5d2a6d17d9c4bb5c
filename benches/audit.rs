//! `olmguard audit` at the size of a large fleet: 2,000 extensions over five whole catalogs, as they are and with one
//! of the catalogs replaced; and reports of 20 and of 200 clusters of 50 extensions each.
//!
//! Linux only: memory is the kernel's own count of ended child processes. Reads the catalogs through `OLMGUARD_SHARED`
//! (default `../shared`).
#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench prints its figures"
)]

#[path = "audit"]
mod bench {
    pub(crate) mod five;
    pub(crate) mod fleet;
    pub(crate) mod run;
}

fn main() {
    // The kernel's peak is of all children up to now, so the smallest run comes first.
    let folder = tempfile::tempdir().expect("a directory");
    let reports = bench::fleet::reports(folder.path());
    for clusters in [20, 200] {
        bench::fleet::print(&reports, clusters);
    }
    bench::five::print(folder.path());
}
