//! Names and texts of a repository must never become commands of a CI runner, whatever prints them.
//!
//! A GitHub runner reads the output of a step line by line: `::` after spaces starts a command, and so does `##[`
//! anywhere. `olmguard` may run there without the action, which disables such commands.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

/// Names that are commands of different kinds.
const NAMES: [&str; 6] = [
    "::add-mask::1.0.0",
    "  ::stop-commands::abc",
    ":",
    "##[add-mask]1.0.0",
    "a ##[error]b",
    "##vso[task.setvariable variable=a]b",
];

/// A text with several lines, like a message.
const TEXT: &str =
    "one ::add-mask::two\n::add-mask::three\n  ::add-mask::four ##[add-mask]five\r::add-mask::six";

#[test]
fn no_form_prints_one() {
    let found: Vec<_> = NAMES.iter().flat_map(|name| commands(name)).collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// Returns the commands in the output if things have this name.
fn commands(name: &str) -> Vec<String> {
    let folder = TempDir::new().expect("a folder");
    scene(folder.path(), name);
    let runs = runs(name).into_iter();
    let found = runs.flat_map(|arguments| {
        let printed = printed(folder.path(), &arguments);
        let is_github = arguments.last().is_some_and(|form| form == "github");
        let lines = printed.split(['\n', '\r']).filter(|line| is_command(line));
        let lines = lines.filter(|line| !(is_github && is_annotation(line)));
        lines
            .map(|line| format!("{arguments:?}: {line}"))
            .collect::<Vec<_>>()
    });
    found.collect()
}

/// Whether a runner sees a command. `##vso[` and similar ones are those of Azure Pipelines and others.
fn is_command(line: &str) -> bool {
    let marked = line.split("##").skip(1);
    let is_marked = |rest: &str| {
        let word = rest.trim_start_matches(|character: char| character.is_ascii_alphabetic());
        word.starts_with('[')
    };
    line.trim_start().starts_with("::") || marked.into_iter().any(is_marked)
}

/// Whether a line is a command of the format `github`, whose parts are escaped.
fn is_annotation(line: &str) -> bool {
    let words = ["::error ", "::warning ", "::notice "];
    words.iter().any(|word| line.starts_with(word)) && !line.contains("##")
}

/// Returns every command that reads files, in each of its formats.
fn runs(name: &str) -> Vec<Vec<String>> {
    let forms = [
        (
            "check -f apps -f broken --catalog=hub=newer",
            "text json yaml markdown junit sarif github",
        ),
        (
            "check -f apps --catalog=hub=newer --no-schema",
            "text json yaml markdown junit sarif github",
        ),
        (
            "check -f apps --catalog=hub=newer --policy=policies --guardrails=rules.json",
            "text yaml junit",
        ),
        (
            "check -f apps --catalog=hub=newer --base=./before",
            "text yaml markdown junit github",
        ),
        (
            "audit apps --catalog=hub=newer",
            "text json yaml markdown html junit renovate",
        ),
        ("audit apps --catalog=hub=newer --report", ""),
        ("audit --fleet fleet", "text json html"),
        ("lint hub", "text json sarif"),
        (
            "bundle after --upgrade-from=released",
            "text json sarif junit github markdown",
        ),
        ("diff hub newer --extensions=apps", "text json markdown"),
        ("test suites/suite.yaml", "text json junit github"),
        ("versions NAME --catalog=hub=newer", "text json"),
        ("versions NAME --catalog=hub=hub", "text json"),
        (
            "versions NAME --catalog=hub=newer --installed=1.0.0",
            "text json",
        ),
        ("versions NAMEx --catalog=hub=newer", "text json"),
        (
            "path NAME 1.0.0 2.0.0 --catalog=hub=newer",
            "text json yaml",
        ),
        ("path NAME 1.0.0 NAME --catalog=hub=newer", "text json yaml"),
        ("explain NAME 1.0.0 2.0.0 --catalog=hub=newer", "text json"),
        ("explain NAME 1.0.0 9.0.0 --catalog=hub=newer", "text json"),
        ("explain NAME", ""),
        (
            "graph NAME --catalog=hub=newer --installed=1.0.0",
            "mermaid dot svg html json",
        ),
        ("graph NAME --catalog=hub=newer --base=newer", "svg html"),
        ("range NAME 1.0.0 NAME", "text json"),
        ("range >=1 --package=NAME --catalog=hub=newer", "text json"),
        (
            "generate promote newer --package=NAME --bundle=NAME.v3.0.0 --channel=a --method=skips",
            "yaml json",
        ),
    ];
    let all = forms.iter().flat_map(|(line, forms)| {
        let words = line.split(' ').map(|word| word.replace("NAME", name));
        let words: Vec<String> = words.collect();
        let none = forms.is_empty().then(|| words.clone());
        let others = forms
            .split_whitespace()
            .map(move |form| [&words[..], &["-o".to_owned(), form.to_owned()]].concat());
        none.into_iter().chain(others.collect::<Vec<_>>())
    });
    all.collect()
}

/// Returns the whole output of a run. It may fail, but not with an internal fault.
fn printed(folder: &Path, arguments: &[impl AsRef<OsStr> + fmt::Debug]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_olmguard"));
    let ended = command.args(arguments).current_dir(folder).output();
    let ended = ended.expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let printed = format!("{}\n{}", text(&ended.stdout), text(&ended.stderr));
    let is_of_clap = printed.contains("For more information, try");
    assert!(
        ended.status.code().is_some_and(|code| code < 5),
        "{arguments:?}: {printed}"
    );
    assert!(!is_of_clap, "{arguments:?}: {printed}");
    printed
}

/// Writes files with this name and this text wherever possible.
fn scene(at: &Path, name: &str) {
    let file_name = name.replace('/', "_");
    for folder in [
        "apps", "before", "broken", "hub", "newer", "policies", "fleet", "suites", "after",
        "released",
    ] {
        fs::create_dir(at.join(folder)).expect(folder);
    }
    let write = |path: &str, text: &str| fs::write(at.join(path), text).expect(path);
    let catalog = |newest: &str| {
        let blobs = catalog(name, newest);
        let lines: Vec<_> = blobs.iter().map(Value::to_string).collect();
        lines.join("\n")
    };
    write(&format!("hub/{file_name}.json"), &catalog("2.0.0"));
    write(
        &format!("hub/{file_name}-broken.json"),
        "{\"schema\":\"olm.bundle\",",
    );
    write("newer/a.json", &catalog("3.0.0"));
    let manifests = manifests(name);
    for (number, manifest) in manifests.iter().enumerate() {
        write(
            &format!("apps/{file_name}{number}.json"),
            &manifest.to_string(),
        );
    }
    write(&format!("broken/{file_name}.yaml"), "kind: [");
    let removed = extension(name, &format!("{name}-gone"), &json!("1.0.0"));
    write(
        &format!("before/{file_name}0.json"),
        &manifests[0].to_string(),
    );
    write(
        &format!("before/{file_name}-gone.json"),
        &removed.to_string(),
    );
    write(
        &format!("policies/{file_name}.json"),
        &policy(name).to_string(),
    );
    let rules = json!({"schema": "olmguard.guardrails.v1alpha1", "package": name, "rules": [
        {"id": name, "kind": "Prerelease", "action": "Deny", "message": TEXT, "reason": TEXT}]});
    write("rules.json", &rules.to_string());
    let audit = printed(at, &["audit", "apps", "--catalog=hub=newer", "-o", "json"]);
    let json = audit.lines().find(|line| line.starts_with('{'));
    let audit = json.unwrap_or_else(|| panic!("{audit}"));
    write(&format!("fleet/{file_name}.json"), audit);
    write("fleet/::warning::broken.json", "{}");
    for (folder, field) in [("after", "a"), ("released", name)] {
        let manifests = format!("{folder}/manifests");
        let metadata = format!("{folder}/metadata");
        for folder in [&manifests, &metadata] {
            fs::create_dir(at.join(folder)).expect(folder);
        }
        write(&format!("{metadata}/annotations.yaml"), "annotations: {}");
        for (number, manifest) in bundled(name, field).iter().enumerate() {
            let file = format!("{manifests}/{file_name}{number}.json");
            write(&file, &manifest.to_string());
        }
    }
    let suite = json!({"schema": "olmguard.test/v1", "catalogs": {"hub": "../hub"}, "cases": [
        {"name": name, "extension": {"catalog": {"packageName": name, "version": "2.0.0"}},
            "installed": {"version": "1.0.0"}, "expect": {"verdict": "allow", "resolved": name}},
        {"name": TEXT, "extension": {"catalog": {"packageName": name, "version": name}},
            "installed": {"version": name}, "expect": {"message": TEXT}}]});
    write("suites/suite.yaml", &suite.to_string());
}

fn catalog(name: &str, newest: &str) -> Vec<Value> {
    let bundle = |version: &str| {
        json!({"schema": "olm.bundle", "package": name, "name": format!("{name}.v{version}"), "image": name,
            "properties": [{"type": "olm.package", "value": {"packageName": name, "version": version}}]})
    };
    vec![
        json!({"schema": "olm.package", "name": name, "defaultChannel": name, "description": TEXT}),
        json!({"schema": "olm.channel", "package": name, "name": name, "entries": [
            {"name": format!("{name}.v1.0.0")},
            {"name": format!("{name}.v{newest}"), "replaces": format!("{name}.v1.0.0"), "skips": [name, TEXT]}]}),
        json!({"schema": "olm.channel", "package": name, "name": "a", "entries": [
            {"name": format!("{name}.v1.0.0"), "skipRange": name, "replaces": "::x"}]}),
        json!({"schema": "olm.deprecations", "package": name, "entries": [
            {"reference": {"schema": "olm.package"}, "message": TEXT},
            {"reference": {"schema": "olm.channel", "name": name}, "message": TEXT},
            {"reference": {"schema": "olm.bundle", "name": format!("{name}.v1.0.0")}, "message": TEXT}]}),
        json!({"schema": name, "package": name, "name": name}),
        bundle("1.0.0"),
        bundle(newest),
    ]
}

fn extension(package: &str, name: &str, version: &Value) -> Value {
    json!({"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension", "metadata": {"name": name},
        "spec": {"namespace": name, "serviceAccount": {"name": name}, "source": {"sourceType": "Catalog",
            "catalog": {"packageName": package, "version": version}}}})
}

fn manifests(name: &str) -> Vec<Value> {
    let mut of_channel = extension(name, &format!("{name}-channel"), &json!("2.0.0"));
    of_channel["spec"]["source"]["catalog"]["channels"] = json!([name, "a"]);
    of_channel["spec"]["source"]["catalog"]["selector"] = json!({"matchLabels": {name: name}});
    let mut installed = extension(name, &format!("{name}-installed"), &json!(null));
    installed["status"] = json!({
        "install": {"bundle": {"name": format!("{name}.v1.0.0"), "version": "1.0.0"}},
        "conditions": [{"type": "Installed", "status": "True", "reason": name, "message": TEXT}]});
    let mut other = extension(name, &format!("{name}-pinned"), &json!("1.0.0"));
    other["status"] = json!({"install": {"bundle": {"name": name, "version": name}},
        "conditions": [{"type": "Progressing", "status": "False", "reason": name, "message": TEXT}]});
    let mut typo = extension(name, &format!("{name}-typo"), &json!("2.0.0"));
    typo["spec"][name] = json!(name);
    typo["metadata"]["labels"] = json!({name: name});
    let catalog = json!({"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterCatalog",
        "metadata": {"name": name}, "spec": {"source": {"type": name}, "availabilityMode": name}});
    vec![
        extension(name, name, &json!("2.0.0")),
        extension("wick", &format!("{name}-other"), &json!(name)),
        extension(name, &format!("{name}-range"), &json!(name)),
        of_channel,
        installed,
        other,
        typo,
        catalog,
    ]
}

/// Returns the manifests of a bundle, with a CRD that has this field.
fn bundled(name: &str, field: &str) -> [Value; 3] {
    let schema = json!({"type": "object", "properties": {field: {"type": "string"}, name: {"type": "string", "pattern": field}}});
    let webhook =
        json!({"type": "ValidatingAdmissionWebhook", "generateName": name, "deploymentName": name});
    [
        json!({"kind": "ClusterServiceVersion", "metadata": {"name": name}, "spec": {
            "install": {"spec": {"deployments": [{"name": name}]}}, "webhookdefinitions": [webhook]}}),
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name},
            "spec": {"scope": field, "versions": [{"name": name, "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}}]}}),
        json!({"kind": name, "metadata": {"name": TEXT}}),
    ]
}

fn policy(name: &str) -> Value {
    json!({"apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy", "metadata": {"name": name},
        "spec": {"message": TEXT, "reason": TEXT, "rules": {"versions": {"deny": "2.0.0"}, "catalogs": [name],
            "conditions": [{"expression": "false", "message": TEXT}]}}})
}
