//! Where in an object the walk is, as the API server writes it: `spec.channels[0]`.

use std::fmt;

use super::excerpt::excerpt;
use olmguard_catalog::version::go;

/// A place in an object; each part knows the one above it.
#[derive(Clone, Copy)]
pub(super) enum Path<'a> {
    /// The object itself.
    Root,
    /// A field, or a value of a map.
    Field(&'a Self, &'a str),
    /// An item of a list.
    Item(&'a Self, usize),
}

/// Names of maps are the user's, so they are escaped as Go's `%q` would, and cut.
impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(Self::Root, name) => f.write_str(&go::escape(&excerpt(name))),
            Self::Field(parent, name) => write!(f, "{parent}.{}", go::escape(&excerpt(name))),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}
