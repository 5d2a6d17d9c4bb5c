//! Findings as SARIF 2.1.0.
//!
//! Every rule is described, found or not, so that a viewer can show what was looked for. Messages are
//! sentences for people: what they take from a catalog is escaped as in the text form.

use serde_sarif::sarif::{
    ReportingConfiguration, ReportingDescriptor, Result as Finding, ResultLevel, Sarif,
};

use crate::cli::output::sarif::{location, log, message, text};
use crate::manifest::Position;
use olmguard_engine::explain::one_line;
use olmguard_views::lint::{self, Rule, Severity};

/// The log of one run.
pub fn sarif(findings: &[lint::Finding]) -> Sarif {
    let rules = Rule::all().map(descriptor).collect();
    log(rules, findings.iter().map(result).collect(), None)
}

fn descriptor(rule: Rule) -> ReportingDescriptor {
    ReportingDescriptor::builder()
        .id(rule.id())
        .short_description(text(rule.title()))
        .full_description(text(rule.why()))
        .help(text(rule.fix()))
        .default_configuration(
            ReportingConfiguration::builder()
                .level(serde_json::json!(rule.severity().as_str()))
                .build(),
        )
        .build()
}

fn result(finding: &lint::Finding) -> Finding {
    let index = Rule::all().position(|rule| rule == finding.rule);
    let index = index.and_then(|index| i64::try_from(index).ok());
    let told = one_line(&finding.message);
    let told = match &finding.upstream {
        Some(upstream) => format!("{told}\nopm validate: {}", one_line(upstream)),
        None => told,
    };
    let at = Position {
        line: finding.line,
        column: finding.column,
    };
    Finding::builder()
        .rule_id(finding.rule.id())
        .rule_index(index.unwrap_or(-1))
        .level(level(finding.severity))
        .message(message(&told))
        .locations(vec![location(&finding.file, Some(at))])
        .build()
}

fn level(severity: Severity) -> ResultLevel {
    match severity {
        Severity::Note => ResultLevel::Note,
        Severity::Warning => ResultLevel::Warning,
        Severity::Error => ResultLevel::Error,
    }
}
