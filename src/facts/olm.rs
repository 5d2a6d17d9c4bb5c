//! Selects the OLM that answers are for: the requested one, otherwise the one of the snapshot or the cluster,
//! otherwise the newest release.

use std::path::{Path, PathBuf};

use crate::cluster::olm::{FindError, RunningOlm, compare};
use crate::source::archive::{OlmFacts, UnknownOlm};
use olmguard_catalog::olm::{GateError, Gates, OlmRelease, Rules};

/// The requested OLM.
#[derive(Clone, Debug, Default)]
pub(crate) struct OlmRequest {
    /// The release; `None` for the one of the snapshot or the cluster.
    pub(crate) release: Option<OlmRelease>,
    /// Feature gates, each as `GATE=BOOL`.
    pub(crate) gates: Vec<String>,
}

/// The reason why a request cannot be met.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum OlmError {
    #[error("--olm-feature-gates: {0}")]
    Gate(#[from] GateError),
    #[error("{}: {source}; give --olm-release, or use a newer olmguard", .file.display())]
    Snapshot { file: PathBuf, source: UnknownOlm },
}

/// The rules of an OLM, with warnings about them.
pub(crate) type RulesAndWarnings = (Rules, Vec<String>);

impl OlmRequest {
    /// Returns the rules of the requested release, or of the newest.
    pub(crate) fn rules(&self) -> Result<Rules, OlmError> {
        let release = self.release.unwrap_or_default();
        let gates = self.gates(release)?.unwrap_or_default();
        Ok(Rules::new(release, gates))
    }

    /// Checks that some release has the requested gates, while the release is not known.
    pub(crate) fn check(&self) -> Result<(), OlmError> {
        let known = |release| self.gates(release).is_ok();
        match self.release {
            None if OlmRelease::all().any(known) => Ok(()),
            None | Some(_) => self.rules().map(drop),
        }
    }

    /// Returns the requested gates, if there are any.
    pub(crate) fn gates(&self, release: OlmRelease) -> Result<Option<Gates>, OlmError> {
        let settings = self.gates.iter().map(String::as_str);
        let settings: Vec<_> = settings.filter(|setting| !setting.is_empty()).collect();
        if settings.is_empty() {
            return Ok(None);
        }
        Ok(Some(Gates::parse(settings, release)?))
    }

    /// Returns the rules for a cluster: the request takes precedence, then the OLM in the cluster, then the newest
    /// release.
    pub(super) fn in_cluster(
        &self,
        olm: &Result<RunningOlm, FindError>,
    ) -> Result<RulesAndWarnings, OlmError> {
        let found = match olm {
            Ok(found) => found,
            Err(error) => return self.without_running(error),
        };
        let gates = self.gates(self.release.unwrap_or(found.release))?;
        let differences = compare(found, self.release, gates);
        let warnings = found.warnings.iter().chain(&differences);
        let warnings = warnings.map(ToString::to_string).collect();
        Ok((found.rules_unless(self.release, gates), warnings))
    }

    fn without_running(&self, error: &FindError) -> Result<RulesAndWarnings, OlmError> {
        let rules = self.rules()?;
        if self.release.is_some() {
            return Ok((rules, Vec::new()));
        }
        let taken = rules.olm;
        let warning = format!("{error}; checked as OLM {taken}, the newest known release");
        Ok((rules, vec![warning]))
    }

    /// Returns the rules for the snapshot in this file. Gates belong to a release, so the gates of the snapshot count
    /// only with its own release.
    pub(super) fn in_snapshot(
        &self,
        file: &Path,
        saved: Option<&OlmFacts>,
    ) -> Result<RulesAndWarnings, OlmError> {
        match (saved, self.release) {
            (None, None) => {
                let rules = self.rules()?;
                let taken = rules.olm;
                let warning = format!(
                    "the snapshot does not name the OLM release: checked as {taken}, the newest release"
                );
                Ok((rules, vec![warning]))
            }
            (None, Some(_)) => Ok((self.rules()?, Vec::new())),
            (Some(saved), Some(given)) if given.name() != saved.release => {
                let saved = &saved.release;
                let warning = format!(
                    "the snapshot is from OLM {saved}, but olmguard uses --olm-release {given}"
                );
                Ok((self.rules()?, vec![warning]))
            }
            (Some(saved), _) => self.with_gates_of(file, saved),
        }
    }

    fn with_gates_of(&self, file: &Path, saved: &OlmFacts) -> Result<RulesAndWarnings, OlmError> {
        let (release, gates) = saved.read().map_err(|source| OlmError::Snapshot {
            file: file.to_owned(),
            source,
        })?;
        let given = self.gates(release)?;
        let differs = given.is_some_and(|given| !given.resolve_as(gates));
        let warning = differs.then(|| {
            let saved = in_words(gates);
            format!("the snapshot is from OLM with {saved}, but olmguard uses --olm-feature-gates")
        });
        let rules = Rules::new(release, given.unwrap_or(gates));
        Ok((rules, Vec::from_iter(warning)))
    }
}

fn in_words(gates: Gates) -> String {
    let on: Vec<_> = gates.on().collect();
    if on.is_empty() {
        return "no feature gates".to_owned();
    }
    on.join(", ")
}
