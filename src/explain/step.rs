//! Whether a bundle succeeds the installed one, and what says so or stands against it.
//!
//! Three readings: what OLM v1 does by the edges of catalogs, what versions alone allow, and what OLM
//! v0 does. Each names the entries it rests on, or what would have to differ.

mod catalogs;
mod classic;
mod text;
mod versions;

use serde::Serialize;

use crate::explain::see::{BundleReport, Inquiry, InstalledReport, NotAnswered};

use catalogs::CatalogReading;
use classic::ClassicReading;
use versions::SemverReading;

/// Why one bundle succeeds another, or why not.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "program", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "program", schemars(deny_unknown_fields))]
pub struct StepReport {
    /// The schema of this object.
    #[cfg_attr(feature = "program", schemars(extend("const" = SCHEMA)))]
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
    /// What OLM v1 does by the edges of the catalogs; null where that is not asked.
    catalog: Option<CatalogReading>,
    /// What versions alone allow; null where that is not asked.
    semver: Option<SemverReading>,
    /// What OLM v0 does, for each catalog that has the package; empty where that is not asked.
    classic: Vec<ClassicReading>,
    /// What is worth knowing besides.
    notes: Vec<String>,
}

/// Which readings are asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Readings {
    /// OLM v1 by the edges of the catalogs.
    Catalog,
    /// OLM v1 by versions alone.
    Semver,
    /// Both of them.
    Both,
    /// OLM v0.
    Classic,
}

impl StepReport {
    /// The step from what is installed to what `to` names.
    ///
    /// # Errors
    /// If `to` names nothing.
    pub fn of(inquiry: &Inquiry<'_>, to: &str, readings: Readings) -> Result<Self, NotAnswered> {
        let targets = inquiry.target(to)?;
        let asks = |reading| readings == reading || readings == Readings::Both;
        let catalog = asks(Readings::Catalog).then(|| CatalogReading::of(inquiry, &targets));
        let semver = asks(Readings::Semver).then(|| SemverReading::of(inquiry, &targets));
        let classic = match readings {
            Readings::Classic => classic::readings(inquiry, &targets),
            _ => Vec::new(),
        };
        Ok(Self {
            schema: SCHEMA,
            package: inquiry.filter.package.clone(),
            channels: inquiry.filter.channels.clone(),
            range: inquiry.filter.range().map(str::to_owned),
            from: InstalledReport::from(&inquiry.installed),
            to: targets.into_iter().map(BundleReport::of).collect(),
            catalog,
            semver,
            classic,
            notes: inquiry.notes(),
        })
    }

    /// Whether every reading allows the step.
    pub fn is_allowed(&self) -> bool {
        let catalog = self.catalog.iter().map(CatalogReading::is_allowed);
        let semver = self.semver.iter().map(SemverReading::is_allowed);
        let classic = match self.classic.as_slice() {
            [] => None,
            some => Some(some.iter().any(ClassicReading::is_allowed)),
        };
        catalog.chain(semver).chain(classic).all(|allowed| allowed)
    }

    /// The bundle that is asked about by its version.
    fn label(&self) -> String {
        self.to.first().map(BundleReport::label).unwrap_or_default()
    }
}

const SCHEMA: &str = "olmguard.explain/v1";
