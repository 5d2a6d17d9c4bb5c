//! The book in `docs`: its commands print what stands below them, its links lead somewhere, and each
//! token has its page.
//!
//! With `OLMGUARD_BLESS=1` what commands print is written anew instead of compared.

mod all;
mod architecture;
mod links;
mod tasks;
mod tokens;
