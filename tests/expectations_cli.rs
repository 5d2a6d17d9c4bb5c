//! `olmguard test` as it is run: suites, what is said of them, and how it ends.
#![cfg(feature = "program")]

mod common {
    pub(crate) mod committed;
    pub(crate) mod junit;
    pub(crate) mod schema;
}

mod expectations {
    mod ends;
    mod forms;
    pub(crate) mod scene;
    mod strict;
    mod updates;
}
