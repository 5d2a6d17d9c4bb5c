//! Which links are followed below a directory that someone names: those with a target inside it.
//!
//! Catalogs and manifests come from elsewhere: neither an image nor a pull request must make a
//! pipeline read other files of its machine. What is named itself is read wherever it is.

use std::io;
use std::path::{Path, PathBuf};

/// A directory that someone named.
#[derive(Debug)]
pub(crate) struct Root(PathBuf);

impl Root {
    /// This directory, which may be named through links.
    pub(crate) fn of(directory: &Path) -> io::Result<Self> {
        resolved(directory).map(Self)
    }

    /// The path without links.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The target of a link in it, without links; none if that is outside.
    pub(crate) fn target(&self, link: &Path) -> io::Result<Option<PathBuf>> {
        let target = resolved(link)?;
        Ok(target.starts_with(&self.0).then_some(target))
    }
}

/// Every part of a path is looked up for this.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    #[cfg(test)]
    lookups::add(path.components().count());
    path.canonicalize()
}

/// How often a test has asked the file system.
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
