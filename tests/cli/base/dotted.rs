//! Paths that start with a dot.

use super::repository::{CATALOG, Repository};
use crate::check::scene::asking;

#[test]
fn a_path_is_told_as_the_repository_has_it() {
    let repository = Repository::with(&[("releases/v2/a.yaml", &asking("a", "version: 1.0.0"))]);
    repository.write(&[("releases/v2/a.yaml", &asking("a", "version: 1.3.0"))]);
    let said = |form| {
        let ran = repository.run(&["-f", ".", CATALOG, "--base=main", form]);
        assert_eq!(ran.code, 1, "{ran:?}");
        ran.stdout
    };
    let line = said("-o=github");
    assert!(
        line.starts_with("::error file=releases/v2/a.yaml,line=11,"),
        "{line}"
    );
    let dotted = said("-o=sarif");
    assert!(
        dotted.contains("\"uri\":\"releases/v2/a.yaml\""),
        "{dotted}"
    );
    // The fingerprint is the same, too.
    let plain = repository.run(&["-f", "releases", CATALOG, "--base=main", "-o=sarif"]);
    assert_eq!(plain.stdout, dotted);
}
