//! `olmguard test` as a command: suites, their reports, and the exit code.

mod ends;
mod forms;
mod scene;
mod strict;
mod updates;
