//! The book in `docs`: its commands print what stands below them, its links lead somewhere, and each
//! token has its page.
//!
//! With `OLMGUARD_BLESS=1` what commands print is written anew instead of compared.
#![cfg(feature = "program")]

mod common {
    pub(crate) mod committed;
    #[expect(dead_code, reason = "the examples are run by their own test")]
    pub(crate) mod examples;
    #[expect(dead_code, reason = "no sentence is looked at for flags")]
    pub(crate) mod shown;
}

mod pages {
    mod all;
    mod links;
    mod tasks;
    mod tokens;
}
