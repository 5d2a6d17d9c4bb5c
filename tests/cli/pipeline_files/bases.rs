//! A base that is a revision, which the clones of runners may or may not have.

use super::both::BOTH;
use super::repository::{History, Repository};

#[test]
fn what_the_base_pins_is_installed() {
    for (history, base) in [
        (History::Whole, "origin/main"),
        (History::Whole, "origin/main...HEAD"),
        (History::Whole, "HEAD~2"),
        (History::LastAndBase, "origin/main"),
    ] {
        let repository = Repository::pull_request(history);
        for pipeline in BOTH {
            let name = pipeline.name;
            let ran = pipeline.run_with(&repository, &[("base", base)]);
            assert_eq!(ran.code, Some(1), "{name}, {base}, {history:?}: {ran:?}");
            assert!(ran.said().contains("NotASuccessor"), "{name}: {ran:?}");
        }
    }
}

#[test]
fn a_base_that_was_not_fetched_is_wrong_usage_and_says_what_to_do() {
    for (history, base, words) in [
        (
            History::Last,
            "origin/main",
            "this clone is shallow, so fetch the revision first (git fetch --depth=1 origin REV, then --base FETCH_HEAD;",
        ),
        (
            History::LastAndBase,
            "origin/main...HEAD",
            "for the common commit of two revisions git fetch --unshallow, or fetch-depth: 0 in a checkout step)",
        ),
        (History::Whole, "origin/mian", "is not a revision here: "),
    ] {
        let repository = Repository::pull_request(history);
        for pipeline in BOTH {
            let name = pipeline.name;
            let ran = pipeline.run_with(&repository, &[("base", base)]);
            assert_eq!(ran.code, Some(2), "{name}, {base}, {history:?}: {ran:?}");
            assert!(ran.said().contains(words), "{name}: {ran:?}");
        }
    }
}
