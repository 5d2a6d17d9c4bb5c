//! `action.yml`, as a runner of GitHub takes a composite action.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::repository::{INJECTIONS, PASSES, Ran, Repository, read, repositories};

fn action() -> Value {
    let mut documents = read("action.yml");
    assert_eq!(documents.len(), 1);
    documents.remove(0)
}

/// What the action's inputs are, those that are given before their defaults.
fn inputs(action: &Value, given: &[(&str, &str)]) -> BTreeMap<String, String> {
    let declared = action["inputs"].as_object().expect("inputs");
    let text = |value: &Value| value.as_str().expect("a default is a text").to_owned();
    let default = |(name, input): (&String, &Value)| (name.clone(), text(&input["default"]));
    let mut inputs: BTreeMap<_, _> = declared.iter().map(default).collect();
    for (name, value) in given {
        let before = inputs.insert((*name).to_owned(), (*value).to_owned());
        assert!(before.is_some(), "no input {name}");
    }
    inputs
}

/// The input that an expression names.
fn named(expression: &str) -> &str {
    let inner = expression
        .strip_prefix("${{ inputs.")
        .and_then(|rest| rest.strip_suffix(" }}"));
    inner.expect("an expression that is an input, and nothing else")
}

/// Runs the steps one after another, up to the first that fails.
fn run(repository: &Repository, given: &[(&str, &str)]) -> Vec<Ran> {
    let action = action();
    let inputs = inputs(&action, given);
    let mut ran: Vec<Ran> = Vec::new();
    for step in action["runs"]["steps"].as_array().expect("steps") {
        if let Some(condition) = step["if"].as_str() {
            let name = condition
                .strip_prefix("inputs.")
                .and_then(|rest| rest.strip_suffix(" == ''"));
            if !inputs[name.expect("the only form of a condition")].is_empty() {
                continue;
            }
        }
        assert_eq!(step["shell"], "bash");
        let script = repository.bin().join("step");
        fs::write(&script, step["run"].as_str().expect("a script")).expect("a script");
        let mut command = repository.command("bash");
        command
            .args(["--noprofile", "--norc", "-eo", "pipefail"])
            .arg(script);
        command
            .env("GITHUB_ACTION_PATH", "/the/action")
            .env("RUNNER_TEMP", repository.temp());
        for (name, value) in step["env"].as_object().into_iter().flatten() {
            let input = named(value.as_str().expect("an expression"));
            command.env(name, &inputs[input]);
        }
        ran.push(Ran::of(&mut command));
        if ran.last().is_some_and(|ran| ran.code != Some(0)) {
            break;
        }
    }
    ran
}

const USUAL: [(&str, &str); 3] = [
    ("binary", env!("CARGO_BIN_EXE_olmguard")),
    ("paths", "apps\n"),
    ("catalogs", "hub=hub.yaml\n"),
];

#[test]
fn it_ends_as_the_check_ends() {
    for (repository, code) in repositories() {
        let ran = run(&repository, &USUAL);
        assert_eq!(ran.len(), 1, "the program is there already");
        assert_eq!(ran[0].code, Some(code), "{ran:?}");
        let is_told = ran[0]
            .stdout
            .contains("::error file=apps/lantern.yaml,line=");
        assert_eq!(ran[0].stderr.starts_with("error: "), code == 3, "{ran:?}");
        assert_eq!(is_told, code != 0, "{ran:?}");
    }
}

#[test]
fn sarif_and_a_comment_are_written_besides() {
    for (repository, code) in repositories() {
        let files = [("sarif", "olmguard.sarif"), ("markdown", "comment file.md")];
        let ran = run(&repository, &[&USUAL[..], &files].concat());
        assert_eq!(ran[0].code, Some(code), "{ran:?}");
        let sarif: Value = serde_json::from_str(&repository.read("olmguard.sarif")).expect("SARIF");
        let invocation = &sarif["runs"][0]["invocations"][0];
        assert_eq!(invocation["exitCode"], code);
        let comment = repository.read("comment file.md");
        assert!(
            comment.starts_with("<!-- olmguard check -->\n"),
            "{comment}"
        );
    }
}

#[test]
fn flags_are_lines_and_an_empty_input_is_none() {
    let repository = Repository::with(PASSES);
    let flags = "\n--installed=lantern=1.0.0\n\n--olm-release=1.11\n";
    let ran = run(
        &repository,
        &[&USUAL[..], &[("flags", flags), ("format", "json")]].concat(),
    );
    let report: Value = serde_json::from_str(&ran[0].stdout).expect("JSON");
    assert_eq!(report["results"][0]["installed"]["version"], "1.0.0");
    let ran = run(
        &repository,
        &[&USUAL[..], &[("snapshot", "no/such")]].concat(),
    );
    assert_eq!(ran[0].code, Some(3), "{ran:?}");
}

#[test]
fn without_a_program_it_is_built_from_the_action_itself() {
    let repository = Repository::with(PASSES);
    let cargo = repository.bin().join("cargo");
    let script = format!(
        "#!/bin/sh\necho \"$@\"\nmkdir -p \"$6/bin\"\nln -s '{}' \"$6/bin/olmguard\"\n",
        env!("CARGO_BIN_EXE_olmguard")
    );
    fs::write(&cargo, script).expect("a script");
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let ran = run(&repository, &USUAL[1..]);
    let root = repository.temp().join("olmguard");
    assert_eq!(ran.len(), 2, "{ran:?}");
    let expected = format!(
        "install --locked --path /the/action --root {}\n",
        root.display()
    );
    assert_eq!(ran[0].stdout, expected);
    assert_eq!(ran[1].code, Some(0), "{ran:?}");
}

#[test]
fn no_input_is_part_of_a_script_and_each_is_used() {
    let action = action();
    let steps = action["runs"]["steps"].as_array().expect("steps");
    let mut used: Vec<_> = steps
        .iter()
        .filter_map(|step| step["env"].as_object())
        .flatten()
        .map(|(_, value)| named(value.as_str().expect("a text")).to_owned())
        .collect();
    used.sort_unstable();
    let declared = action["inputs"].as_object().expect("inputs");
    assert_eq!(used, declared.keys().cloned().collect::<Vec<_>>());
    for step in steps {
        assert!(
            !step["run"].as_str().expect("a script").contains("${{"),
            "{step}"
        );
    }
    for input in declared.keys().filter(|input| *input != "binary") {
        for injection in INJECTIONS {
            let repository = Repository::with(PASSES);
            let ran = run(&repository, &[&USUAL[..], &[(input, injection)]].concat());
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
    fs::create_dir(repository.path().join("before")).expect("a folder");
    repository.write("before/lantern.yaml", &PASSES.replace("1.1.0", "1.0.0"));
    for (base, code) in [("", 0), ("./before", 1)] {
        let ran = run(&repository, &[&USUAL[..], &[("base", base)]].concat());
        assert_eq!(
            ran.last().and_then(|ran| ran.code),
            Some(code),
            "{base}: {ran:?}"
        );
    }
}
