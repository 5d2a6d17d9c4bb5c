//! All files that the page about the architecture names exist.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_file_that_the_architecture_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/architecture.md")).expect("a page");
    let files = [root.join("src"), root.join("crates")].map(|folder| files(&folder));
    let files: Vec<PathBuf> = files.into_iter().flatten().collect();
    let (mut named, mut missing) = (0, Vec::new());
    for name in page.split('`').skip(1).step_by(2) {
        let is_path = name.starts_with("src/") || name.starts_with("crates/");
        let is_file = Path::new(name).extension().is_some_and(|end| end == "rs");
        let exists = match (is_path, is_file) {
            (true, _) => root.join(name).exists(),
            (false, true) if name.starts_with("tests/") => root.join(name).exists(),
            (false, true) => files.iter().any(|file| file.ends_with(name)),
            (false, false) => continue,
        };
        named += 1;
        if !exists {
            missing.push(name);
        }
    }
    assert!(named > 50, "only {named} names found");
    assert_eq!(missing, [""; 0]);
}

/// Returns every file below a directory.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}
