//! The effect of an edit of a `ClusterCatalog` on installed extensions, as warnings of an API server.
//!
//! Only the counts and the worst few extensions are kept, so memory does not grow with the number of extensions.

#[cfg(test)]
mod tests;

use crate::audit_change::ExtensionChangeReport;
use crate::diff::Level;
use olmguard_engine::audit::{Audit, denied_step};
use olmguard_engine::explain::text::{CutLine, label};
use olmguard_engine::explain::warning::{MOST, shorten};
use olmguard_engine::explain::{LINE_1, counted, denial};
use olmguard_engine::judge::{Basis, Edit, PolicyFinding};

/// The effect of an edit of a catalog.
#[derive(Clone, Debug, Default)]
pub struct CatalogEditReport {
    catalog: String,
    /// The worst changes, sorted.
    worst: Vec<ExtensionChangeReport>,
    harmful: usize,
    notice: usize,
    good: usize,
    same: usize,
    /// Sentences about the first steps that upgrade policies deny. `denials` counts all of them.
    denied: Vec<String>,
    denials: usize,
}

/// The reason why upgrade policies deny an edit of a catalog.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CatalogRefusal {
    /// Full message, in lines.
    pub message: String,
    /// Sentences about the denied steps. If there are very many, only the first ones.
    pub causes: Vec<String>,
}

/// A missing fact about an edit of a catalog, or how the edit was checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum EditNote {
    /// The edit cannot be read, with the reason.
    Unreadable(String),
    /// Not all installed extensions can be listed, with the reason.
    NotListed(String),
    /// There was no time to check any extension.
    NotInTime,
    /// There was time to check only some extensions.
    Unfinished {
        /// Number of extensions that were checked.
        checked: usize,
        /// Number of all extensions.
        of: usize,
    },
    /// The content that this catalog has after the edit is not loaded.
    UnknownContent(String),
    /// The new content of this catalog is not loaded. The rest of the edit was checked with its present content.
    PresentContent(String),
    /// The new image of the first catalog has the content of the second.
    LoadedAs(String, String),
}

impl CatalogEditReport {
    /// Creates a report about an edit of this catalog, before any extension is checked.
    pub fn of(catalog: &str) -> Self {
        Self {
            catalog: catalog.to_owned(),
            ..Self::default()
        }
    }

    /// Checks one extension before and after the edit.
    pub fn check(&mut self, extension: &Edit<'_>, sides: [Basis<'_>; 2]) {
        let [before, after] = sides.map(|basis| Audit::of(basis, extension));
        let change = ExtensionChangeReport::of(extension, &before, &after);
        let [_, basis] = sides;
        if let Some(finding) = denied_step(extension, &before, (basis, &after)) {
            self.denials += 1;
            let kept = self.denials <= MOST;
            self.denied.extend(kept.then(|| denied(&change, &finding)));
        }
        let count = match change.level() {
            Some(Level::Harmful) => &mut self.harmful,
            Some(Level::Notice) => &mut self.notice,
            Some(Level::Good) => &mut self.good,
            None => &mut self.same,
        };
        *count += 1;
        if change.level().is_some() {
            self.keep(change);
        }
    }

    fn keep(&mut self, change: ExtensionChangeReport) {
        let at = self
            .worst
            .partition_point(|kept| kept.rank() <= change.rank());
        self.worst.insert(at, change);
        self.worst.truncate(MOST);
    }

    /// Returns how many extensions were checked.
    pub fn checked(&self) -> usize {
        self.changed() + self.same
    }

    fn changed(&self) -> usize {
        self.harmful + self.notice + self.good
    }

    /// Returns why upgrade policies deny the edit, if they do.
    pub fn refusal(&self) -> Option<CatalogRefusal> {
        let causes = self.denied.clone();
        let message = refusal(&self.catalog, &causes, self.denials)?;
        Some(CatalogRefusal { message, causes })
    }

    /// Returns the warnings: the notes, the counts, and as many of the worst changes as fit. Empty without notes and
    /// changes.
    pub fn warnings(&self, notes: &[EditNote]) -> Vec<String> {
        let notes = notes.iter().map(EditNote::warning);
        let counts = (self.changed() > 0).then(|| counts(self));
        let worst = self.worst.iter().filter_map(change);
        notes.chain(counts).chain(worst).take(MOST).collect()
    }
}

impl EditNote {
    /// Formats the note as a warning.
    pub fn warning(&self) -> String {
        let line = CutLine::default();
        shorten(&match self {
            Self::Unreadable(why) => line.say("not checked: ").said(why),
            Self::NotListed(why) => line.said(why),
            Self::NotInTime => line.say("not checked: the answer was not ready in time"),
            Self::Unfinished { checked, of } => line.say(&format!(
                "only {checked} of {} were checked in time",
                counted(*of, "extension")
            )),
            Self::UnknownContent(catalog) => line
                .say("not checked: the content that catalog ")
                .name(catalog)
                .say(" will have is not loaded here"),
            Self::PresentContent(catalog) => line
                .say("the content of the new image is not loaded here: checked with what catalog ")
                .name(catalog)
                .say(" has now"),
            Self::LoadedAs(catalog, other) if catalog == other => line
                .say("the new image of catalog ")
                .name(catalog)
                .say(" has the content that is loaded now: checked with it"),
            Self::LoadedAs(_, other) => line
                .say("the new image has the content of catalog ")
                .name(other)
                .say(": checked with it"),
        })
    }
}

/// Formats how many extensions the edit changes.
fn counts(report: &CatalogEditReport) -> String {
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

/// Formats the worst change of an extension.
fn change(extension: &ExtensionChangeReport) -> Option<String> {
    let worst = extension.changes.first()?;
    let before = &extension.before;
    let line = CutLine::default().name(before.name()).say(" (");
    let line = line.name(before.package()).say("): ");
    Some(shorten(
        &line.say(&worst.label()).say(": ").said(&worst.text),
    ))
}

/// Formats an automatic step after the edit that an upgrade policy denies.
fn denied(extension: &ExtensionChangeReport, finding: &PolicyFinding<'_>) -> String {
    let before = &extension.before;
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

/// Returns the message of a refusal. `None` if no step is denied.
fn refusal(catalog: &str, denied: &[String], count: usize) -> Option<String> {
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

/// Room in a line for the name of the catalog and the reason code.
const ROOM: usize = 45;
