//! The files for pipelines are run: each is read, and its steps do on a repository what the runner would
//! make them do. One repository passes, in one something is denied, and one cannot be read.
#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test that cannot go on fails there, and says what it leaves out"
)]

mod bases;
mod both;
mod github;
mod github_install;
mod gitlab;
mod page;
mod pre_commit;
mod rendered;
mod repository;
mod shown;
