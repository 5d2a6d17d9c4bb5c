//! `action.yml`, as a GitHub runner reads a composite action.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::repository::{FAILS, PASSES, Ran, Repository, read, repositories};

fn action() -> Value {
    let mut documents = read("action.yml");
    assert_eq!(documents.len(), 1);
    documents.remove(0)
}

/// Returns the action's inputs: the given ones override the defaults.
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

/// Returns the value of a step's variable: an input, or the text that the step sets.
fn set(value: &str, inputs: &BTreeMap<String, String>) -> String {
    named(value).map_or_else(|| value.to_owned(), |input| inputs[input].clone())
}

/// Returns the input that an expression names, or `None` if the text is not an expression.
fn named(value: &str) -> Option<&str> {
    let inner = value
        .strip_prefix("${{ inputs.")
        .and_then(|rest| rest.strip_suffix(" }}"));
    assert!(inner.is_some() || !value.contains("${{"), "{value}");
    inner
}

/// Runs the steps one after another, up to the first that fails.
fn run(repository: &Repository, given: &[(&str, &str)]) -> Vec<Ran> {
    run_of(&repository.temp().join("action"), repository, given)
}

/// Runs the steps of an action in this directory.
pub(crate) fn run_of(folder: &Path, repository: &Repository, given: &[(&str, &str)]) -> Vec<Ran> {
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
            .env("GITHUB_ACTION_PATH", folder)
            .env("RUNNER_TEMP", repository.temp());
        // An earlier step can set this PATH.
        let path = env::var("PATH").expect("a PATH");
        let (evil, bin) = (repository.path().join("evil/bin"), repository.bin());
        let path = format!("{}:.::{}:{path}", evil.display(), bin.display());
        command.env("PATH", path);
        let home = ["HOME", "CARGO_HOME", "RUSTUP_HOME"];
        command.envs(
            home.iter()
                .filter_map(|name| Some((name, env::var_os(name)?))),
        );
        for (name, value) in step["env"].as_object().into_iter().flatten() {
            command.env(name, set(value.as_str().expect("a text"), &inputs));
        }
        ran.push(Ran::of(&mut command));
        if ran.last().is_some_and(|ran| ran.code != Some(0)) {
            break;
        }
    }
    ran
}

/// Runs the step of the check, for which the program exists already.
pub(crate) fn check(repository: &Repository, given: &[(&str, &str)]) -> Ran {
    let mut ran = run(repository, given);
    assert_eq!(ran.len(), 1, "{ran:?}");
    ran.remove(0)
}

/// Returns the names of all inputs except the program.
pub(crate) fn declared() -> Vec<String> {
    let action = action();
    let names = action["inputs"].as_object().expect("inputs").keys();
    names.filter(|name| *name != "binary").cloned().collect()
}

pub(crate) const USUAL: [(&str, &str); 3] = [
    ("binary", env!("CARGO_BIN_EXE_olmguard")),
    ("paths", "apps\n"),
    ("catalogs", "hub=hub.yaml\n"),
];

#[test]
fn the_commands_of_the_runner_stand_beside_the_lines() {
    for (repository, code) in repositories() {
        let heard = heard(&check(&repository, &USUAL));
        let is_told = heard
            .iter()
            .any(|line| line.starts_with("::error file=apps/lantern.yaml,line="));
        assert_eq!(is_told, code != 0, "{heard:?}");
    }
}

/// Returns the lines in which the runner looks for commands: it ignores those between `stop-commands` and its token.
fn heard(ran: &Ran) -> Vec<String> {
    assert_eq!(ran.stderr, "", "two streams have no order");
    let mut token: Option<String> = None;
    let mut heard = Vec::new();
    for line in ran.stdout.lines() {
        if token
            .as_ref()
            .is_some_and(|token| *line == format!("::{token}::"))
        {
            token = None;
        } else if let Some(word) = line.strip_prefix("::stop-commands::") {
            assert!(word.len() >= 32, "{word}: it can be guessed");
            token.get_or_insert_with(|| word.to_owned());
        } else if token.is_none() {
            heard.push(line.to_owned());
        }
    }
    assert_eq!(token, None, "commands are taken again at the end");
    heard
}

/// Whether the runner sees a command: `::word ...::` at the start of a line, or `##[word ...]` anywhere in it.
fn is_command(line: &str) -> bool {
    line.trim_start().starts_with("::") || line.contains("##[")
}

#[test]
fn no_name_in_the_repository_is_a_command_to_the_runner() {
    for form in ["github", "text", "json", "markdown"] {
        let hostile = PASSES.replace("name: lantern\nspec", "name: '##[error]a ::error::b'\nspec");
        let repository = Repository::with(&hostile.replace("1.1.0", "7.0.0"));
        repository.write(
            "apps/::error::c.yaml",
            &FAILS.replace("name: lantern\n", "name: other\n"),
        );
        repository.write("apps/::add-mask::d ##[error].yaml", "kind: [");
        repository.write("apps/\n::error::e.yaml", "kind: [");
        let given = [&USUAL[..], &[("format", form)]].concat();
        let ran = check(&repository, &given);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        for line in heard(&ran).iter().filter(|line| is_command(line)) {
            assert_eq!(form, "github", "{line}");
            let ours = ["::error ", "::warning ", "::notice "];
            assert!(ours.iter().any(|begin| line.starts_with(begin)), "{line}");
        }
        let escaped = if form == "json" { "\\u0023" } else { "\\x23" };
        assert!(
            ran.stdout.contains(&format!("{escaped}#[error]a")),
            "{ran:?}"
        );
    }
}

#[test]
fn no_two_runs_have_a_token_in_common() {
    let repository = Repository::with(PASSES);
    let token = || {
        let ran = check(&repository, &USUAL);
        let line = ran
            .stdout
            .lines()
            .find(|line| line.starts_with("::stop-commands::"));
        line.expect("commands are stopped").to_owned()
    };
    assert_ne!(token(), token());
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
fn no_script_has_an_expression_in_it_and_each_input_is_used() {
    let action = action();
    let steps = action["runs"]["steps"].as_array().expect("steps");
    let values = steps.iter().filter_map(|step| step["env"].as_object());
    let values = values.flatten().map(|(_, value)| value.as_str());
    let used = values.filter_map(|value| named(value.expect("a text")).map(str::to_owned));
    let mut used: Vec<_> = used.collect();
    used.sort_unstable();
    let declared = action["inputs"].as_object().expect("inputs");
    assert_eq!(used, declared.keys().cloned().collect::<Vec<_>>());
    for step in steps {
        let script = step["run"].as_str().expect("a script");
        assert!(!script.contains("${{"), "{step}");
    }
}

#[test]
fn where_nothing_is_judged_no_empty_file_is_left() {
    let repository = Repository::with(PASSES);
    let files = [("sarif", "olmguard.sarif"), ("markdown", "comment file.md")];
    let given = [&USUAL[..], &files, &[("base", "nowhere")]].concat();
    let ran = run(&repository, &given);
    assert_eq!(ran[0].code, Some(2), "{ran:?}");
    for (_, file) in files {
        assert!(!repository.path().join(file).exists(), "{file}");
    }
}
