//! The report of `olmguard audit`: installed extensions, the worst first.
//!
//! The facts are from [`olmguard_engine::audit`]. This module sorts, words and formats them.

mod cluster_report;
mod document;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod words;

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};

pub use cluster_report::ClusterReport;

use crate::see::{BundleReport, InstalledReport};
use olmguard_catalog::version::go;
use olmguard_engine::audit::{Audit, Concern, NextEdit, Onward, Place};
use olmguard_engine::explain::{counted, exemption, one_line, reason};
use olmguard_engine::judge::{Edit, OneEdit, Verdict};
use olmguard_engine::resolve::Choice;

/// What already runs.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "olmguard.audit/v1")]
pub struct AuditReport {
    /// Schema of this object.
    schema: &'static str,
    /// Extensions, the worst first.
    extensions: Vec<ExtensionReport>,
    /// Number of extensions with each finding. A finding that no extension has is omitted.
    summary: BTreeMap<&'static str, usize>,
}

/// What is known about one extension.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct ExtensionReport {
    /// Name of the extension. Null if the object has no name.
    name: Option<String>,
    /// Name of the package. Null if it cannot be read.
    pub(crate) package: Option<String>,
    /// Requested version range. Null for any version.
    range: Option<String>,
    /// Requested channels. Empty for all channels.
    channels: Vec<String>,
    /// The installed bundle. Null if nothing is installed, or it is not known what.
    pub(crate) installed: Option<InstalledReport>,
    /// Verdict on the spec, as if it were set now.
    #[schemars(extend("enum" = Verdict::ALL.map(Verdict::as_str)))]
    verdict: &'static str,
    /// Reason code of the verdict.
    token: &'static str,
    /// The bundle that the spec resolves to now. Null if it does not resolve.
    resolved: Option<BundleReport>,
    /// Bundles that OLM installs automatically, in this order.
    automatic: Vec<BundleReport>,
    /// The newest version that is not deprecated, in any channel; no prerelease if a release is installed. Null if no
    /// version is newer.
    pub(crate) newest: Option<BundleReport>,
    /// Number of newer versions that are not deprecated, in any channel; no prereleases if a release is installed. Null
    /// if it is not known.
    newer: Option<usize>,
    /// The edits to the newest version that can be reached. Null if there are none.
    next: Option<NextReport>,
    /// What is worth knowing, the worst first.
    findings: Vec<FindingReport>,
    #[serde(skip)]
    pub(crate) concerns: Vec<Concern>,
    #[serde(skip)]
    judged: Verdict,
    /// Whether OLM certainly cannot install what the spec resolves to.
    #[serde(skip)]
    cannot_install: bool,
    /// Why there is no verdict, if there is none.
    #[serde(skip)]
    exemption: Option<String>,
    /// `apiVersion` and `kind` of the object.
    #[serde(skip)]
    api: (String, String),
}

/// The edits to the newest version that can be reached.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct NextReport {
    /// What each edit installs, in this order.
    path: Vec<BundleReport>,
    /// The one edit that is enough for all steps. Null if there is none, or only one step.
    one_edit: Option<OneEdit>,
    /// Time in UTC at which a window of the upgrade policies opens. Null if the edit is allowed now.
    opens: Option<String>,
    /// What to set as the version.
    #[serde(skip)]
    range: Option<String>,
}

/// One thing worth knowing.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct FindingReport {
    /// Id of the finding.
    #[schemars(extend("enum" = Concern::ALL.map(Concern::as_str)))]
    id: &'static str,
    /// The finding in a sentence.
    text: String,
}

impl AuditReport {
    /// Creates a report about these extensions, in any order.
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

    /// Counts the extensions with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        let verdicts = self.extensions.iter().map(ExtensionReport::verdict);
        verdicts.filter(|found| *found == verdict).count()
    }

    /// Whether a fact about any extension is missing.
    pub fn is_undecided(&self) -> bool {
        self.extensions.iter().any(ExtensionReport::is_undecided)
    }

    /// Whether there is no extension.
    pub fn is_empty(&self) -> bool {
        self.extensions.is_empty()
    }

    /// Returns the extensions, the worst first.
    pub fn extensions(&self) -> &[ExtensionReport] {
        &self.extensions
    }

    /// Summarizes the number of extensions and their findings.
    pub fn count_line(&self) -> String {
        let good = self.extensions.iter();
        let good = good.filter(|extension| extension.lines().next().is_none());
        let found = Concern::ALL.iter().filter_map(|concern| {
            let count = self.summary.get(concern.as_str())?;
            Some(format!("{count} {}", words::counted(*concern, *count)?))
        });
        let others = [
            (good.count(), "without findings"),
            (self.count(Verdict::NotJudged), "not judged"),
        ];
        let others = others.into_iter().filter(|(count, _)| *count > 0);
        let parts = found.chain(others.map(|(count, words)| format!("{count} {words}")));
        let parts: Vec<_> = parts.collect();
        let all = counted(self.extensions.len(), "extension");
        match parts.as_slice() {
            [] if self.extensions.is_empty() => all,
            [] => format!("{all}, all with findings"),
            parts => format!("{all}: {}", parts.join(", ")),
        }
    }
}

impl ExtensionReport {
    /// Reports the audit of the extension of an edit.
    pub fn of(edit: &Edit<'_>, audit: &Audit<'_>) -> Self {
        let filter = edit.new.filter.as_ref().ok();
        let judgement = &audit.judgement;
        let concerns = audit.concerns();
        let reason = reason(edit, judgement).unwrap_or_default();
        let place = audit.place.as_ref();
        let newest = place.and_then(|place| place.newest);
        let resolved = judgement.ruled.resolved();
        let identity = &edit.new.identity;
        Self {
            name: identity.name.clone(),
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
            judged: judgement.verdict(),
            cannot_install: audit
                .not_installable()
                .is_some_and(|refusal| refusal.faults.is_certain),
            exemption: exemption(judgement).map(|why| one_line(&why)),
            api: (identity.api_version(), identity.kind.clone()),
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

    /// Returns the name as written in the object, or a placeholder.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("(no name)")
    }

    /// Returns the package as written in the object, or a placeholder.
    pub fn package(&self) -> &str {
        self.package.as_deref().unwrap_or(NO_PACKAGE)
    }

    /// Formats the name, the package and the installed version, on one line.
    pub(crate) fn head(&self) -> String {
        let name = go::escape(self.name());
        let package = self.package.as_deref();
        let package = package.map(|package| format!("({})", go::escape(package)));
        let package = package.unwrap_or_else(|| NO_PACKAGE.to_owned());
        format!("{name} {package}: {}", self.installed())
    }

    /// Formats the installed version.
    pub fn installed(&self) -> String {
        let installed = self.installed.as_ref().map(InstalledReport::label);
        installed.unwrap_or_else(|| "no installed bundle is known".to_owned())
    }

    /// Returns the verdict on the spec, as if it were set now.
    pub fn verdict(&self) -> Verdict {
        self.judged
    }

    /// Returns the reason code of the verdict.
    pub fn token(&self) -> &'static str {
        self.token
    }

    /// Returns the findings, the worst first.
    pub fn findings(&self) -> &[FindingReport] {
        &self.findings
    }

    /// Returns why there is no verdict, if there is none.
    pub fn exemption(&self) -> Option<&str> {
        self.exemption.as_deref()
    }

    /// Whether a fact is missing, about the verdict or about the installed bundle.
    pub fn is_undecided(&self) -> bool {
        self.concerns.contains(&Concern::Undecided)
    }

    /// Returns a line for each finding, and one about a missing verdict.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let exemption = self.exemption.iter();
        let exemption = exemption.map(|why| format!("not judged: {why}"));
        let findings = self.findings.iter();
        findings.map(ToString::to_string).chain(exemption)
    }

    /// Returns the version to set for the next upgrade: the one range that is enough, or the first version of the path.
    pub fn next_range(&self) -> Option<&str> {
        self.next.as_ref()?.range.as_deref()
    }

    /// Returns the sort key: the worst first, extensions without findings last.
    fn rank(&self) -> (bool, &[Concern], Option<&str>) {
        let is_good = self.concerns.is_empty();
        (is_good, &self.concerns, self.name.as_deref())
    }
}

impl NextReport {
    fn of(place: &Place<'_>) -> Option<Self> {
        let (next, opens) = match &place.onward {
            Onward::Now(next) => (next, None),
            Onward::Later(next, opening) => (next, Some(opening.at.to_string())),
            Onward::Newest
            | Onward::Forbidden(_)
            | Onward::NotInstallable(_)
            | Onward::OtherChannels(_)
            | Onward::Tied
            | Onward::Stranded
            | Onward::NotFound => return None,
        };
        let NextEdit { path, one_edit } = next;
        Some(Self {
            path: bundles(path),
            one_edit: one_edit.clone(),
            opens,
            range: next.range(),
        })
    }
}

fn bundles(choices: &[Choice<'_>]) -> Vec<BundleReport> {
    choices.iter().copied().map(BundleReport::of).collect()
}

impl fmt::Display for AuditReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.count_line())?;
        for extension in &self.extensions {
            writeln!(f, "{extension}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ExtensionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.head())?;
        for line in self.lines() {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}

impl FindingReport {
    /// Returns the finding in a word or two.
    pub fn label(&self) -> String {
        label(self.id)
    }
}

/// Formats the id of a finding for users.
pub(crate) fn label(id: &str) -> String {
    id.replace('_', " ")
}

/// Formats the label and the sentence, on one line.
impl fmt::Display for FindingReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.label(), self.text)
    }
}

/// Placeholder for a missing package.
const NO_PACKAGE: &str = "(no package)";

const SCHEMA: &str = "olmguard.audit/v1";

impl AuditReport {
    /// Returns the versions of each extension that has a name and is installed.
    pub fn releases(&self) -> BTreeMap<&str, Value> {
        let extensions = self.extensions.iter();
        extensions
            .filter_map(|extension| Some((extension.name.as_deref()?, extension.releases()?)))
            .collect()
    }
}

impl ExtensionReport {
    fn releases(&self) -> Option<Value> {
        let installed = self.installed.as_ref()?.version.clone();
        // With the override, OLM would not follow the edges of the path.
        let is_overridden = self.concerns.contains(&Concern::Bypass);
        let next = self.next.as_ref();
        let next = next.filter(|next| next.opens.is_none() && !is_overridden);
        let next = next.and_then(|next| next.path.first()?.version.clone());
        let versions = [installed].into_iter().chain(next);
        let releases = versions.map(|version| json!({"version": version}));
        Some(json!({"releases": releases.collect::<Vec<_>>()}))
    }
}
