//! A whole catalog, read and indexed, as one of a snapshot.

use std::path::Path;
use std::sync::Arc;

use crate::source::{Progress, SourceError, read, read_from};
use olmguard_catalog::memory::Pool;
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{Catalog, CatalogBuilder};
use olmguard_engine::snapshot::{CatalogState, Content};

/// The catalog `name`, whose content lies at `path`, a file or a folder.
///
/// A catalog that cannot be read is one all the same: what needs it is undecided, the rest is judged.
pub fn load(name: &str, path: &Path, rules: &Rules) -> CatalogState {
    CatalogState::named(
        name,
        load_content(path, rules, &Progress::default(), &Pool::unbounded()),
    )
}

/// The content at `path`, with a view of how far its reading is. Its memory is that of the pool.
pub fn load_content(path: &Path, rules: &Rules, progress: &Progress, memory: &Pool) -> Content {
    let mut builder = CatalogBuilder::within(rules, memory.account());
    let read = read(path, progress, &mut builder);
    content(&path.to_string_lossy(), read, builder)
}

/// The catalog `name` from bytes that are already in memory, as a file of its name.
pub fn load_bytes(name: &str, bytes: &[u8], rules: &Rules) -> CatalogState {
    let mut builder = CatalogBuilder::new(rules);
    let read = read_from(name, bytes, &Progress::default(), &mut builder);
    CatalogState::named(name, content(name, read, builder))
}

pub(super) fn content(
    name: &str,
    read: Result<(), SourceError>,
    builder: CatalogBuilder<'_>,
) -> Content {
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
