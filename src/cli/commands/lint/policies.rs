//! `lint --policy`: the policies of administrators, before they are applied.

use std::path::PathBuf;

use crate::manifest::Position;
use crate::policy_files::{PolicyFileFault, ReadPolicies};
use crate::policy_objects::PolicyPlace;
use olmguard_views::lint::{LintFinding, PolicyPart, WrittenCatalog, WrittenPolicy, lint_policies};

/// What is wrong with the objects of these files, beside these catalogs, in the order of the places.
///
/// # Errors
/// If a file cannot be read, or has no object.
pub(super) fn findings(
    paths: &[PathBuf],
    catalogs: &[WrittenCatalog],
) -> Result<Vec<LintFinding>, PolicyFileFault> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let mut read = ReadPolicies::load(paths);
    read.bound_together();
    if let Some(fault) = read.unusable() {
        return Err(fault.clone());
    }
    let unread = read.faults.iter().map(|fault| {
        let title = fault.title.as_deref().unwrap_or_default();
        written(&fault.place, title, PolicyPart::Unread(&fault.why))
    });
    let named = read.packages.iter().map(|named| {
        let part = PolicyPart::Package(&named.package);
        written(&named.place, &named.title, part)
    });
    let mut written: Vec<_> = unread.chain(named).collect();
    written.sort_by_key(|one| (one.file, one.line, one.column));
    Ok(lint_policies(written, catalogs))
}

fn written<'p>(place: &'p PolicyPlace, title: &'p str, part: PolicyPart<'p>) -> WrittenPolicy<'p> {
    let Position { line, column } = Position::START;
    let (line, column) = place.at.unwrap_or((line, column));
    WrittenPolicy {
        file: &place.file,
        line,
        column,
        title,
        part,
    }
}
