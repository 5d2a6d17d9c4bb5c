//! What changed as Markdown for the comment of a pull request: a table with a row for each change.
//!
//! The first line is a comment that no one sees, by which a bot finds the comment to write again.

use crate::cli::output::markdown::{LONGEST, Page, ROWS, code};
use olmguard_views::diff::{WeighedChange, WeighedPackage, words};
use olmguard_views::generation::Generation;

/// The comment.
pub(super) fn markdown(packages: &[WeighedPackage<'_>], generation: Generation) -> String {
    let summary = words::summary(packages, generation);
    let mut page = Page::new(&format!("{MARKER}\n### olmguard diff: {summary}\n"));
    let rows = packages.iter().flat_map(|package| {
        let rows = package.rows.iter();
        rows.map(|one| row(package.name, one))
    });
    let table = match words::concerning(packages) {
        Some(_) => WITH_EXTENSIONS,
        None => TABLE,
    };
    page.all(table, ROWS, rows);
    page.finish("olmguard diff")
}

fn row(package: &str, row: &WeighedChange<'_>) -> String {
    let kind = row.change.kind();
    let (level, kind) = (kind.level().as_str(), kind.as_str());
    let package = code(package, LONGEST);
    let sentence = code(&words::sentence(row.change), LONGEST);
    let extensions = match &row.extensions {
        None => String::new(),
        Some(names) if names.is_empty() => " 0 |".to_owned(),
        Some(names) => format!(" {}: {} |", names.len(), code(&words::few(names), LONGEST)),
    };
    format!("| {level} | {package} | {kind} | {sentence} |{extensions}\n")
}

/// By this a bot finds its comment again.
const MARKER: &str = "<!-- olmguard diff -->";

const TABLE: &str = "
| level | package | change | details |
| --- | --- | --- | --- |
";

const WITH_EXTENSIONS: &str = "
| level | package | change | details | installed extensions |
| --- | --- | --- | --- | --- |
";
