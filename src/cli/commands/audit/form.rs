//! The forms of a report. The forms for pipelines and browsers include the inputs that could not be read.

use std::io;

use clap::ValueEnum;

use crate::cli::commands::BadInput;
use crate::cli::commands::audit::AuditArgs;
use crate::cli::output::{json_line, yaml};
use crate::facts::Fault;
use olmguard_engine::judge::{Token, Verdict};
use olmguard_policy::Moment;
use olmguard_report::{Case, CaseStatus, Failure, Finding, Place, Severity, junit};
use olmguard_views::audit_report::{AuditReport, ExtensionReport};

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

/// A report other than the default one, which does not support every form.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct OtherReport {
    /// The subject of the report, after "no form for".
    about: &'static str,
    forms: &'static [Output],
    /// The same forms in words.
    expected: &'static str,
}

/// The report on the changes of `--catalog`.
pub(super) const PREVIEW: OtherReport = OtherReport {
    about: "what --catalog changes",
    forms: &[Output::Text, Output::Json, Output::Yaml, Output::Markdown],
    expected: "-o text, json, yaml or markdown, or no --catalog",
};

/// The report on many clusters.
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
    /// Checks that the command line requests a form that a report has.
    ///
    /// # Errors
    /// If it requests another form.
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

/// The inputs that could not be read, then the facts that could not.
pub(super) fn unread(inputs: &[BadInput], facts: &[Fault]) -> Vec<Finding> {
    let inputs = inputs.iter().map(|fault| Finding {
        place: Place::File(fault.file.clone(), None),
        ..Finding::of_run(TITLE, Severity::Error, fault.to_string())
    });
    let facts = facts.iter().map(|fault| fault.finding(TITLE));
    inputs.chain(facts).collect()
}

/// A report in this form.
pub(super) fn text(report: &AuditReport, unread: Vec<Finding>, form: Output) -> io::Result<String> {
    let is_bad = |one: &&Finding| one.severity == Severity::Error;
    Ok(match form {
        Output::Json => json_line(report)?,
        Output::Yaml => yaml::document(&serde_json::to_value(report)?),
        Output::Renovate => json_line(&report.releases())?,
        // The errors have shown what is missing, so an empty summary adds nothing.
        Output::Text if report.is_empty() && unread.iter().any(|one| is_bad(&one)) => String::new(),
        Output::Text => report.to_string(),
        Output::Markdown => report.document(unread).to_markdown(),
        Output::Html => report.document(unread).to_html(),
        Output::Junit => {
            let cases: Vec<_> = report.extensions().iter().map(case).collect();
            let unread = ("inputs", unread.iter().filter(is_bad));
            junit(TITLE, unread, &cases).map_err(io::Error::other)?
        }
    })
}

/// An extension as a test case. A spec that would be denied today fails, an undecided spec is an error, and an
/// extension that is not judged is skipped. All other findings are the output of the test case.
fn case(extension: &ExtensionReport) -> Case {
    let findings = extension.lines().collect::<Vec<_>>().join("\n");
    let status = status(extension, &findings);
    let is_passed = matches!(status, CaseStatus::Passed);
    Case {
        suite: "extensions".to_owned(),
        name: extension.name().to_owned(),
        class: extension.package().to_owned(),
        status,
        output: if is_passed { findings } else { String::new() },
    }
}

fn status(extension: &ExtensionReport, findings: &str) -> CaseStatus {
    let failure = |word| Failure {
        word,
        line: extension.lines().next().unwrap_or_default(),
        whole: findings.to_owned(),
    };
    match extension.verdict() {
        Verdict::Deny => CaseStatus::Failed(failure(extension.token())),
        Verdict::Undecided => CaseStatus::Error(failure(extension.token())),
        // The override allows it, whatever is installed.
        Verdict::Allow if extension.is_undecided() => {
            CaseStatus::Error(failure(Token::InstalledUnknown.as_str()))
        }
        Verdict::Allow => CaseStatus::Passed,
        Verdict::NotJudged => {
            let why = extension.exemption().unwrap_or_default();
            CaseStatus::Skipped(extension.token(), why.to_owned())
        }
    }
}

/// A report from this time as objects of openreports.io, each a YAML document.
pub(super) fn cluster_reports(report: &AuditReport, at: Moment) -> io::Result<String> {
    let reports = report.cluster_reports(at.unix_seconds());
    let documents = reports.map(|report| {
        let document = yaml::document(&serde_json::to_value(&report)?);
        Ok(format!("---\n{document}"))
    });
    documents.collect()
}

/// The subject of findings that are about the run, not about one of its inputs.
const TITLE: &str = "olmguard audit";
