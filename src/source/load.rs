//! A whole catalog, read and indexed, as one of a snapshot.

use std::path::Path;
use std::sync::Arc;

use crate::catalog::{Catalog, CatalogBuilder};
use crate::olm::Rules;
use crate::snapshot::{CatalogState, Content};
use crate::source::{Progress, SourceError, read, read_from};

/// The catalog `name`, whose content lies at `path`, a file or a folder.
///
/// A catalog that cannot be read is one all the same: what needs it is undecided, the rest is judged.
pub fn load(name: &str, path: &Path, rules: &Rules) -> CatalogState {
    CatalogState::named(name, load_content(path, rules, &Progress::default()))
}

/// The content at `path`, with a view of how far its reading is.
pub fn load_content(path: &Path, rules: &Rules, progress: &Progress) -> Content {
    let mut builder = CatalogBuilder::new(rules);
    let read = read(path, progress, &mut builder);
    content(read, builder)
}

/// The catalog `name` from bytes that are already in memory, as a file of its name.
pub fn load_bytes(name: &str, bytes: &[u8], rules: &Rules) -> CatalogState {
    let mut builder = CatalogBuilder::new(rules);
    let read = read_from(name, bytes, &Progress::default(), &mut builder);
    CatalogState::named(name, content(read, builder))
}

pub(super) fn content(read: Result<(), SourceError>, builder: CatalogBuilder<'_>) -> Content {
    match read {
        Ok(()) => Content::Loaded(Arc::<Catalog>::new(builder.finish())),
        Err(error) => Content::Unreadable(error.to_string()),
    }
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
