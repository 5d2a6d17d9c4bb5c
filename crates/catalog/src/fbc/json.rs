//! JSON as Go's `encoding/json` reads it, strictly, in one pass over bytes.
//!
//! A [`Cursor`] walks a text and checks every byte it passes, in skipped values too, so a text
//! that was walked to its end is JSON. It differs from RFC 8259 where Go does: bytes that are not
//! UTF-8 are allowed in strings, at most `DEPTH_LIMIT` levels of nesting are.
//!
//! The text may be the beginning of one that is still being read: running out of it is
//! [`Halt::Incomplete`], never a fault.

mod cursor;
mod key;
mod number;
mod record;
mod skip;
mod string;
#[cfg(test)]
mod tests;
mod unknown;
mod value;

pub use cursor::{Cursor, CursorResult, Halt, skip_space};
pub use key::{Fold, Key, fold_of};
pub use record::Record;
pub(crate) use string::{RawString, plain_run};
pub use unknown::UnknownKey;
