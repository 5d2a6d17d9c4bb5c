//! Mirrored upstream rules are named by a permalink, so a reader of a module can open the exact version that it
//! follows.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules that name a file at several tags, which they list.
const OF_MANY_TAGS: [&str; 3] = [
    "crates/engine/src/extension/schema/tests.rs",
    "crates/engine/src/extension/schema/v1alpha1.rs",
    "crates/engine/src/resolve/semver.rs",
];

#[test]
fn each_file_of_upstream_is_a_link_to_a_tag_or_a_commit() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut links = 0;
    for file in ["src", "crates"]
        .iter()
        .flat_map(|part| sources(&root.join(part)))
    {
        let shown = file.strip_prefix(root).expect("a file of ours");
        if OF_MANY_TAGS.iter().any(|many| shown == Path::new(many)) {
            continue;
        }
        let text = fs::read_to_string(&file).expect("a source");
        let docs: Vec<_> = text
            .lines()
            .filter_map(|line| line.strip_prefix("//! "))
            .collect();
        for path in docs.iter().flat_map(|line| files_named(line)) {
            let is_permalink = docs.iter().any(|line| is_permalink(line, path));
            assert!(
                is_permalink,
                "{}: `{path}` has no permalink",
                shown.display()
            );
            links += 1;
        }
    }
    assert!(links > 100, "only {links} files of upstream are named");
}

/// Returns the Go files that a line names in code.
fn files_named(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split('`').skip(1).step_by(2);
    code.filter(|code| Path::new(code).extension().is_some_and(|kind| kind == "go"))
}

/// Whether a line is the link of a file at a tag or a commit.
fn is_permalink(line: &str, path: &str) -> bool {
    let address = line.strip_prefix(&format!("[`{path}`]: https://github.com/"));
    let within = address.and_then(|address| address.split_once("/blob/"));
    let Some((_, within)) = within else {
        return false;
    };
    let is_fixed = !within.starts_with("main") && !within.starts_with("master");
    is_fixed && within.ends_with(path.rsplit('/').next().unwrap_or(path))
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of ours");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let (folders, files): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.is_dir());
    let is_source = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "rs");
    let below = folders.iter().flat_map(|folder| sources(folder));
    files.into_iter().filter(is_source).chain(below).collect()
}
