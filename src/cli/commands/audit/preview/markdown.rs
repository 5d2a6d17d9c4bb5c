//! What is different as Markdown: a table with a row for each extension that changes, the worst first, and the changes
//! folded away.
//!
//! The first line is a comment that no one sees, by which a bot finds the comment to write again.

use crate::cli::commands::audit::form::Unread;
use crate::cli::commands::audit::form::markdown::unread as unread_line;
use crate::cli::output::markdown::{LONGEST, MESSAGES, Noun, Page, ROWS, code, folded};
use olmguard_views::audit_change::{AuditChangeReport, ChangeReport, ExtensionChangeReport};

/// The comment.
pub(super) fn markdown(report: &AuditChangeReport, unread: &[Unread]) -> String {
    let begin = format!(
        "{MARKER}\n### olmguard audit: {}\n",
        code(&report.count_line(), LONGEST)
    );
    let mut page = Page::new(&begin);
    page.all("\n", MESSAGES, unread.iter().map(unread_line));
    page.all(TABLE, ROWS, report.changed().map(row));
    page.all("\n", CHANGES, report.changed().map(fold));
    page.finish("olmguard audit")
}

fn row(extension: &ExtensionChangeReport) -> String {
    let cell = |text: &str| code(text, LONGEST);
    let before = extension.before();
    let changes: Vec<_> = extension
        .changes()
        .iter()
        .map(ChangeReport::label)
        .collect();
    format!(
        "| {} | {} | {} | {} |\n",
        cell(before.name()),
        cell(before.package()),
        cell(&before.installed()),
        changes.join(", "),
    )
}

fn fold(extension: &ExtensionChangeReport) -> String {
    let lines: Vec<_> = extension
        .changes()
        .iter()
        .map(ToString::to_string)
        .collect();
    let level = extension.changes().first().map_or("", ChangeReport::level);
    folded(extension.before().name(), level, &lines.join("\n"))
}

/// What is folded away of an extension.
const CHANGES: Noun = ["list of changes", "lists of changes"];

/// By this a bot finds its comment again.
const MARKER: &str = "<!-- olmguard audit changes -->";

const TABLE: &str = "
| extension | package | installed | changes |
| --- | --- | --- | --- |
";
