//! Blobs and properties of guardrails by themselves: whether they can be read, and whose they are.

use crate::lint::Rule;
use crate::lint::check::conversion;
use crate::lint::finding::Findings;
use crate::lint::view::{PackageView, View};
use crate::lint::words::{self, Words};
use crate::lint::written::{Carrier, Guardrails};
use olmguard_catalog::guardrail::{Problem, SCHEMA, UnreadGuardrails};

pub(in crate::lint::check) fn check(view: &View<'_>, report: &mut Findings<'_>) {
    for guardrails in &view.written.guardrails {
        // A property is a member of an `olm.package`, of which no file is named.
        if guardrails.carrier == Carrier::Blob {
            labels(guardrails, report);
        }
        package(view, guardrails, report);
        content(guardrails, report);
    }
    for package in view.packages.values() {
        together(package, report);
    }
}

fn labels(guardrails: &Guardrails, report: &mut Findings<'_>) {
    let labels = [
        ("schema", &*guardrails.schema),
        ("package", &*guardrails.package),
    ];
    for (key, text) in labels {
        if !text.is_empty() && !is_servable(text) {
            let words = words::guardrail_unservable(key, text);
            say(Rule::GuardrailMisnamed, guardrails, words, report);
        }
    }
    if guardrails.name.contains('/') || guardrails.name.contains("..") {
        let words = words::guardrail_misfiled(&guardrails.name);
        say(Rule::GuardrailMisnamed, guardrails, words, report);
    }
}

/// Whether `opm serve` takes it for the schema or package of a blob that it does not know: since 1.69 it
/// refuses the whole catalog otherwise.
fn is_servable(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.bytes().all(is_inner)
}

fn package(view: &View<'_>, guardrails: &Guardrails, report: &mut Findings<'_>) {
    let package = &*guardrails.package;
    if !conversion::is_defined(view, package) {
        let near = conversion::near(view, package, report);
        let words = words::guardrail_of_unknown_package(package, near);
        say(Rule::GuardrailOfUnknownPackage, guardrails, words, report);
    }
}

fn content(guardrails: &Guardrails, report: &mut Findings<'_>) {
    let package = &*guardrails.package;
    match &guardrails.stated {
        None => {
            let words = words::guardrail_other_version(&guardrails.schema, SCHEMA);
            say(Rule::GuardrailOtherVersion, guardrails, words, report);
        }
        Some(Err(unread)) => {
            let words = words::guardrail_unreadable(package, unread);
            report.say(Rule::GuardrailUnreadable, guardrails.fault, package, words);
        }
        Some(Ok(_)) => {}
    }
    for rule in guardrails.rules.iter().filter(|rule| rule.says_bypassable) {
        let words = words::guardrail_bypassable(&rule.id);
        report.say(Rule::GuardrailBypassable, rule.spot, package, words);
    }
}

/// What is wrong with several of one package, each of which may be well by itself.
fn together(package: &PackageView<'_>, report: &mut Findings<'_>) {
    let view = &package.guardrails;
    for several in [&view.blobs, &view.properties] {
        if let Some(second) = several.get(1) {
            let unread = UnreadGuardrails::whole(Problem::Twice);
            let words = words::guardrail_unreadable(package.name, &unread);
            say(Rule::GuardrailUnreadable, second, words, report);
        }
    }
    let unread = view.unread();
    let differ = unread.filter(|unread| unread.problem == Problem::Differ);
    if let (Some(differ), Some(blob)) = (differ, view.blobs.first()) {
        let words = words::guardrail_unreadable(package.name, &differ);
        say(Rule::GuardrailUnreadable, blob, words, report);
    }
}

fn say(rule: Rule, guardrails: &Guardrails, words: Words, report: &mut Findings<'_>) {
    report.say(rule, guardrails.spot, &guardrails.package, words);
}
