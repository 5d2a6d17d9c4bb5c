//! Every kind of change in one repository, in each format: each format reports what the table expects.

use std::collections::BTreeSet;

use olmguard::manifest::documents;
use roxmltree::{Document, Node};
use serde_json::Value;

use super::changes::changed;
use super::repository::{CATALOG, Repository};
use super::table::{Change, Said, changes, file};
use crate::check::scene::Ran;
use olmguard_support::junit::assert_is_junit;
use olmguard_support::schema::assert_fits;

/// A format, and the function that reads its report.
type Form = (&'static str, fn(&Ran) -> Vec<String>);

const FORMS: [Form; 7] = [
    ("text", text),
    ("json", json),
    ("yaml", yaml),
    ("sarif", sarif),
    ("junit", junit),
    ("github", github),
    ("markdown", markdown),
];

/// Returns what a format reports of a change: `NAME VERDICT TOKEN`, `NAME removed`, `FILE skipped`, `FILE unread`.
///
/// Findings and annotations exist only for denials. JUnit has a case without a message for an allowed edit, and no case
/// for anything that is not an extension.
fn expected(form: &str, change: &Change) -> Vec<String> {
    let (Said::Results(results) | Said::Removed(_, results)) = change.said else {
        return told_of_file(form, change);
    };
    let mut lines: Vec<_> = results
        .iter()
        .filter_map(|line| of_result(form, line))
        .collect();
    match change.said {
        Said::Removed(name, _) if form != "junit" => lines.push(format!("{name} removed")),
        _ => {}
    }
    lines
}

fn of_result(form: &str, line: &str) -> Option<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let (name, verdict, token) = (words[0], words[2], words[3]);
    match (form, verdict) {
        ("sarif" | "github", "allow" | "not_judged") => None,
        ("junit", "allow") => Some(format!("{name} allow")),
        _ => Some(format!("{name} {verdict} {token}")),
    }
}

fn told_of_file(form: &str, change: &Change) -> Vec<String> {
    let file = file(change.name);
    match change.said {
        Said::Skipped if form != "junit" => vec![format!("{file} skipped")],
        Said::Unread => vec![format!("{file} unread")],
        _ => Vec::new(),
    }
}

#[test]
fn each_says_of_each_change_what_becomes_of_it() {
    let changes = changes();
    assert!(changes.len() > 20, "{}", changes.len());
    let repository = changed(&changes);
    for (form, read) in FORMS {
        let ran = run(&repository, form);
        assert_eq!(ran.code, 3, "{form}: {}", ran.stderr);
        let told: BTreeSet<String> = read(&ran).into_iter().collect();
        let lines = changes.iter().flat_map(|change| expected(form, change));
        assert_eq!(told, lines.collect(), "{form}: {}", ran.stdout);
    }
}

fn run(repository: &Repository, form: &str) -> Ran {
    repository.run(&["-f", "apps", CATALOG, "--base=main", "-o", form])
}

/// Returns the files that cannot be read, as reported on standard error.
fn unread(ran: &Ran) -> Vec<String> {
    let lines = ran.stderr.lines();
    let lines = lines.map(|line| line.strip_prefix("error: ").expect(line));
    lines.map(of_note).collect()
}

/// Returns a report next to the results, from its single line.
fn of_note(note: &str) -> String {
    let file = note.split(':').next().unwrap_or_default();
    match note.split_once(": removed, ") {
        Some((place, _)) => format!("{} removed", place.rsplit(": ").next().unwrap_or(place)),
        None if note.contains(": skipped, ") => format!("{file} skipped"),
        None => format!("{file} unread"),
    }
}

fn text(ran: &Ran) -> Vec<String> {
    let mut lines = ran.stdout.lines().peekable();
    let mut told = unread(ran);
    while let Some(line) = lines.next() {
        let words: Vec<&str> = line.split(": ").collect();
        let below = lines.peek().copied().unwrap_or_default();
        let token = below
            .rsplit('[')
            .next()
            .and_then(|rest| rest.split(']').next());
        match words.as_slice() {
            _ if line.starts_with(' ') => {}
            [_, name, "removed"] => told.push(format!("{name} removed")),
            [_, name, verdict] => told.push(format!("{name} {verdict} {}", token.unwrap_or(below))),
            [place, "skipped"] => told.push(of_note(&format!("{place}: skipped, "))),
            _ => {}
        }
    }
    told
}

fn json(ran: &Ran) -> Vec<String> {
    of_report(ran, &ran.json())
}

fn yaml(ran: &Ran) -> Vec<String> {
    let mut documents = documents(ran.stdout.as_bytes());
    let report = documents.next().expect("a document").expect("YAML").value;
    assert_fits("schemas/olmguard.check.v1.json", &report);
    of_report(ran, &report)
}

fn of_report(ran: &Ran, report: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().expect("a list").clone();
    let said = |value: &Value, key: &str| value[key].as_str().expect(key).to_owned();
    let mut told = unread(ran);
    told.extend(list(&report["results"]).iter().map(|one| {
        let (name, verdict) = (said(one, "name"), said(one, "verdict"));
        format!("{name} {verdict} {}", said(one, "token"))
    }));
    let removed = list(&report["base"]["removed"]);
    told.extend(
        removed
            .iter()
            .map(|one| format!("{} removed", said(one, "name"))),
    );
    let skipped = list(&report["skipped"]);
    told.extend(
        skipped
            .iter()
            .map(|one| format!("{} skipped", said(one, "file"))),
    );
    told
}

/// Reads SARIF. A finding has no name, but every denied file has the name of its extension.
fn sarif(ran: &Ran) -> Vec<String> {
    let log: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_fits("tests/sarif/sarif-2.1.0.json", &log);
    let run = &log["runs"][0];
    let results = run["results"].as_array().expect("a list").iter();
    let results = results.filter(|one| one["ruleId"] != "Warning").map(|one| {
        assert_eq!(one["level"], "error", "{one}");
        let uri = one.pointer("/locations/0/physicalLocation/artifactLocation/uri");
        let uri = uri.and_then(Value::as_str).expect("a file");
        let name = uri
            .strip_prefix("apps/")
            .and_then(|uri| uri.strip_suffix(".yaml"));
        format!(
            "{} deny {}",
            name.expect(uri),
            one["ruleId"].as_str().expect("a rule")
        )
    });
    let notes = run.pointer("/invocations/0/toolExecutionNotifications");
    let notes = notes.and_then(Value::as_array).expect("a list").iter();
    let notes = notes.map(|note| of_note(note["message"]["text"].as_str().expect("a text")));
    results.chain(notes).collect()
}

fn junit(ran: &Ran) -> Vec<String> {
    assert_is_junit(&ran.stdout);
    let document = Document::parse(&ran.stdout).expect("XML");
    let cases = document
        .descendants()
        .filter(|node| node.has_tag_name("testcase"));
    cases.map(of_case).collect()
}

fn of_case(case: Node<'_, '_>) -> String {
    let name = case.attribute("name").expect("a name");
    let mut below = case.children().filter(Node::is_element);
    let ended = below.find(|node| !node.has_tag_name("system-out"));
    let token = ended
        .and_then(|ended| ended.attribute("type"))
        .unwrap_or_default();
    match ended.map(|ended| ended.tag_name().name()) {
        None => format!("{name} allow"),
        Some("failure") => format!("{name} deny {token}"),
        Some("skipped") => format!("{name} not_judged {token}"),
        Some(_) => format!("{name} unread"),
    }
}

fn github(ran: &Ran) -> Vec<String> {
    let commands = ran.stdout.lines().filter_map(|line| {
        let (head, message) = line.strip_prefix("::")?.split_once("::").expect(line);
        let (_, title) = head.split_once("title=").expect(line);
        let Some((name, token)) = title.split_once("%3A ") else {
            return Some(of_note(message));
        };
        (token != "warning").then(|| {
            assert!(head.starts_with("error "), "{line}");
            format!("{name} deny {token}")
        })
    });
    commands.collect()
}

fn markdown(ran: &Ran) -> Vec<String> {
    let mut told = Vec::new();
    for line in ran.stdout.lines() {
        let code: Vec<&str> = line.split('`').collect();
        if line.starts_with("- note: ") || line.starts_with("- error: ") {
            told.push(of_note(code[1]));
        } else if let Some(row) = line.strip_prefix("| ").filter(|_| code.len() > 1) {
            let cells: Vec<&str> = row.split(" | ").collect();
            let verdict = match cells[0] {
                "denied" => "deny",
                "allowed" => "allow",
                other => &other.replace(' ', "_"),
            };
            told.push(format!(
                "{} {verdict} {}",
                code[1],
                cells[4].trim_matches('`')
            ));
        }
    }
    told
}
