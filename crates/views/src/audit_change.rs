//! The effect of catalog changes on installed extensions, the worst first.
//!
//! The facts are from [`olmguard_engine::audit::differences`]. This module sorts, words and formats them. The report
//! is separate from [`crate::audit_report`], which describes the present state. A pipeline that reads that report must
//! not mistake a future state for the present one.

mod catalog_edit;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

pub use catalog_edit::{CatalogEditReport, CatalogRefusal, EditNote};

use crate::audit_report;
use crate::audit_report::ExtensionReport;
use crate::diff::Level;
use olmguard_engine::audit::{Audit, Deprecations, Difference, Moves, Place, differences};
use olmguard_engine::explain::{one_line, reason};
use olmguard_engine::judge::{Basis, Edit, Verdict, pin};
use olmguard_engine::resolve::Choice;
use olmguard_report::document::{Content, Details, Head, Layout, Row, Section};
use olmguard_report::{Document, Finding, Tone};

/// What a change of catalogs does to the extensions that already run.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "olmguard.audit-change/v1")]
pub struct AuditChangeReport {
    /// Schema of this object.
    schema: &'static str,
    /// Names of the catalogs that are replaced or added.
    catalogs: Vec<String>,
    /// Extensions, the worst change first. Extensions without a change are last.
    extensions: Vec<ExtensionChangeReport>,
    /// Number of extensions with each change. A change that no extension has is omitted.
    summary: BTreeMap<&'static str, usize>,
}

/// What a change of catalogs does to one extension.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct ExtensionChangeReport {
    /// Name of the extension. Null if the object has no name.
    name: Option<String>,
    /// What is different after the change, the worst first. Empty if nothing is.
    changes: Vec<ChangeReport>,
    /// The extension before the change.
    before: ExtensionReport,
    /// The extension after the change.
    after: ExtensionReport,
    #[serde(skip)]
    differences: Vec<Difference>,
}

/// One thing that is different.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct ChangeReport {
    /// Id of the change.
    #[schemars(extend("enum" = Difference::ALL.map(Difference::as_str).to_vec()))]
    id: &'static str,
    /// Effect on the extension: `harmful` (breaking), `notice` (to review) or `good` (an improvement).
    #[schemars(extend("enum" = Level::ALL.map(Level::as_str)))]
    level: &'static str,
    /// The change in a sentence.
    text: String,
}

impl AuditChangeReport {
    /// Creates a report about these extensions, in any order, if these catalogs are replaced or added.
    pub fn of<'n>(
        catalogs: impl IntoIterator<Item = &'n str>,
        extensions: impl IntoIterator<Item = ExtensionChangeReport>,
    ) -> Self {
        let mut extensions: Vec<_> = extensions.into_iter().collect();
        extensions.sort_by(|one, other| one.rank().cmp(&other.rank()));
        let mut summary = BTreeMap::new();
        let found = extensions
            .iter()
            .flat_map(|extension| &extension.differences);
        for difference in found {
            *summary.entry(difference.as_str()).or_default() += 1;
        }
        let mut catalogs: Vec<_> = catalogs.into_iter().map(str::to_owned).collect();
        catalogs.sort_unstable();
        Self {
            schema: SCHEMA,
            catalogs,
            extensions,
            summary,
        }
    }

    /// Returns the extensions that change, the worst first.
    pub fn changed(&self) -> impl Iterator<Item = &ExtensionChangeReport> {
        let all = self.extensions.iter();
        all.filter(|extension| !extension.changes.is_empty())
    }

    /// Counts the extensions whose worst change has this level.
    pub fn count(&self, level: Level) -> usize {
        let levels = self.extensions.iter().map(ExtensionChangeReport::level);
        levels.filter(|found| *found == Some(level)).count()
    }

    /// Whether a fact about any extension is missing after the change.
    pub fn is_undecided(&self) -> bool {
        let mut after = self.extensions.iter().map(|extension| &extension.after);
        after.any(|after| after.verdict() == Verdict::Undecided)
    }
}

impl ExtensionChangeReport {
    /// Compares the audits of the extension of an edit.
    pub fn of(edit: &Edit<'_>, before: &Audit<'_>, after: &Audit<'_>) -> Self {
        let differences = differences(before, after);
        let sides = Sides {
            before,
            after,
            moves: Moves::of(before, after),
            edit,
        };
        Self {
            name: edit.new.identity.name.clone(),
            changes: differences
                .iter()
                .map(|difference| ChangeReport {
                    id: difference.as_str(),
                    level: level(*difference).as_str(),
                    text: one_line(&words::sentence(*difference, &sides)),
                })
                .collect(),
            before: ExtensionReport::of(edit, before),
            after: ExtensionReport::of(edit, after),
            differences,
        }
    }

    /// Audits the extension of an edit on both bases, and compares the results.
    pub fn between(edit: &Edit<'_>, sides: [Basis<'_>; 2]) -> Self {
        let [before, after] = sides.map(|basis| Audit::of(basis, edit));
        Self::of(edit, &before, &after)
    }

    /// Returns the level of the worst change.
    fn level(&self) -> Option<Level> {
        self.differences.first().copied().map(level)
    }

    /// Returns the sort key: the worst first, extensions without a change last.
    fn rank(&self) -> (bool, &[Difference], Option<&str>) {
        let is_same = self.differences.is_empty();
        (is_same, &self.differences, self.name.as_deref())
    }
}

impl ChangeReport {
    /// Returns the change in a word or two.
    pub fn label(&self) -> String {
        audit_report::label(self.id)
    }
}

impl fmt::Display for ChangeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.label(), self.text)
    }
}

impl fmt::Display for AuditChangeReport {
    /// Formats the extensions that change. The others are only counted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.count_line())?;
        for extension in self.changed() {
            writeln!(f, "{extension}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ExtensionChangeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.before.head())?;
        for change in &self.changes {
            write!(f, "\n  {change}")?;
        }
        Ok(())
    }
}

/// Returns the effect of a difference on an extension.
fn level(difference: Difference) -> Level {
    if difference <= Difference::OtherImage {
        Level::Harmful
    } else if difference <= Difference::Newest {
        Level::Notice
    } else {
        Level::Good
    }
}

const SCHEMA: &str = "olmguard.audit-change/v1";

/// An extension before and after the change.
struct Sides<'a, 'b, 's> {
    before: &'a Audit<'b>,
    after: &'a Audit<'s>,
    moves: Moves<'b, 's>,
    edit: &'a Edit<'a>,
}

impl<'a, 'b, 's> Sides<'a, 'b, 's> {
    /// Returns the reason of the verdict after the change.
    fn reason(&self) -> String {
        reason(self.edit, &self.after.judgement).unwrap_or_default()
    }

    /// Returns the reason of the verdict before the change.
    fn old_reason(&self) -> String {
        reason(self.edit, &self.before.judgement).unwrap_or_default()
    }

    /// Returns the version at which the edits end before the change.
    fn old_end(&self) -> Option<String> {
        self.before.place.as_ref()?.end().and_then(pin)
    }

    /// Returns the edits before the change.
    fn old_path(&self) -> &'a [Choice<'b>] {
        let next = self.before.place.as_ref().and_then(Place::next);
        next.map_or(&[], |next| &next.path)
    }

    /// Returns the deprecations before and after the change. They are empty if there is no place.
    fn deprecations(&self) -> (Deprecations<'b>, Deprecations<'s>) {
        (deprecations(self.before), deprecations(self.after))
    }

    /// Whether nothing is installed yet.
    fn is_new(&self) -> bool {
        self.after.automatic.is_none()
    }
}

fn deprecations<'s>(audit: &Audit<'s>) -> Deprecations<'s> {
    let place = audit.place.as_ref();
    place.map_or_else(Deprecations::default, |place| place.deprecations.clone())
}

// === The changes as a document: one row per extension that changes, the worst first ===

impl AuditChangeReport {
    /// Renders the report as a comment on a pull request. `faults` are inputs that could not be read.
    pub fn document(&self, faults: Vec<Finding>) -> Document {
        let heads = ["Extension", "Package", "Installed", "Changes"];
        let section = Section {
            caption: "Extensions",
            layout: Layout::List,
            heads: heads.map(Head::from).to_vec(),
            rows: self.changed().map(row).collect(),
            details: ["list of changes", "lists of changes"],
        };
        Document {
            name: "olmguard audit changes",
            command: "olmguard audit",
            result: Content::foreign(self.count_line()),
            faults,
            totals: Vec::new(),
            sections: vec![section],
        }
    }
}

fn row(extension: &ExtensionChangeReport) -> Row {
    let (before, changes) = (&extension.before, &extension.changes);
    let labels: Vec<_> = changes.iter().map(ChangeReport::label).collect();
    let items = changes.iter();
    let items = items.map(|one| (Some(one.label()), one.text.clone()));
    Row {
        tone: match extension.level() {
            Some(Level::Harmful) => Tone::Bad,
            Some(_) => Tone::Caution,
            None => Tone::Good,
        },
        findings: changes.iter().map(|change| change.id).collect(),
        cells: vec![
            Content::foreign(before.name()),
            Content::foreign(before.package()),
            Content::foreign(before.installed()),
            Content::words(labels.join(", ")),
        ],
        details: Details {
            summary: changes.first().map_or("", |change| change.level).to_owned(),
            items: items.collect(),
            facts: Vec::new(),
        },
    }
}
