//! A change of thousands of extensions.

use std::fmt::Write as _;

use super::repository::{Repository, removed, tokens};
use crate::check::scene::{CATALOG, asking, scene};

fn all(names: impl Iterator<Item = String>) -> String {
    names.fold(String::new(), |mut all, name| {
        write!(all, "---\n{}", asking(&name, "version: 1.0.0")).expect("a String takes everything");
        all
    })
}

#[test]
fn of_thousands_that_were_renamed_none_is_told_for_another() {
    let names = |prefix: &'static str| (0..MANY).map(move |one| format!("{prefix}-{one}"));
    let scene = scene(&[
        ("base/all.yaml", &all(names("old"))),
        ("new/all.yaml", &all(names("new"))),
    ]);
    let (code, report) = scene.json(&["-f", "new", CATALOG, "--base=base"]);
    assert_eq!(code, 0);
    assert_eq!(tokens(&report).len(), MANY);
    assert!(
        tokens(&report)
            .iter()
            .all(|one| one.ends_with(" added Resolved"))
    );
    assert_eq!(removed(&report, "name").len(), MANY);
    let results = report["results"].as_array().expect("a list");
    assert!(
        results
            .iter()
            .all(|one| one["warnings"] == serde_json::json!([]))
    );
}

#[test]
fn thousands_without_a_name_are_each_known_again() {
    let text = all((0..MANY).map(|one| format!("x-{one}")));
    let text = text.replace("  name: x-", "  generateName: x-");
    let repository = Repository::with(&[("apps/all.yaml", &text)]);
    let changed = text.replacen("version: 1.0.0", "version: 1.1.0", 1);
    // Only the order differs.
    let mut documents: Vec<_> = changed.split("---\n").collect();
    documents.reverse();
    repository.write(&[("apps/all.yaml", &documents.join("---\n"))]);
    let (code, report) = repository.json("main", &[]);
    assert_eq!(code, 0, "{report}");
    assert_eq!(tokens(&report), ["- added Resolved"]);
    assert_eq!(report["summary"]["unchanged"], MANY - 1);
}

const MANY: usize = 2000;
