//! The files for pipelines are run: each is read, and its steps run in a repository as the runner would run them. One
//! repository passes, one has a denied edit, and one cannot be read.
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
