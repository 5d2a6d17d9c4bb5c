//! `olmguard test` as it is run: suites, what is said of them, and how it ends.

mod ends;
mod forms;
mod scene;
mod strict;
mod updates;
