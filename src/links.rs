//! The rule for links below a directory that the user named: only links with a target inside it are
//! followed.
//!
//! Catalogs and manifests come from other people: neither an image nor a pull request may make a
//! pipeline read other files of its machine. A path that the user names is read wherever it is.

use std::io;
use std::path::{Path, PathBuf};

/// A directory that the user named.
#[derive(Debug)]
pub(crate) struct Root(PathBuf);

impl Root {
    /// Resolves this directory, which may be named through links.
    pub(crate) fn of(directory: &Path) -> io::Result<Self> {
        resolved(directory).map(Self)
    }

    /// The path of the directory, without links.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the target of a link in the directory, without links; `None` if the target is
    /// outside.
    pub(crate) fn target(&self, link: &Path) -> io::Result<Option<PathBuf>> {
        let target = resolved(link)?;
        Ok(target.starts_with(&self.0).then_some(target))
    }
}

/// Resolves a path, which looks up every part of it.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    #[cfg(test)]
    lookups::add(path.components().count());
    path.canonicalize()
}

/// Counts the file system look-ups in tests.
#[cfg(test)]
pub(crate) mod lookups {
    use std::cell::Cell;

    thread_local! {
        static COUNT: Cell<usize> = const { Cell::new(0) };
    }

    pub(crate) fn add(more: usize) {
        COUNT.with(|count| count.set(count.get() + more));
    }

    pub(crate) fn of<T>(run: impl FnOnce() -> T) -> usize {
        let before = COUNT.with(Cell::get);
        run();
        COUNT.with(Cell::get) - before
    }
}
