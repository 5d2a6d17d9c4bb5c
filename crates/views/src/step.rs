//! Whether a bundle succeeds the installed one, and what says so or stands against it.
//!
//! Three readings: what OLM v1 does, what versions alone allow where they count, and what OLM v0 does. Each names the entries it rests on, or what would have to differ.

mod catalogs;
mod classic;
mod text;

use catalogs::CatalogReading;
use classic::ClassicReading;
use serde::Serialize;

use crate::generation::Generation;
use crate::see;
use crate::see::{BundleReport, InstalledReport};
use olmguard_catalog::olm::EdgeSource;
use olmguard_engine::explain::hindrance;
use olmguard_engine::explain::warning::goes_on;
use olmguard_engine::inquiry::{Inquiry, NotAnswered};
use olmguard_engine::resolve::Choice;
use olmguard_engine::resolve::semver::Hindrance;

/// Why you can upgrade from one bundle to another, or why not.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "olmguard.explain/v1")]
pub struct StepReport {
    /// Schema of this object.
    schema: &'static str,
    /// Name of the package.
    package: String,
    /// Requested channels. Empty for all channels.
    channels: Vec<String>,
    /// Requested version range.
    range: Option<String>,
    /// The installed bundle.
    from: InstalledReport,
    /// Requested bundles: all bundles of this name or version, grouped by catalog.
    to: Vec<BundleReport>,
    /// What OLM v1 does. Null if OLM v0 is requested.
    olm: Option<CatalogReading>,
    /// What the semver rules allow. Null if they do not apply.
    semver: Option<SemverReading>,
    /// What OLM v0 does, for each catalog that has the package. Empty if OLM v0 is not requested.
    classic: Vec<ClassicReading>,
    /// Additional notes.
    notes: Vec<String>,
    /// Whether several catalogs have the package.
    #[serde(skip)]
    is_of_several: bool,
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
        notes.extend(looked_at.map(|looked_at| goes_on("guardrails", looked_at)));
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
            is_of_several: inquiry.offers.len() > 1,
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

    /// Whether it is undecided if the catalog allows the step.
    pub fn is_undecided(&self) -> bool {
        let is_nameless = self.classic.iter().any(|reading| reading.is_nameless);
        let is_open = is_nameless && !self.is_allowed();
        is_open || self.olm.as_ref().is_some_and(|olm| olm.is_undecided)
    }

    /// The bundle that is asked about by its version.
    fn label(&self) -> String {
        self.to.first().map(BundleReport::label).unwrap_or_default()
    }
}

const SCHEMA: &str = "olmguard.explain/v1";

/// What the semver rules allow, without the catalog.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
struct SemverReading {
    /// Whether the semver rules allow the step.
    allowed: bool,
    /// Why the semver rules do not allow the step, in one sentence.
    reason: Option<String>,
}

impl SemverReading {
    fn of<'a>(inquiry: &Inquiry<'a>, targets: &[Choice<'a>]) -> Self {
        let step = inquiry.by_versions(targets);
        Self {
            allowed: matches!(step, Some(Ok(()) | Err(Hindrance::Same))),
            reason: match step {
                Some(Ok(())) => None,
                Some(Err(what)) => Some(hindrance(what).to_owned()),
                None => Some(text::UNREADABLE.to_owned()),
            },
        }
    }

    fn is_allowed(&self) -> bool {
        self.allowed
    }
}

#[cfg(test)]
mod tests;
