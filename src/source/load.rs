//! A whole catalog, read and indexed, as one of a snapshot.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::source::{Decoder, Progress, SourceError, read_from, read_from_with, read_with};
use olmguard_catalog::fbc::intake::Decisive;
use olmguard_catalog::memory::Pool;
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{Catalog, CatalogBuilder};
use olmguard_engine::snapshot::{CatalogState, Content};

/// Loads catalogs, one after another, with one decoder.
#[derive(Debug)]
pub struct Loader<'a> {
    rules: &'a Rules,
    progress: &'a Progress,
    memory: &'a Pool,
    decoder: Decoder,
}

impl<'a> Loader<'a> {
    /// Loads by these rules, with a view of how far the reading is. The catalogs take their memory from the pool.
    pub fn new(rules: &'a Rules, progress: &'a Progress, memory: &'a Pool) -> Self {
        Self {
            rules,
            progress,
            memory,
            decoder: Decoder::default(),
        }
    }

    /// The content at `path`, a file or a folder.
    pub fn load(&mut self, path: &Path) -> Content {
        let mut builder = CatalogBuilder::within(self.rules, self.memory.account());
        let intake = &mut Decisive(&mut builder);
        let read = read_with(&mut self.decoder, path, self.progress, intake);
        content(&path.to_string_lossy(), read, builder)
    }

    /// The content from anywhere, as a file of this name.
    pub(super) fn load_from(&mut self, name: &str, input: impl Read) -> Content {
        let mut builder = CatalogBuilder::within(self.rules, self.memory.account());
        let read = read_from_with(&mut self.decoder, name, input, self.progress, &mut builder);
        content(name, read, builder)
    }
}

/// The catalog `name`, whose content lies at `path`, a file or a folder.
///
/// A catalog that cannot be read is one all the same: what needs it is undecided, the rest is judged.
pub fn load(name: &str, path: &Path, rules: &Rules) -> CatalogState {
    let (progress, memory) = (Progress::default(), Pool::unbounded());
    let content = Loader::new(rules, &progress, &memory).load(path);
    CatalogState::named(name, content)
}

/// The catalog `name` from bytes that are already in memory, as a file of its name.
pub fn load_bytes(name: &str, bytes: &[u8], rules: &Rules) -> CatalogState {
    let mut builder = CatalogBuilder::new(rules);
    let read = read_from(name, bytes, &Progress::default(), &mut builder);
    CatalogState::named(name, content(name, read, builder))
}

fn content(name: &str, read: Result<(), SourceError>, builder: CatalogBuilder<'_>) -> Content {
    match read.and_then(|()| finished(name, builder)) {
        Ok(catalog) => Content::Loaded(Arc::new(catalog)),
        Err(error) => Content::Unreadable(error.to_string()),
    }
}

/// The index of what was read from a file or address of this name.
///
/// # Errors
/// If it needs more memory than it can use.
pub fn finished(name: &str, builder: CatalogBuilder<'_>) -> Result<Catalog, SourceError> {
    let file = name.into();
    builder
        .finish()
        .map_err(|source| SourceError::Memory { file, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_read_is_loaded() {
        let catalog = "schema: olm.package\nname: p\n";
        let state = load_bytes("c", catalog.as_bytes(), &Rules::default());
        let names: Vec<_> = state.loaded().unwrap().package_names().collect();
        assert_eq!(names, ["p"]);
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let state = load("c", Path::new("no/such/catalog"), &Rules::default());
        let Content::Unreadable(why) = &state.content else {
            panic!("{state:?}");
        };
        assert!(why.starts_with("no/such/catalog: cannot open: "), "{why}");
        let state = load_bytes("c", b"schema: [", &Rules::default());
        assert!(matches!(state.content, Content::Unreadable(_)), "{state:?}");
    }
}
