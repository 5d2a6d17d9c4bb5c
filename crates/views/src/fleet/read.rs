//! The facts of one cluster that a fleet needs, from an audit or from its JSON.

use serde::Deserialize;

use crate::audit_report::{AuditReport, ExtensionReport};
use crate::fleet::Counts;
use crate::see::InstalledReport;
use olmguard_catalog::version::go;
use olmguard_engine::audit::Concern;
use olmguard_engine::judge::Verdict;

/// The extensions of one cluster.
#[derive(Clone, Debug, Default)]
pub struct ClusterAudit {
    pub(super) extensions: Vec<FleetExtension>,
}

/// The facts of one extension that a fleet needs.
#[derive(Clone, Debug)]
pub(super) struct FleetExtension {
    pub(super) package: Option<String>,
    /// Version with its release.
    pub(super) installed: Option<String>,
    pub(super) newest: Option<String>,
    pub(super) verdict: Verdict,
    pub(super) findings: Vec<Concern>,
}

/// The reason why the JSON of an audit cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The input is not JSON, or a field is missing or has another type.
    #[error("{0}; expected the output of \"olmguard audit -o json\"")]
    Json(#[from] serde_json::Error),
    /// The input has another schema.
    #[error("schema {}: expected \"olmguard.audit/v1\"; run olmguard audit again", found(.0.as_deref()))]
    Schema(Option<String>),
    /// The input contains a word that this version of olmguard does not know.
    #[error("unknown {field} {}: use a newer olmguard, or run olmguard audit again with this one", go::quote(.word))]
    Word {
        /// Kind of the word.
        field: &'static str,
        /// The word itself.
        word: String,
    },
}

#[derive(Deserialize)]
struct Schema {
    schema: Option<String>,
}

#[derive(Deserialize)]
struct Written {
    extensions: Vec<WrittenExtension>,
}

#[derive(Deserialize)]
struct WrittenExtension {
    package: Option<String>,
    installed: Option<InstalledReport>,
    verdict: String,
    newest: Option<WrittenBundle>,
    findings: Vec<WrittenFinding>,
}

#[derive(Deserialize)]
struct WrittenBundle {
    bundle: String,
    version: Option<String>,
    release: Option<String>,
}

#[derive(Deserialize)]
struct WrittenFinding {
    id: String,
}

impl ClusterAudit {
    /// Reads the JSON of an audit.
    ///
    /// # Errors
    /// If the input has another schema, or cannot be read.
    pub fn read(json: &[u8]) -> Result<Self, ReadError> {
        let Schema { schema } = serde_json::from_slice(json)?;
        if schema.as_deref() != Some("olmguard.audit/v1") {
            return Err(ReadError::Schema(schema));
        }
        let written: Written = serde_json::from_slice(json)?;
        let extensions = written.extensions.into_iter();
        Ok(Self {
            extensions: extensions
                .map(FleetExtension::read)
                .collect::<Result<_, _>>()?,
        })
    }
}

impl From<&AuditReport> for ClusterAudit {
    fn from(audit: &AuditReport) -> Self {
        let extensions = audit.extensions().iter();
        Self {
            extensions: extensions.map(FleetExtension::from).collect(),
        }
    }
}

impl From<&ExtensionReport> for FleetExtension {
    fn from(extension: &ExtensionReport) -> Self {
        let (bundle, newest) = (extension.installed.clone(), extension.newest.clone());
        Self {
            package: extension.package.clone(),
            installed: bundle.map(installed),
            newest: newest.map(|it| label(it.version, it.release, it.bundle)),
            verdict: extension.verdict(),
            findings: extension.concerns.clone(),
        }
    }
}

impl FleetExtension {
    fn read(written: WrittenExtension) -> Result<Self, ReadError> {
        let ids = written.findings.into_iter().map(|finding| finding.id);
        let findings = ids.map(|id| known("finding", id, &Concern::ALL, Concern::as_str));
        let (bundle, newest) = (written.installed, written.newest);
        Ok(Self {
            package: written.package,
            installed: bundle.map(installed),
            newest: newest.map(|it| label(it.version, it.release, it.bundle)),
            verdict: known("verdict", written.verdict, &Verdict::ALL, Verdict::as_str)?,
            findings: findings.collect::<Result<_, _>>()?,
        })
    }

    /// Returns the counts of this extension alone.
    pub(super) fn counts(&self) -> Counts {
        Counts {
            denied: usize::from(self.verdict == Verdict::Deny),
            undecided: usize::from(self.findings.contains(&Concern::Undecided)),
            behind: usize::from(self.newest.is_some()),
            extensions: 1,
        }
    }
}

/// Formats the version with its release, or the name if there is no version.
fn installed(found: InstalledReport) -> String {
    let version = Some(found.version).filter(|text| !text.is_empty());
    label(version, found.release, found.bundle.unwrap_or_default())
}

fn label(version: Option<String>, release: Option<String>, name: String) -> String {
    match (version, release.filter(|release| !release.is_empty())) {
        (Some(version), Some(release)) => format!("{version}+{release}"),
        (Some(version), None) => version,
        (None, _) => name,
    }
}

fn known<T: Copy>(
    field: &'static str,
    word: String,
    all: &[T],
    as_str: impl Fn(T) -> &'static str,
) -> Result<T, ReadError> {
    let found = all.iter().copied().find(|one| as_str(*one) == word);
    found.ok_or(ReadError::Word { field, word })
}

fn found(schema: Option<&str>) -> String {
    schema.map_or_else(|| "is missing".to_owned(), go::quote)
}
