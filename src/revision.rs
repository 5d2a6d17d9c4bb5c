//! The files of a git revision, read from the repository's objects. An object below the named paths is not read if its
//! content is known already, and a file of the work tree with the same id replaces a missing object.
//!
//! ```text
//! path --Repository::around--> Repository --revision--> Revision --files, gone--> RevisionFile { path, bytes }
//! ```
//!
//! A directory has the same files as in a work tree: those that look like manifests, nothing hidden, links followed by
//! what they contain in the revision, as long as they stay within it. A submodule has the files of the commit that the
//! revision pins, if it is checked out.
//!
//! Invariants: nothing is run and nothing is written. Of all configuration only the repository's own
//! file is read, no environment variable is, and the library is built without the parts that
//! run filters, hooks or helpers; so it does not matter whose repository it is. Whatever the objects
//! are, no blob past [`crate::manifest::MAX_BYTES`] is taken, and a walk ends.

mod error;
mod repository;
mod tree;
mod walk;

pub use self::error::{FileError, RepositoryError, RevisionError};
pub use self::repository::{Repository, Revision};
pub use self::walk::{RevisionFile, RevisionFiles};
