//! What an edit of a `ClusterCatalog` does to the extensions that already run, as the warnings of an API server.
//!
//! Of any number of extensions only the counts and the worst few are kept, so the memory does not grow with them.

#[cfg(test)]
mod tests;
mod words;

use crate::audit_change::ExtensionChangeReport;
use crate::diff::Level;
use olmguard_engine::audit::{Audit, denied_step};
use olmguard_engine::explain::warning::MOST;
use olmguard_engine::judge::{Basis, Edit};

/// What an edit of a catalog does.
#[derive(Clone, Debug)]
pub struct CatalogEditReport {
    catalog: String,
    /// The worst changes, the worst first.
    worst: Vec<ExtensionChangeReport>,
    harmful: usize,
    notice: usize,
    good: usize,
    same: usize,
    /// The first steps that upgrade policies deny, each in a sentence, and how many there are.
    denied: Vec<String>,
    denials: usize,
}

/// Why upgrade policies deny an edit of a catalog.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CatalogRefusal {
    /// All of it, in lines.
    pub message: String,
    /// Each step, in a sentence. Of very many the first ones.
    pub causes: Vec<String>,
}

/// What is not known of an edit of a catalog, or how it was checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum EditNote {
    /// The edit cannot be read, for this reason.
    Unreadable(String),
    /// The installed extensions, or some of them, cannot be listed, for this reason.
    NotListed(String),
    /// There was no time to check anything.
    NotInTime,
    /// There was time for so many of the extensions only.
    Unfinished {
        /// How many were checked.
        checked: usize,
        /// How many there are.
        of: usize,
    },
    /// The content that this catalog has after the edit is not loaded.
    UnknownContent(String),
    /// The same, and the rest of the edit was checked with the content that it has now.
    PresentContent(String),
    /// The content of the new image of the first catalog is the content of the second.
    LoadedAs(String, String),
}

impl CatalogEditReport {
    /// An edit of this catalog, before any extension is checked.
    pub fn of(catalog: &str) -> Self {
        Self {
            catalog: catalog.to_owned(),
            worst: Vec::new(),
            harmful: 0,
            notice: 0,
            good: 0,
            same: 0,
            denied: Vec::new(),
            denials: 0,
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
            self.denied
                .extend(kept.then(|| words::denied(&change, &finding)));
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

    /// How many extensions were checked.
    pub fn checked(&self) -> usize {
        self.changed() + self.same
    }

    fn changed(&self) -> usize {
        self.harmful + self.notice + self.good
    }

    /// Why upgrade policies deny the edit, if they do.
    pub fn refusal(&self) -> Option<CatalogRefusal> {
        let causes = self.denied.clone();
        let message = words::refusal(&self.catalog, &causes, self.denials)?;
        Some(CatalogRefusal { message, causes })
    }

    /// The warnings: the notes, the counts, and the worst changes as far as there is room. Without notes and changes
    /// there are none.
    pub fn warnings(&self, notes: &[EditNote]) -> Vec<String> {
        let notes = notes.iter().map(words::note);
        let counts = (self.changed() > 0).then(|| words::counts(self));
        let worst = self.worst.iter().filter_map(words::change);
        notes.chain(counts).chain(worst).take(MOST).collect()
    }
}

impl EditNote {
    /// The warning where this is all that can be said of an edit.
    pub fn warning(&self) -> String {
        words::note(self)
    }
}
