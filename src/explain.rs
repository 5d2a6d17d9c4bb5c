//! Puts verdicts and ranges into words: the only room that writes sentences of our own.
//!
//! Texts here are part of the interface; tests pin them.

pub mod range;
