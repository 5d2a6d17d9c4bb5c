//! Results as SARIF 2.1.0: a finding for each refusal, each extension that is undecided, and each
//! warning. What could not be read is told of the run as a whole.
//!
//! A finding keeps its fingerprint while its place moves: it is made of the file, the name and the
//! answer. The rules are the tokens that were found, each with its page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ring::digest::{Context, SHA256};
use serde_json::json;
use serde_sarif::sarif::{
    Invocation, MultiformatMessageString, Notification, ReportingDescriptor, Result as Finding,
    ResultLevel, Sarif,
};

use crate::cli::Exit;
use crate::cli::commands::check::form::{CheckedExtension, Run};
use crate::cli::commands::check::trouble::{About, Trouble, Weight};
use crate::cli::output::sarif::{location, log, message, named, text};
use crate::cli::output::workflow::plain;
use olmguard_engine::explain::one_line;
use olmguard_engine::judge::Token;
use olmguard_views::page::{page, summary};

/// The log of the run, which ends so.
pub(in crate::cli::commands::check) fn sarif(run: &Run<'_>, exit: Exit) -> Sarif {
    let rules = Rules::of(run);
    let results = run.results.iter().flat_map(|told| findings(told, &rules));
    log(
        rules.descriptors(),
        results.collect(),
        Some(invocation(run, exit)),
    )
}

/// The ids of the rules, in the order in which they are described.
struct Rules(Vec<&'static str>);

impl Rules {
    fn of(run: &Run<'_>) -> Self {
        let refused = |token: &Token| {
            let mut results = run.results.iter();
            results.any(|told| told.weight().is_some() && told.answer.token == *token)
        };
        let tokens = Token::ALL.iter().filter(|token| refused(token));
        let has_warning = run
            .results
            .iter()
            .any(|told| told.warnings().next().is_some());
        let warning = has_warning.then_some(WARNING);
        Self(tokens.map(|token| token.as_str()).chain(warning).collect())
    }

    fn index(&self, id: &str) -> i64 {
        let index = self.0.iter().position(|rule| *rule == id);
        index
            .and_then(|index| i64::try_from(index).ok())
            .unwrap_or(-1)
    }

    fn descriptors(&self) -> Vec<ReportingDescriptor> {
        self.0.iter().map(|id| descriptor(id)).collect()
    }
}

fn descriptor(id: &str) -> ReportingDescriptor {
    let token = Token::ALL.iter().find(|token| token.as_str() == id);
    let (short, help) = match token {
        Some(token) => (summary(*token), page(*token)),
        None => (ABOUT_WARNINGS.to_owned(), ABOUT_WARNINGS),
    };
    let help = MultiformatMessageString::builder()
        .text(help)
        .markdown(help);
    ReportingDescriptor::builder()
        .id(id)
        .short_description(text(&short))
        .help(help.build())
        .build()
}

fn findings(told: &CheckedExtension<'_>, rules: &Rules) -> Vec<Finding> {
    let refusal = told.weight().map(|weight| {
        let told_as = told.text();
        finding(told, rules, told.token(), weight, &told_as, "")
    });
    let warnings = told.warnings().map(|warning| {
        let weight = told.weight_of_warnings();
        let said = format!("{}: {warning}", told.name());
        finding(told, rules, WARNING, weight, &said, &warning)
    });
    refusal.into_iter().chain(warnings).collect()
}

fn finding(
    told: &CheckedExtension<'_>,
    rules: &Rules,
    id: &str,
    weight: Weight,
    said: &str,
    detail: &str,
) -> Finding {
    let fingerprint = fingerprint([plain(told.file()), &told.name(), id, detail]);
    let mut finding = Finding::builder()
        .rule_id(id)
        .rule_index(rules.index(id))
        .level(level(weight))
        .message(message(&super::clean(said)))
        .locations(vec![location(told.file(), Some(told.at()))])
        .build();
    finding.partial_fingerprints = Some(BTreeMap::from([(FINGERPRINT.to_owned(), fingerprint)]));
    finding
}

/// The same for the same parts, wherever they stand in their file.
fn fingerprint(parts: [&str; 4]) -> String {
    let mut context = Context::new(&SHA256);
    for part in parts {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part.as_bytes());
    }
    let mut hex = String::new();
    for byte in context.finish().as_ref() {
        write!(hex, "{byte:02x}").expect("a String takes everything");
    }
    hex
}

fn invocation(run: &Run<'_>, exit: Exit) -> Invocation {
    let is_whole = run.troubles.iter().all(|one| one.weight != Weight::Error);
    Invocation::builder()
        .execution_successful(is_whole)
        .exit_code(i64::from(exit.code()))
        .tool_execution_notifications(run.troubles.iter().map(notification).collect::<Vec<_>>())
        .build()
}

fn notification(trouble: &Trouble) -> Notification {
    let mut notification = Notification::builder()
        .level(json!(word(trouble.weight)))
        .message(message(&trouble.line()))
        .build();
    let place = match &trouble.about {
        About::File(file, at) => Some(location(file, *at)),
        About::Base(name) => Some(named(&one_line(name))),
        About::Run => None,
    };
    notification.locations = place.map(|place| vec![place]);
    notification
}

fn word(weight: Weight) -> &'static str {
    match weight {
        Weight::Error => "error",
        Weight::Warning => "warning",
        Weight::Note => "note",
    }
}

fn level(weight: Weight) -> ResultLevel {
    match weight {
        Weight::Error => ResultLevel::Error,
        Weight::Warning => ResultLevel::Warning,
        Weight::Note => ResultLevel::Note,
    }
}

/// The rule of every warning: which it is, its words say.
const WARNING: &str = "Warning";
const ABOUT_WARNINGS: &str =
    "The edit is not denied because of it, but check it before you apply it.";

/// Names how the fingerprint is made.
const FINGERPRINT: &str = "olmguardFileNameAnswer/v1";
