//! The warnings about an edit of a catalog: one line each, at most as long as a warning can be.

use crate::audit_change::ExtensionChangeReport;
use crate::audit_change::catalog_edit::{CatalogEditReport, EditNote};
use olmguard_engine::explain::text::{CutLine, label};
use olmguard_engine::explain::warning::shorten;
use olmguard_engine::explain::{LINE_1, counted, denial};
use olmguard_engine::judge::PolicyFinding;

/// What is not known of an edit, or how it was checked.
pub(super) fn note(note: &EditNote) -> String {
    let line = CutLine::default();
    shorten(&match note {
        EditNote::Unreadable(why) => line.say("not checked: ").said(why),
        EditNote::NotListed(why) => line.said(why),
        EditNote::NotInTime => line.say("not checked: the answer was not ready in time"),
        EditNote::Unfinished { checked, of } => line.say(&format!(
            "only {checked} of {} were checked in time",
            counted(*of, "extension")
        )),
        EditNote::UnknownContent(catalog) => line
            .say("not checked: the content that catalog ")
            .name(catalog)
            .say(" will have is not loaded here"),
        EditNote::PresentContent(catalog) => line
            .say("the content of the new image is not loaded here: checked with what catalog ")
            .name(catalog)
            .say(" has now"),
        EditNote::LoadedAs(catalog, other) if catalog == other => line
            .say("the new image of catalog ")
            .name(catalog)
            .say(" has the content that is loaded now: checked with it"),
        EditNote::LoadedAs(_, other) => line
            .say("the new image has the content of catalog ")
            .name(other)
            .say(": checked with it"),
    })
}

/// How many extensions the edit changes.
pub(super) fn counts(report: &CatalogEditReport) -> String {
    let CatalogEditReport {
        catalog,
        harmful,
        notice,
        good,
        same,
        ..
    } = report;
    let counts = format!(
        ": {} with breaking changes, {notice} to review, {good} improved, {same} unchanged",
        counted(*harmful, "extension")
    );
    let line = CutLine::default().say("this edit of catalog ");
    shorten(&line.name(catalog).say(&counts))
}

/// The worst change of an extension.
pub(super) fn change(extension: &ExtensionChangeReport) -> Option<String> {
    let worst = extension.changes().first()?;
    let before = extension.before();
    let line = CutLine::default().name(before.name()).say(" (");
    let line = line.name(before.package()).say("): ");
    Some(shorten(
        &line.say(&worst.label()).say(": ").said(worst.text()),
    ))
}

/// A step that OLM takes automatically after the edit, and that an upgrade policy denies.
pub(super) fn denied(extension: &ExtensionChangeReport, finding: &PolicyFinding<'_>) -> String {
    let before = extension.before();
    let line = CutLine::default()
        .say("OLM would upgrade ")
        .name(before.name());
    let line = line
        .say(" (")
        .name(before.package())
        .say(") automatically to ");
    let line = line.version(label(finding.to.bundle())).say(": ");
    line.then(denial(finding)).within(LINE_1 - ROOM)
}

/// The message of a refusal; none if no step is denied.
pub(super) fn refusal(catalog: &str, denied: &[String], count: usize) -> Option<String> {
    let (first, others) = denied.split_first()?;
    let line = CutLine::default()
        .say("ClusterCatalog ")
        .name(catalog)
        .say(": ");
    let first = line.say(first).say(" [Policy]").within(LINE_1);
    let others = others.iter().map(|other| format!("Also: {other}"));
    let rest = count - denied.len();
    let rest = (rest > 0).then(|| format!("Also: {rest} more"));
    let lines = [first].into_iter().chain(others).chain(rest);
    let lines: Vec<_> = lines.chain([FIX.to_owned()]).collect();
    Some(lines.join("\n"))
}

const FIX: &str =
    "Fix: first set the version of these extensions to a range that the policy allows";

/// What a line needs for the name of the catalog and the reason code.
const ROOM: usize = 45;
