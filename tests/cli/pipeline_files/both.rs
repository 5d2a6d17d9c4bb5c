//! The common parts of the action and the component.

use std::fs;

use super::repository::{INJECTIONS, PASSES, Ran, Repository, repositories};
use super::{github, gitlab};

/// A file for a pipeline, as its runner reads it.
pub(crate) struct Pipeline {
    pub(crate) name: &'static str,
    /// The inputs that users usually set.
    pub(crate) usual: &'static [(&'static str, &'static str)],
    pub(crate) inputs: fn() -> Vec<String>,
    /// The result of a check in a repository with these inputs.
    pub(crate) run: fn(&Repository, &[(&str, &str)]) -> Ran,
}

pub(crate) const BOTH: [Pipeline; 2] = [
    Pipeline {
        name: "action",
        usual: &github::USUAL,
        inputs: github::declared,
        run: github::check,
    },
    Pipeline {
        name: "component",
        usual: &gitlab::USUAL,
        inputs: gitlab::declared,
        run: gitlab::run,
    },
];

impl Pipeline {
    /// Runs a check with these additional inputs.
    pub(crate) fn run_with(&self, repository: &Repository, more: &[(&str, &str)]) -> Ran {
        (self.run)(repository, &[self.usual, more].concat())
    }

    /// Returns the separator of list items.
    fn between(&self) -> &'static str {
        if self.name == "action" { "\n\n" } else { "  " }
    }
}

#[test]
fn it_ends_as_the_check_ends() {
    for pipeline in BOTH {
        for (repository, code) in repositories() {
            let ran = pipeline.run_with(&repository, &[]);
            assert_eq!(ran.code, Some(code), "{}: {ran:?}", pipeline.name);
        }
    }
}

#[test]
fn an_empty_input_is_none_and_others_are_used() {
    for pipeline in BOTH {
        let repository = Repository::with(PASSES);
        for (input, value, code) in [
            ("snapshot", "", 0),
            ("snapshot", "no/such", 3),
            ("catalogs", "", 4),
            ("paths", "none apps", 3),
            ("flags", "", 0),
            ("flags", "--installed=lantern=1.3.0 --olm-release=1.11", 1),
        ] {
            let value = value.replace(' ', pipeline.between());
            let ran = pipeline.run_with(&repository, &[(input, &value)]);
            assert_eq!(ran.code, Some(code), "{} {input}: {ran:?}", pipeline.name);
        }
    }
}

#[test]
fn no_input_is_part_of_a_script() {
    for pipeline in BOTH {
        for input in (pipeline.inputs)() {
            for injection in INJECTIONS {
                let repository = Repository::with(PASSES);
                let ran = pipeline.run_with(&repository, &[(&input, injection)]);
                let is_run = repository.path().join("pwned").exists();
                assert!(!is_run, "{} {input}: {ran:?}", pipeline.name);
            }
        }
    }
}

#[test]
fn a_folder_may_be_the_base() {
    for pipeline in BOTH {
        let repository = Repository::with(&PASSES.replace("1.1.0", "1.3.0"));
        fs::create_dir(repository.path().join("before")).expect("a folder");
        repository.write("before/lantern.yaml", &PASSES.replace("1.1.0", "1.0.0"));
        for (base, code) in [("", 0), ("./before", 1)] {
            let ran = pipeline.run_with(&repository, &[("base", base)]);
            assert_eq!(ran.code, Some(code), "{} {base}: {ran:?}", pipeline.name);
        }
    }
}
