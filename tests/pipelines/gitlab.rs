//! `templates/olmguard/template.yml`, as GitLab makes a job of a component.

use roxmltree::Document;
use serde_json::Value;

use super::repository::{INJECTIONS, PASSES, Ran, Repository, read, repositories};

/// The job, its inputs put into it as GitLab does: as values, after the YAML is read.
fn job(given: &[(&str, &str)]) -> Value {
    let mut documents = read("templates/olmguard/template.yml");
    assert_eq!(documents.len(), 2, "the inputs, and the job");
    let declared = documents[0]["spec"]["inputs"].take();
    let value = |name: &str| {
        let given = given.iter().find(|(given, _)| *given == name);
        let default = || {
            declared[name]["default"]
                .as_str()
                .expect("an input without a default")
        };
        given.map_or_else(|| default().to_owned(), |(_, value)| (*value).to_owned())
    };
    let mut job = documents[1]["olmguard-check"].take();
    fill(&mut job, &value);
    job
}

fn fill(value: &mut Value, input: &impl Fn(&str) -> String) {
    match value {
        Value::String(text) if text.contains("$[[") => {
            let name = text
                .strip_prefix("$[[ inputs.")
                .and_then(|rest| rest.strip_suffix(" ]]"));
            *text = input(name.expect("a value that is an input, and nothing else"));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, input)),
        Value::Object(members) => members.values_mut().for_each(|member| fill(member, input)),
        _ => {}
    }
}

fn run(repository: &Repository, given: &[(&str, &str)]) -> Ran {
    let job = job(given);
    let lines = job["script"].as_array().expect("a script").iter();
    let lines: Vec<_> = lines.map(|line| line.as_str().expect("a line")).collect();
    let mut command = repository.command("sh");
    command.arg("-ec").arg(lines.join("\n"));
    for (name, variable) in job["variables"].as_object().expect("variables") {
        assert_eq!(variable["expand"], false, "{name}");
        command.env(name, variable["value"].as_str().expect("a text"));
    }
    Ran::of(&mut command)
}

const USUAL: [(&str, &str); 3] = [
    ("image", "registry.example/tools"),
    ("paths", "apps"),
    ("catalogs", "hub=hub.yaml"),
];

#[test]
fn it_ends_as_the_check_ends_and_leaves_a_report() {
    for (repository, code) in repositories() {
        let ran = run(&repository, &USUAL);
        assert_eq!(ran.code, Some(code), "{ran:?}");
        let job = job(&USUAL);
        let report = job
            .pointer("/artifacts/reports/junit")
            .and_then(Value::as_str);
        let xml = repository.read(report.expect("a report"));
        let document = Document::parse(&xml).expect("XML");
        let bad = document
            .descendants()
            .filter(|node| node.has_tag_name("failure") || node.has_tag_name("error"));
        assert_eq!(bad.count(), usize::from(code != 0), "{xml}");
        assert_eq!(job["artifacts"]["when"], "always");
        assert_eq!(job["image"]["name"], "registry.example/tools");
    }
}

#[test]
fn flags_are_lines_and_an_empty_input_is_none() {
    let repository = Repository::with(PASSES);
    let flags = "\n--installed=lantern=1.0.0\n\n-o=json\n";
    let ran = run(&repository, &[&USUAL[..], &[("flags", flags)]].concat());
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(report["results"][0]["installed"]["version"], "1.0.0");
    let ran = run(
        &repository,
        &[&USUAL[..], &[("snapshot", "no/such")]].concat(),
    );
    assert_eq!(ran.code, Some(3), "{ran:?}");
}

#[test]
fn no_input_is_part_of_the_script() {
    let template = read("templates/olmguard/template.yml");
    let inputs = template[0]["spec"]["inputs"].as_object().expect("inputs");
    for input in inputs.keys() {
        for injection in INJECTIONS {
            let repository = Repository::with(PASSES);
            let given: Vec<_> = USUAL
                .iter()
                .filter(|(name, _)| name != input)
                .copied()
                .collect();
            let ran = run(&repository, &[&given[..], &[(input, injection)]].concat());
            assert!(
                !repository.path().join("pwned").exists(),
                "{input}: {injection}: {ran:?}"
            );
        }
    }
}

#[test]
fn what_the_base_pins_is_installed() {
    let repository = Repository::with(&PASSES.replace("1.1.0", "1.3.0"));
    std::fs::create_dir(repository.path().join("before")).expect("a folder");
    repository.write("before/lantern.yaml", &PASSES.replace("1.1.0", "1.0.0"));
    for (base, code) in [("", 0), ("./before", 1)] {
        let ran = run(&repository, &[&USUAL[..], &[("base", base)]].concat());
        assert_eq!(ran.code, Some(code), "{base}: {ran:?}");
    }
}
