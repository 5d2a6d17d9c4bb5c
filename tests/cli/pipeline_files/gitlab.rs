//! `templates/olmguard/template.yml`, as GitLab makes a job from a component.
//!
//! Inputs are inserted into the text of the file after the line that ends its header, and the result is read as YAML. A
//! string is inserted unchanged, once it matches the pattern of its input.

use std::fs;
use std::path::Path;

use olmguard::manifest::documents;
use roxmltree::Document;
use serde_json::Value;

use super::repository::{History, INJECTIONS, Ran, Repository, repositories};
use olmguard_support::git::git;

/// Returns the inputs, and the text of the rest.
fn template() -> (Value, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/olmguard/template.yml");
    let text = fs::read_to_string(path).expect("the template");
    let (head, body) = text.split_once("\n---\n").expect("a head");
    let mut head = read(head);
    (head["spec"]["inputs"].take(), body.to_owned())
}

/// Returns the only document of a text.
fn read(text: &str) -> Value {
    let mut documents = documents(text.as_bytes());
    let document = documents.next().expect("a document").expect(text);
    assert!(documents.next().is_none(), "{text}");
    document.value
}

/// Returns the names of all inputs.
pub(crate) fn declared() -> Vec<String> {
    let (inputs, _) = template();
    inputs
        .as_object()
        .expect("inputs")
        .keys()
        .cloned()
        .collect()
}

/// Whether GitLab accepts a value. All inputs have the same pattern, which is matched here as by its engine.
fn is_taken(input: &Value, value: &str) -> bool {
    assert_eq!(input["regex"], r"\A[^'[:cntrl:]]*\z");
    !value.contains(|one: char| one == '\'' || one.is_ascii_control())
}

/// Returns the job with these inputs, or the input whose value is not accepted.
fn job(given: &[(&str, &str)]) -> Result<Value, String> {
    let (inputs, mut text) = template();
    for (name, input) in inputs.as_object().expect("inputs") {
        let given = given.iter().rev().find(|(given, _)| given == name);
        let default = || {
            input["default"]
                .as_str()
                .expect("an input that must be given")
        };
        let value = given.map_or_else(default, |(_, value)| value);
        if !is_taken(input, value) {
            return Err(name.clone());
        }
        let block = format!("$[[ inputs.{name} ]]");
        assert!(text.contains(&block), "{name} is not used");
        text = text.replace(&block, value);
    }
    Ok(read(&text)["olmguard-check"].take())
}

/// Replaces the variables of a pipeline in a text by their values. An unset variable is empty.
fn expanded(text: &str, variables: &[(&str, &str)]) -> String {
    let mut parts = text.split('$');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        let end = part.find(|one: char| one != '_' && !one.is_ascii_alphanumeric());
        let (name, rest) = part.split_at(end.unwrap_or(part.len()));
        let value = variables.iter().find(|(variable, _)| *variable == name);
        format!("{all}{}{rest}", value.map_or("", |(_, value)| value))
    })
}

/// Returns the value of a job's variable in a pipeline with these variables.
fn valued(variable: &Value, pipeline: &[(&str, &str)]) -> String {
    if let Some(value) = variable.as_str() {
        return expanded(value, pipeline);
    }
    assert_eq!(variable["expand"], false, "{variable}");
    variable["value"].as_str().expect("a text").to_owned()
}

pub(crate) fn run(repository: &Repository, given: &[(&str, &str)]) -> Ran {
    run_in(&[], repository, given)
}

/// Runs in a pipeline with these variables. If an input is not accepted, there is no pipeline.
pub(crate) fn run_in(
    pipeline: &[(&str, &str)],
    repository: &Repository,
    given: &[(&str, &str)],
) -> Ran {
    let job = match job(given) {
        Ok(job) => job,
        Err(stderr) => {
            let (code, stdout) = (None, String::new());
            return Ran {
                code,
                stdout,
                stderr,
            };
        }
    };
    let lines = job["script"].as_array().expect("a script").iter();
    let lines: Vec<_> = lines.map(|line| line.as_str().expect("a line")).collect();
    let mut command = repository.command("sh");
    command.arg("-ec").arg(lines.join("\n"));
    for (name, variable) in job["variables"].as_object().expect("variables") {
        command.env(name, valued(variable, pipeline));
    }
    Ran::of(&mut command)
}

pub(crate) const USUAL: [(&str, &str); 3] = [
    ("image", "registry.example/tools"),
    ("paths", "apps"),
    ("catalogs", "hub=hub.yaml"),
];

#[test]
fn it_leaves_a_report() {
    for (repository, code) in repositories() {
        run(&repository, &USUAL);
        let job = job(&USUAL).expect("a job");
        let report = job.pointer("/artifacts/reports/junit");
        let xml = repository.read(report.and_then(Value::as_str).expect("a report"));
        let document = Document::parse(&xml).expect("XML");
        let bad = document
            .descendants()
            .filter(|node| node.has_tag_name("failure") || node.has_tag_name("error"));
        assert_eq!(bad.count(), usize::from(code != 0), "{xml}");
        assert_eq!(job["artifacts"]["when"], "always");
        assert_eq!(job["image"]["name"], "registry.example/tools");
    }
}

/// Returns all texts in a value.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(members) => members.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn every_input_is_the_text_that_was_given() {
    for value in [
        "",
        " ",
        "a b",
        "a: b # c",
        "# a",
        "\"a\"",
        "\\",
        "- a",
        "? a",
        "{a: b}",
        "[a",
        "*a",
        "&a",
        "!!int 1",
        "%YAML 1.2",
        "@a",
        "`a`",
        "| a",
        "> a",
        "yes",
        "null",
        "~",
        "1.10",
        "0x1",
        "---",
        "...",
        "ä",
        "$CI_COMMIT_REF_NAME",
        "https://h.example/c.yaml#sha256=00",
    ] {
        for input in declared() {
            let job = job(&[&USUAL[..], &[(&input, value)]].concat()).expect(value);
            assert!(texts(&job).contains(&value), "{input}: {value}: {job}");
        }
    }
}

#[test]
fn what_would_end_its_quotes_or_its_line_is_not_taken() {
    for value in ["'", "it's", "a\nb", "apps\n", "a\rb", "a\tb", "\u{0}"] {
        for input in declared() {
            let job = job(&[&USUAL[..], &[(&input, value)]].concat());
            assert_eq!(job, Err(input.clone()), "{value:?}");
        }
    }
    let is_taken = |text: &&str| job(&[("image", text)]).is_ok();
    assert_eq!(INJECTIONS.iter().filter(|text| is_taken(text)).count(), 3);
}

#[test]
fn the_base_may_be_a_variable_of_the_pipeline() {
    let repository = Repository::pull_request(History::Whole);
    let commit = git(&repository.path(), &["merge-base", "HEAD", "origin/main"]);
    let given = [&USUAL[..], &[("base", "$CI_MERGE_REQUEST_DIFF_BASE_SHA")]].concat();
    let variables = [("CI_MERGE_REQUEST_DIFF_BASE_SHA", &*commit)];
    let ran = run_in(&variables, &repository, &given);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let ran = run_in(&[], &repository, &given);
    assert_eq!(
        ran.code,
        Some(0),
        "without a merge request there is no base: {ran:?}"
    );
    let job = job(&given).expect("a job");
    assert_eq!(job["variables"]["GIT_DEPTH"], "0");
}

#[test]
fn where_nothing_is_judged_no_empty_report_is_left() {
    let (repository, _) = repositories().into_iter().next().expect("one");
    let ran = run(&repository, &[&USUAL[..], &[("base", "nowhere")]].concat());
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(!repository.path().join("olmguard.xml").exists());
}
