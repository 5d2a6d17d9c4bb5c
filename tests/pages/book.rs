//! The book in `docs`: its commands print the output below them, its links are valid, and each reason code has its
//! page.
//!
//! With `OLMGUARD_BLESS=1`, the output of the commands is written instead of compared.

mod all;
mod architecture;
mod links;
mod tasks;
mod tokens;
