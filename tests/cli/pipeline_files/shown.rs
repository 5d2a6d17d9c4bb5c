//! The examples on the page are run for each pipeline, with a pull request.

use serde_json::Value;

use super::repository::{FAILS, History, Repository};
use super::{github, gitlab, pre_commit};
use olmguard_support::shown::blocks;

/// Returns the example that has this key.
fn example(key: &str) -> Value {
    let blocks = blocks(include_str!("../../../docs/pipelines.md"));
    let mut examples = blocks
        .filter(|block| block.language == "yaml")
        .flat_map(|block| olmguard::manifest::documents(block.text.as_bytes()).collect::<Vec<_>>())
        .map(|document| document.expect("YAML").value)
        .filter(|value| value.get(key).is_some());
    let example = examples.next().expect(key);
    assert_eq!(examples.next(), None, "{key}");
    example
}

/// Returns the inputs of an example.
fn inputs(with: &Value) -> Vec<(&str, &str)> {
    let inputs = with.as_object().expect("inputs").iter();
    let inputs = inputs.map(|(name, value)| (&**name, value.as_str().expect("a text")));
    inputs.collect()
}

#[test]
fn that_for_github() {
    let example = example("jobs");
    let steps = &example["jobs"]["extensions"]["steps"];
    assert_eq!(steps[0]["with"]["fetch-depth"], 0);
    let with = inputs(&steps[1]["with"]);
    let base = with.iter().find(|(name, _)| *name == "base");
    let base = base
        .expect("a base")
        .1
        .replace("${{ github.base_ref }}", "main");
    let repository = Repository::pull_request(History::Whole);
    let given = [&github::USUAL[..1], &with, &[("base", &base)]].concat();
    let ran = github::check(&repository, &given);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(repository.read("olmguard.sarif").contains("NotASuccessor"));
}

#[test]
fn that_for_gitlab() {
    let example = example("include");
    let repository = Repository::pull_request(History::Whole);
    let variables = [("CI_MERGE_REQUEST_DIFF_BASE_SHA", "origin/main")];
    let ran = gitlab::run_in(
        &variables,
        &repository,
        &inputs(&example["include"][0]["inputs"]),
    );
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(repository.read("olmguard.xml").contains("NotASuccessor"));
}

#[test]
fn that_for_pre_commit() {
    let example = example("repos");
    let arguments = example["repos"][0]["hooks"][0]["args"]
        .as_array()
        .expect("args");
    let arguments: Vec<_> = arguments
        .iter()
        .map(|word| word.as_str().expect("a text"))
        .collect();
    let repository = Repository::pull_request(History::Whole);
    let run = || pre_commit::run(&repository, &["apps/lantern.yaml"], Some(&arguments));
    let code = || run().expect("a manifest was changed").code;
    assert_eq!(code(), Some(0));
    repository.write("apps/lantern.yaml", FAILS);
    assert_eq!(code(), Some(1));
}
