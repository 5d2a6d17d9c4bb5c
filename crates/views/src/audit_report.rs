//! What already runs, extension by extension, the worst first.
//!
//! The facts are from [`olmguard_engine::audit`]; this gives them an order, words and a form.

#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::see::{BundleReport, InstalledReport};
use olmguard_catalog::version::go;
use olmguard_engine::audit::{Audit, Concern, NextEdit, Onward, Place};
use olmguard_engine::explain::{OneEditReport, one_line, reason};
use olmguard_engine::judge::{Edit, Verdict};
use olmguard_engine::resolve::Choice;

/// What already runs.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "olmguard.audit/v1", deny_unknown_fields)]
pub struct AuditReport {
    /// Schema of this object.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// Extensions, the worst first.
    extensions: Vec<ExtensionReport>,
    /// Number of extensions with each finding. A finding that no extension has is omitted.
    summary: BTreeMap<&'static str, usize>,
}

/// What is known about one extension.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ExtensionReport {
    /// Name of the extension. Null if the object has no name.
    name: Option<String>,
    /// Name of the package. Null if it cannot be read.
    package: Option<String>,
    /// Requested version range. Null for any version.
    range: Option<String>,
    /// Requested channels. Empty for all channels.
    channels: Vec<String>,
    /// The installed bundle. Null if nothing is installed, or it is not known what.
    installed: Option<InstalledReport>,
    /// Verdict on the spec, as if it were set now.
    #[schemars(extend("enum" = VERDICTS))]
    verdict: &'static str,
    /// Reason code of the verdict.
    token: &'static str,
    /// The bundle that the spec resolves to now. Null if it does not resolve.
    resolved: Option<BundleReport>,
    /// Bundles that OLM installs automatically, in this order.
    automatic: Vec<BundleReport>,
    /// The newest version that is not deprecated, in any channel; no prerelease if a release is installed. Null if no
    /// version is newer.
    newest: Option<BundleReport>,
    /// Number of newer versions that are not deprecated, in any channel; no prereleases if a release is installed. Null
    /// if it is not known.
    newer: Option<usize>,
    /// The edits to the newest version that can be reached. Null if there are none.
    next: Option<NextReport>,
    /// What is worth knowing, the worst first.
    findings: Vec<FindingReport>,
    #[serde(skip)]
    concerns: Vec<Concern>,
}

/// The edits to the newest version that can be reached.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct NextReport {
    /// What each edit installs, in this order.
    path: Vec<BundleReport>,
    /// The one edit that is enough for all steps. Null if there is none, or only one step.
    one_edit: Option<OneEditReport>,
    /// Time in UTC at which a window of the upgrade policies opens. Null if the edit is allowed now.
    opens: Option<String>,
}

/// One thing worth knowing.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct FindingReport {
    /// Id of the finding.
    #[schemars(extend("enum" = ids()))]
    id: &'static str,
    /// The finding in a sentence.
    text: String,
}

impl AuditReport {
    /// A report about these extensions, in any order.
    pub fn of(extensions: impl IntoIterator<Item = ExtensionReport>) -> Self {
        let mut extensions: Vec<_> = extensions.into_iter().collect();
        extensions.sort_by(|one, other| one.rank().cmp(&other.rank()));
        let mut summary = BTreeMap::new();
        let found = extensions.iter().flat_map(|extension| &extension.concerns);
        for concern in found {
            *summary.entry(concern.as_str()).or_default() += 1;
        }
        Self {
            schema: SCHEMA,
            extensions,
            summary,
        }
    }

    /// How many extensions have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        let verdicts = self.extensions.iter().map(|extension| extension.verdict);
        verdicts.filter(|found| *found == verdict.as_str()).count()
    }
}

impl ExtensionReport {
    /// What an audit of the extension of an edit found.
    pub fn of(edit: &Edit<'_>, audit: &Audit<'_>) -> Self {
        let filter = edit.new.filter.as_ref().ok();
        let judgement = &audit.judgement;
        let concerns = audit.concerns();
        let reason = reason(edit, judgement).unwrap_or_default();
        let place = audit.place.as_ref();
        let newest = place.and_then(|place| place.newest);
        let resolved = judgement.ruled.resolved();
        Self {
            name: edit.new.identity.name.clone(),
            package: filter.map(|filter| filter.package.clone()),
            range: filter.and_then(|filter| filter.range().map(str::to_owned)),
            channels: filter.map_or_else(Vec::new, |filter| filter.channels.clone()),
            installed: edit.installed.bundle().map(InstalledReport::from),
            verdict: judgement.verdict().as_str(),
            token: judgement.token().as_str(),
            resolved: resolved.map(BundleReport::of),
            automatic: audit
                .automatic
                .as_ref()
                .map(|walk| bundles(&walk.steps))
                .unwrap_or_default(),
            newest: newest.map(BundleReport::of),
            newer: place.map(|place| place.newer),
            next: place.and_then(NextReport::of),
            findings: concerns
                .iter()
                .map(|concern| FindingReport {
                    id: concern.as_str(),
                    text: one_line(&words::sentence(*concern, audit, &reason)),
                })
                .collect(),
            concerns,
        }
    }

    /// The worst first, what has no finding last.
    fn rank(&self) -> (bool, &[Concern], Option<&str>) {
        let is_good = self.concerns.is_empty();
        (is_good, &self.concerns, self.name.as_deref())
    }
}

impl NextReport {
    fn of(place: &Place<'_>) -> Option<Self> {
        let (NextEdit { path, one_edit }, opens) = match &place.onward {
            Onward::Now(next) => (next, None),
            Onward::Later(next, opening) => (next, Some(opening.at.to_string())),
            Onward::Newest
            | Onward::Forbidden(_)
            | Onward::OtherChannels(_)
            | Onward::Tied
            | Onward::Stranded
            | Onward::NotFound => return None,
        };
        Some(Self {
            path: bundles(path),
            one_edit: one_edit.as_ref().map(OneEditReport::from),
            opens,
        })
    }
}

fn bundles(choices: &[Choice<'_>]) -> Vec<BundleReport> {
    choices.iter().copied().map(BundleReport::of).collect()
}

impl fmt::Display for AuditReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for extension in &self.extensions {
            writeln!(f, "{extension}")?;
        }
        let count = self.extensions.len();
        let good = self
            .extensions
            .iter()
            .filter(|extension| extension.findings.is_empty());
        let noun = if count == 1 {
            "extension"
        } else {
            "extensions"
        };
        writeln!(f, "{count} {noun}: {} without findings", good.count())
    }
}

impl fmt::Display for ExtensionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_deref().unwrap_or("(no name)");
        let package = self.package.as_deref().unwrap_or("(no package)");
        let installed = self.installed.as_ref().map(InstalledReport::label);
        let installed = installed.unwrap_or_else(|| "no installed bundle is known".to_owned());
        let head = format!(
            "{} ({}): {installed}",
            go::escape(name),
            go::escape(package)
        );
        write!(f, "{head}")?;
        for finding in &self.findings {
            write!(f, "\n  {}: {}", finding.id, finding.text)?;
        }
        Ok(())
    }
}

/// Every id of a finding.
fn ids() -> Vec<&'static str> {
    Concern::ALL
        .iter()
        .map(|concern| concern.as_str())
        .collect()
}

const VERDICTS: [&str; 4] = ["allow", "deny", "undecided", "not_judged"];

const SCHEMA: &str = "olmguard.audit/v1";
