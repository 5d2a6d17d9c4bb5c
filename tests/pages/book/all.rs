//! The pages of the book.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the directory `docs`.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

/// Returns every page in a directory and below it, by its path from `docs`, in byte order.
pub(super) fn pages(folder: &str) -> Vec<String> {
    let mut pages = Vec::new();
    gather(&root().join(folder), &mut pages);
    let mut pages: Vec<_> = pages.iter().map(|page| name(page)).collect();
    pages.sort_unstable();
    assert!(!pages.is_empty(), "{folder}");
    pages
}

pub(super) fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).expect(page)
}

fn gather(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the book") {
        let path = entry.expect("a folder of the book").path();
        if path.is_dir() {
            gather(&path, pages);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
}

fn name(page: &Path) -> String {
    let name = page.strip_prefix(root()).expect("a page of the book");
    name.to_str().expect("names are ASCII").to_owned()
}
