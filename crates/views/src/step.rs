//! Whether a bundle succeeds the installed one, and what says so or stands against it.
//!
//! Three readings: what OLM v1 does, what versions alone allow where they count, and what OLM v0 does. Each names the entries it rests on, or what would have to differ.

mod catalogs;
mod classic;
mod text;
mod versions;

use serde::Serialize;

use crate::generation::Generation;
use crate::see::{self, BundleReport, InstalledReport};
use olmguard_catalog::olm::EdgeSource;
use olmguard_engine::explain::warning::goes_on;
use olmguard_engine::inquiry::{Inquiry, NotAnswered};

use catalogs::CatalogReading;
use classic::ClassicReading;
use versions::SemverReading;

/// Why one bundle succeeds another, or why not.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "olmguard.explain/v1", deny_unknown_fields)]
pub struct StepReport {
    /// The schema of this object.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// The package.
    package: String,
    /// The channels asked for; none for all.
    channels: Vec<String>,
    /// The version range asked for.
    range: Option<String>,
    /// What is installed.
    from: InstalledReport,
    /// What is asked about: the bundles of that name or version, those of one catalog together.
    to: Vec<BundleReport>,
    /// What OLM v1 does; null where OLM v0 is asked about.
    olm: Option<CatalogReading>,
    /// What versions alone allow; null where they do not count.
    semver: Option<SemverReading>,
    /// What OLM v0 does, for each catalog that has the package; empty where that is not asked.
    classic: Vec<ClassicReading>,
    /// What is worth knowing besides.
    notes: Vec<String>,
}

impl StepReport {
    /// The step from what is installed to what `to` names.
    ///
    /// # Errors
    /// If `to` names nothing.
    pub fn of<'a>(
        inquiry: &Inquiry<'a>,
        to: &str,
        olm: Generation,
    ) -> Result<Self, NotAnswered<'a>> {
        let targets = inquiry.target(to)?;
        let is_v1 = olm == Generation::V1;
        let goes_by_versions = inquiry.basis.snapshot.rules().edges != EdgeSource::Catalog;
        let catalog = is_v1.then(|| CatalogReading::of(inquiry, &targets));
        let semver = (is_v1 && goes_by_versions).then(|| SemverReading::of(inquiry, &targets));
        let classic = match olm {
            Generation::V0 => classic::readings(inquiry, &targets),
            Generation::V1 => Vec::new(),
        };
        let looked_at = catalog.as_ref().and_then(|catalog| catalog.looked_at);
        let mut notes = see::notes(inquiry);
        notes.extend(looked_at.map(goes_on));
        Ok(Self {
            schema: SCHEMA,
            package: inquiry.filter.package.clone(),
            channels: inquiry.filter.channels.clone(),
            range: inquiry.filter.range().map(str::to_owned),
            from: InstalledReport::from(&inquiry.installed),
            to: targets.into_iter().map(BundleReport::of).collect(),
            olm: catalog,
            semver,
            classic,
            notes,
        })
    }

    /// Whether every reading allows the step.
    pub fn is_allowed(&self) -> bool {
        let catalog = self.olm.iter().map(CatalogReading::is_allowed);
        let classic = match self.classic.as_slice() {
            [] => None,
            some => Some(some.iter().any(ClassicReading::is_allowed)),
        };
        catalog.chain(classic).all(|allowed| allowed)
    }

    /// The bundle that is asked about by its version.
    fn label(&self) -> String {
        self.to.first().map(BundleReport::label).unwrap_or_default()
    }
}

const SCHEMA: &str = "olmguard.explain/v1";

#[cfg(test)]
mod tests;
