//! The interfaces that `docs/compatibility.md` promises, as one list: `tests/compatibility.txt`.
//!
//! With `OLMGUARD_BLESS=1`, this test adds new interfaces to the list. An interface that no longer exists stays in the
//! list, and the test fails until a person removes the line.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Command;
use olmguard_engine::judge::Token;
use olmguard_preflight::PreflightCheck;
use serde_json::{Map, Value};

use crate::manifest::documents;

const LIST: &str = "tests/compatibility.txt";

#[test]
fn what_is_promised_is_there_and_what_is_there_is_promised() {
    let promised = fs::read_to_string(root(LIST)).unwrap_or_default();
    let promised: BTreeSet<String> = promised.lines().map(str::to_owned).collect();
    let there = interfaces();
    assert!(there.len() > 1000, "{}", there.len());
    let union: Vec<_> = promised
        .union(&there)
        .map(|line| format!("{line}\n"))
        .collect();
    olmguard_fixtures::committed::compare(LIST, &union.concat());
    let gone: Vec<_> = promised.difference(&there).collect();
    assert!(
        gone.is_empty(),
        "these are promised, and are gone: {gone:#?}\nkeep them, or see docs/compatibility.md for how one is removed, and \
         remove its line from {LIST}"
    );
}

fn interfaces() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    commands(&crate::cli::command(), "", &mut all);
    let tokens = Token::ALL.iter();
    all.extend(tokens.map(|token| format!("reason {token:?}: {:?}", token.verdict())));
    let checks = PreflightCheck::ALL.iter();
    all.extend(checks.map(|check| format!("check {}", check.as_str())));
    all.extend(rows("docs/exit-codes.md").filter_map(|row| exit_code(&row)));
    all.extend(rows("docs/lint/README.md").filter_map(|row| lint_finding(&row)));
    all.extend(rows("docs/metrics.md").filter_map(|row| metric(&row)));
    for file in files("schemas") {
        fields(&file, &mut all);
    }
    for file in files("deploy/rendered") {
        objects(&file, &mut all);
    }
    all
}

fn exit_code(row: &[String]) -> Option<String> {
    let [code, meaning, ..] = row else {
        return None;
    };
    let is_code = code.parse::<u8>().is_ok();
    is_code.then(|| format!("exit code {code}: {meaning}"))
}

fn lint_finding(row: &[String]) -> Option<String> {
    let id = row.first()?.strip_prefix('[')?.split(']').next()?;
    Some(format!("lint {id}"))
}

fn metric(row: &[String]) -> Option<String> {
    let [name, kind, labels, ..] = row else {
        return None;
    };
    let labels = labels.split("; ");
    let labels: Vec<_> = labels.filter_map(|label| label.split('`').nth(1)).collect();
    let name = name.strip_prefix('`')?.strip_suffix('`')?;
    Some(format!("metric {name} {kind} {{{}}}", labels.join(", ")))
}

/// Every command, its flags, and the words that a flag accepts.
fn commands(command: &Command, words: &str, all: &mut BTreeSet<String>) {
    for below in command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
    {
        let words = format!("{words} {}", below.get_name());
        all.insert(format!("command{words}"));
        for flag in below.get_arguments().filter(|flag| !flag.is_hide_set()) {
            let Some(name) = flag.get_long() else {
                continue;
            };
            all.insert(format!("flag{words} --{name}"));
            let values = flag.get_possible_values().into_iter();
            let values = values.filter(|_| flag.get_action().takes_values());
            all.extend(values.map(|value| format!("flag{words} --{name}={}", value.get_name())));
        }
        commands(below, &words, all);
    }
}

/// The rows of the tables of a page.
fn rows(page: &str) -> impl Iterator<Item = Vec<String>> {
    let text = fs::read_to_string(root(page)).expect(page);
    let rows = text.lines().filter(|line| line.starts_with("| "));
    let rows: Vec<Vec<String>> = rows
        .map(|row| {
            let cells = row.trim_matches('|').split(" | ");
            cells.map(|cell| cell.trim().to_owned()).collect()
        })
        .collect();
    assert!(rows.len() > 5, "{page}");
    rows.into_iter()
}

fn files(folder: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(root(folder)).expect(folder);
    let mut files: Vec<_> = files.map(|file| file.expect(folder).path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{folder}");
    files
}

fn root(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// Every field of a JSON form, with its type, and whether it is optional.
fn fields(file: &Path, all: &mut BTreeSet<String>) {
    let text = fs::read_to_string(file).expect("a schema");
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    let name = file
        .file_stem()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let mut types: Vec<(String, &Value)> = vec![(name.clone(), &schema)];
    let definitions = schema["$defs"].as_object().into_iter().flatten();
    types.extend(definitions.map(|(of, definition)| (format!("{name} {of}"), definition)));
    for (of, definition) in types {
        let alternatives = definition["oneOf"].as_array().into_iter().flatten();
        for one in alternatives.chain([definition]) {
            properties(&of, one, all);
            let word = one.get("const").or_else(|| one.get("enum"));
            all.extend(word.map(|word| format!("word {of} {word}")));
        }
    }
}

fn properties(of: &str, definition: &Value, all: &mut BTreeSet<String>) {
    let none = Map::new();
    let required = definition["required"].as_array();
    for (name, property) in definition["properties"].as_object().unwrap_or(&none) {
        let is_always = required.is_some_and(|all| all.iter().any(|one| one == name));
        let when = if is_always { "" } else { ", if there is any" };
        all.insert(format!("field {of}.{name}: {}{when}", type_of(property)));
    }
}

fn type_of(property: &Value) -> String {
    if let Some(reference) = property["$ref"].as_str() {
        return reference.trim_start_matches("#/$defs/").to_owned();
    }
    if let Some(any) = property["anyOf"].as_array() {
        let all: Vec<_> = any.iter().map(type_of).collect();
        return all.join(" or ");
    }
    if property["type"] == "array" {
        return format!("list of {}", type_of(&property["items"]));
    }
    match (&property["type"], property.get("const")) {
        (Value::String(name), None) => name.clone(),
        (Value::Array(names), None) => {
            let names = names.iter().filter_map(Value::as_str);
            names.collect::<Vec<_>>().join(" or ")
        }
        (_, Some(word)) => word.to_string(),
        _ => "any value".to_owned(),
    }
}

/// The kinds and names of the objects that the manifests install.
fn objects(file: &Path, all: &mut BTreeSet<String>) {
    let text = fs::read(file).expect("a manifest");
    for document in documents(&text) {
        let (objects, _) = document.expect("a manifest").into_objects();
        let named = objects.into_iter().filter(|object| !object.kind.is_empty());
        all.extend(named.map(|object| {
            let name = object.value.pointer("/metadata/name");
            let name = name.and_then(Value::as_str).unwrap_or_default();
            format!("object {} {name}", object.kind)
        }));
    }
}
