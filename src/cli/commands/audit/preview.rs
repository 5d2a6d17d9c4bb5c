//! `olmguard audit --catalog NAME=PATH` with a snapshot or a cluster: what is different once that catalog is replaced.
//!
//! ```text
//! snapshot or cluster --------------------> catalogs as they are --audit--\
//!                      \--catalog NAME=PATH--> catalogs after ----audit---+--> AuditChangeReport
//! ```
//!
//! Catalogs that stay share their content between both.

use std::io;

use crate::cli::commands::audit::form::Output;
use crate::cli::output::{json_line, yaml};
use crate::cli::{Exit, warn};
use crate::facts::{CurrentCatalogs, Facts};
use olmguard_catalog::version::go;
use olmguard_engine::judge::{Basis, Edit};
use olmguard_report::Finding;
use olmguard_views::audit_change::{AuditChangeReport, ExtensionChangeReport};
use olmguard_views::diff::Level;

/// What is different for the extensions of these edits.
pub(super) fn report<'a>(
    facts: &Facts,
    current: &CurrentCatalogs,
    edits: impl Iterator<Item = Edit<'a>>,
) -> AuditChangeReport {
    warn_of_added(current);
    let before = Basis {
        snapshot: &current.snapshot,
        policies: &facts.policies,
    };
    let sides = [before, facts.basis()];
    let extensions = edits.map(|edit| ExtensionChangeReport::between(&edit, sides));
    let names = current.given.iter().map(String::as_str);
    AuditChangeReport::of(names, extensions)
}

/// A name that the snapshot or the cluster does not have is perhaps a typo.
fn warn_of_added(current: &CurrentCatalogs) {
    for name in current.added() {
        warn(&format!(
            "catalog {} is not in the snapshot or the cluster: the report is about adding it",
            go::quote(name)
        ));
    }
}

/// The report in a form that it has.
pub(super) fn text(
    report: &AuditChangeReport,
    unread: Vec<Finding>,
    form: Output,
) -> io::Result<String> {
    Ok(match form {
        Output::Json => json_line(report)?,
        Output::Yaml => yaml::document(&serde_json::to_value(report)?),
        Output::Markdown => report.document(unread).to_markdown(),
        _ => report.to_string(),
    })
}

/// What the report counts as.
pub(super) fn exits(report: &AuditChangeReport) -> impl Iterator<Item = Exit> + use<> {
    let harmful = (report.count(Level::Harmful) > 0).then_some(Exit::Denied);
    let undecided = report.is_undecided().then_some(Exit::Undecided);
    harmful.into_iter().chain(undecided)
}
