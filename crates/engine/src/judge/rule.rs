//! Rows 2 to 18, for a request that can be read.

use crate::extension::{Filter, Installed};
use crate::judge::asking::Asking;
use crate::judge::guarded::guarded;
use crate::judge::{Basis, Ruled, Ruling};

/// What resolution is asked.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What the extension asks for.
    pub filter: &'a Filter,
    /// What is installed.
    pub installed: &'a Installed,
}

/// Rows 2 to 18.
pub fn rule<'s>(basis: Basis<'s>, request: &Request<'_>) -> Ruled<'s> {
    match Asking::of(basis, request.filter) {
        Ok(asking) => guarded(&asking, request.installed),
        Err(error) => Ruling::from(error).into(),
    }
}
