//! The forms of a report. Those that pipelines and browsers read have what could not be read.

mod junit;
pub(super) mod markdown;

use std::io;

use clap::ValueEnum;

use crate::cli::commands::audit::AuditArgs;
use crate::cli::commands::audit::inputs::InputFault;
use crate::cli::facts::loading::Fault;
use crate::cli::output::{json_line, yaml};
use olmguard_engine::explain::one_line;
use olmguard_policy::Moment;
use olmguard_views::audit_report::AuditReport;

/// The form of the report.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(super) enum Output {
    /// Text for people
    #[default]
    Text,
    /// One JSON object; its schema is its field `schema`
    Json,
    /// The same object as YAML
    Yaml,
    /// A table for a comment on a pull request
    Markdown,
    /// A page for browsers, light and dark, with a filter
    Html,
    /// JUnit XML, for pipelines
    Junit,
    /// The versions that Renovate can set, for its custom data source
    Renovate,
}

/// A report other than the usual one, which does not have each form.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct OtherReport {
    /// What it is about, behind "no form for".
    about: &'static str,
    forms: &'static [Output],
    /// The same in words.
    expected: &'static str,
}

/// What `--catalog` changes.
pub(super) const PREVIEW: OtherReport = OtherReport {
    about: "what --catalog changes",
    forms: &[Output::Text, Output::Json, Output::Yaml, Output::Markdown],
    expected: "-o text, json, yaml or markdown, or no --catalog",
};

/// Many clusters.
pub(super) const FLEET: OtherReport = OtherReport {
    about: "many clusters",
    forms: &[Output::Text, Output::Json, Output::Yaml, Output::Html],
    expected: "-o text, json, yaml or html",
};

/// A form that a report does not have.
#[derive(Debug, thiserror::Error)]
#[error("{form} has no form for {}: expected {}", .of.about, .of.expected)]
pub(super) struct NoForm {
    form: String,
    of: OtherReport,
}

impl NoForm {
    /// Whether a command line requests a form that a report has.
    ///
    /// # Errors
    /// If it requests another one.
    pub(super) fn check(args: &AuditArgs, of: OtherReport) -> Result<(), Self> {
        let output = args.output.form;
        let form = match output.to_possible_value() {
            _ if args.report => "--report".to_owned(),
            Some(form) if !of.forms.contains(&output) => format!("-o {}", form.get_name()),
            _ => return Ok(()),
        };
        Err(Self { form, of })
    }
}

/// What could not be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Unread {
    /// The input, or the facts as a whole.
    pub(super) name: String,
    /// All of it in one line.
    pub(super) line: String,
    /// Whether the run ends badly for it.
    pub(super) is_error: bool,
}

impl Unread {
    /// What could not be read of the inputs, then of the facts.
    pub(super) fn all(inputs: &[InputFault], facts: &[Fault]) -> Vec<Self> {
        let inputs = inputs.iter().map(|fault| Self {
            name: fault.file.clone(),
            line: one_line(&fault.to_string()),
            is_error: true,
        });
        let facts = facts.iter().map(|fault| Self {
            name: "facts".to_owned(),
            line: one_line(&fault.to_string()),
            is_error: !fault.is_warning(),
        });
        inputs.chain(facts).collect()
    }
}

/// A report in this form.
pub(super) fn text(report: &AuditReport, unread: &[Unread], form: Output) -> io::Result<String> {
    Ok(match form {
        Output::Json => json_line(report)?,
        Output::Yaml => yaml::document(&serde_json::to_value(report)?),
        Output::Renovate => json_line(&report.releases())?,
        // The errors have said what is missing: no summary of nothing.
        Output::Text if report.is_empty() && unread.iter().any(|one| one.is_error) => String::new(),
        Output::Text => report.to_string(),
        Output::Markdown => markdown::markdown(report, unread),
        Output::Junit => junit::junit(report, unread).map_err(io::Error::other)?,
        Output::Html => {
            let lines: Vec<_> = unread.iter().map(|one| one.line.clone()).collect();
            report.html(&lines)
        }
    })
}

/// A report that was made at this time, as objects of openreports.io, each a YAML document.
pub(super) fn cluster_reports(report: &AuditReport, at: Moment) -> io::Result<String> {
    let reports = report.cluster_reports(at.unix_seconds());
    let documents = reports.map(|report| {
        let document = yaml::document(&serde_json::to_value(&report)?);
        Ok(format!("---\n{document}"))
    });
    documents.collect()
}
