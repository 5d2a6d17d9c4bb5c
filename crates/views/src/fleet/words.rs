//! Text form of a fleet report.

use std::collections::BTreeSet;
use std::fmt;

use crate::audit_report;
use crate::fleet::{Counts, FleetReport, PackageLine, VersionLine};
use olmguard_catalog::version::go;
use olmguard_engine::explain::text::{counted, names};

/// Maximum number of cluster names per line. The rest is counted.
const SHOWN: usize = 5;

impl FleetReport {
    /// Summarizes the number of clusters and extensions, and the states of the extensions.
    pub fn count_line(&self) -> String {
        let clusters = counted(self.clusters.len(), "cluster");
        let unread = match self.unread_names().len() {
            0 => String::new(),
            count => format!(", {} unreadable", counted(count, "input")),
        };
        format!("{clusters}{unread}: {}", state(&self.counts))
    }

    /// Returns the names of the inputs that could not be read, or not all of them.
    fn unread_names(&self) -> BTreeSet<&str> {
        self.unread.iter().map(|one| &*one.name).collect()
    }
}

impl fmt::Display for FleetReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.count_line())?;
        for cluster in &self.clusters {
            let name = go::escape(&cluster.name);
            writeln!(f, "cluster {name}: {}", state(&cluster.counts))?;
        }
        let known: BTreeSet<_> = self.clusters.iter().map(|one| &*one.name).collect();
        for name in self.unread_names().difference(&known) {
            writeln!(f, "cluster {}: extensions unknown", go::escape(name))?;
        }
        for package in &self.packages {
            writeln!(f, "{}", head(package))?;
            for version in &package.versions {
                writeln!(f, "  {}", line(version))?;
            }
        }
        Ok(())
    }
}

/// Formats a package in one line.
pub(super) fn head(package: &PackageLine) -> String {
    let name = package.name.as_deref().unwrap_or("(no name)");
    let newest = package
        .newest
        .as_deref()
        .map_or_else(String::new, |newest| {
            format!("; the newest version is {}", go::escape(newest))
        });
    format!(
        "package {}: {}{newest}",
        go::escape(name),
        state(&package.counts)
    )
}

fn line(version: &VersionLine) -> String {
    let clusters = names(&version.clusters, SHOWN);
    format!(
        "{}: {} in {clusters}",
        label(version),
        state(&version.counts)
    )
}

/// Formats the version of a line.
pub(super) fn label(version: &VersionLine) -> String {
    let version = version.version.as_deref();
    version.map_or_else(|| "no installed version is known".to_owned(), go::escape)
}

/// Returns the ids of the states of extensions, with their counts.
pub(super) fn states(counts: &Counts) -> [(&'static str, usize); 3] {
    [
        ("denied", counts.denied),
        ("undecided", counts.undecided),
        (BEHIND, counts.behind),
    ]
}

/// Id of extensions that are not at the newest version.
pub(super) const BEHIND: &str = "not_at_the_newest_version";

/// Formats the number of extensions, and how many are in each state.
pub(super) fn state(counts: &Counts) -> String {
    let found = states(counts).into_iter().filter(|(_, count)| *count > 0);
    let found = found.map(|(id, count)| format!(", {count} {}", audit_report::label(id)));
    let extensions = counted(counts.extensions, "extension");
    format!("{extensions}{}", found.collect::<String>())
}
