//! A report as Markdown: a table with a row for each extension, the worst first, and its findings folded away.
//!
//! The first line is a comment that no one sees, by which a bot finds the comment to write again.

use super::Unread;
use crate::cli::output::markdown::{
    LONGEST, LONGEST_TROUBLE, MESSAGES, Noun, Page, ROWS, code, folded,
};
use olmguard_views::audit_report::{AuditReport, ExtensionReport, FindingReport};

/// The comment.
pub(super) fn markdown(audit: &AuditReport, faults: &[Unread]) -> String {
    let begin = format!("{MARKER}\n### olmguard audit: {}\n", audit.count_line());
    let mut page = Page::new(&begin);
    page.all("\n", MESSAGES, faults.iter().map(unread));
    page.all(TABLE, ROWS, audit.extensions().iter().map(row));
    page.all("\n", FINDINGS, audit.extensions().iter().filter_map(fold));
    page.finish("olmguard audit")
}

/// What could not be read, as an item of a list.
pub(in crate::cli::commands::audit) fn unread(fault: &Unread) -> String {
    let word = if fault.is_error { "error" } else { "warning" };
    format!("- {word}: {}\n", code(&fault.line, LONGEST_TROUBLE))
}

fn row(extension: &ExtensionReport) -> String {
    let cell = |text: &str| code(text, LONGEST);
    let findings = extension.findings().iter().map(FindingReport::label);
    let not_judged = extension.exemption().map(|_| "not judged".to_owned());
    let findings: Vec<_> = findings.chain(not_judged).collect();
    format!(
        "| {} | {} | {} | {} | {} |\n",
        cell(extension.name()),
        cell(extension.package()),
        cell(&extension.installed()),
        findings.join(", "),
        cell(extension.next_range().unwrap_or_default()),
    )
}

/// The findings of one that has some.
fn fold(extension: &ExtensionReport) -> Option<String> {
    let lines: Vec<_> = extension.lines().collect();
    (!lines.is_empty()).then(|| folded(extension.name(), extension.token(), &lines.join("\n")))
}

/// What is folded away of an extension.
const FINDINGS: Noun = ["list of findings", "lists of findings"];

/// By this a bot finds its comment again.
const MARKER: &str = "<!-- olmguard audit -->";

const TABLE: &str = "
| extension | package | installed | findings | set version to |
| --- | --- | --- | --- | --- |
";
