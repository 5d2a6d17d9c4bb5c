//! `--snapshot FILE`: catalogs, policies and OLM as they were in a cluster.
//!
//! For a file that cannot be read a catalog stands in.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli::args::catalogs::{AskedRelease, OlmArgs, UsageError};
use crate::cli::args::memory;
use crate::cli::facts::loading::Fault;
use crate::cli::facts::origin::{OriginFacts, stand_in};
use crate::cli::facts::running::{self, RunningExtensions};
use crate::cluster::extensions::ExtensionState;
use crate::policy_objects::PolicyObject;
use crate::source::archive::{Archive, ArchiveError, OlmFacts, SavedExtensions, SavedPolicies};
use olmguard_catalog::olm::{Gates, OlmRelease, Rules};
use olmguard_engine::snapshot::{CatalogState, Content};

/// A snapshot as far as it could be read.
#[derive(Debug)]
pub(crate) struct SavedSnapshot {
    path: PathBuf,
    archive: Result<Archive, ArchiveError>,
}

/// What is worth knowing about the OLM that is judged by.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum OlmWarning {
    #[error("the snapshot is from OLM {saved}, but olmguard uses --olm-release {given}")]
    Release { saved: String, given: OlmRelease },
    #[error("the snapshot is from OLM with {saved}, but olmguard uses --olm-feature-gates")]
    Gates { saved: String },
    #[error("the snapshot does not name the OLM release: checked as {taken}, the newest release")]
    Unknown { taken: OlmRelease },
}

impl SavedSnapshot {
    /// Opens the file, so that its OLM is known before anything is read by the rules of one.
    pub(crate) fn open(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            archive: Archive::open(path),
        }
    }

    /// Every catalog and every policy in it, or why it cannot be read.
    pub(crate) fn load(self, rules: &Rules) -> OriginFacts {
        let loaded = self.archive.and_then(|archive| {
            let policies = archive.facts().policies.clone();
            Ok((archive.load(rules, memory::of_commands())?, policies))
        });
        match loaded {
            Ok((catalogs, policies)) => known(catalogs, policies),
            Err(error) => {
                let content = Content::Unreadable(error.to_string());
                OriginFacts {
                    catalogs: vec![stand_in(&self.path.to_string_lossy(), content)],
                    faults: vec![Fault::Snapshot(error)],
                    ..OriginFacts::default()
                }
            }
        }
    }

    /// Every extension; none of a file that cannot be read, which is a fault of its catalogs.
    pub(crate) fn extensions(&self) -> RunningExtensions {
        let Ok(archive) = &self.archive else {
            return RunningExtensions::default();
        };
        let unknown = |why: String| RunningExtensions::of([], Some(Fault::Extensions(why)));
        match &archive.facts().extensions {
            SavedExtensions::Objects(objects) => {
                RunningExtensions::of(objects.iter().map(running::read), None)
            }
            SavedExtensions::Unfetched(why) => unknown(why.clone()),
            SavedExtensions::NotSaved => unknown(format!("{}: {NOT_SAVED}", self.path.display())),
        }
    }

    /// The same; of a file that cannot be read, why it cannot.
    pub(crate) fn into_extensions(self) -> RunningExtensions {
        let running = self.extensions();
        match self.archive {
            Ok(_) => running,
            Err(error) => RunningExtensions::of([], Some(Fault::Snapshot(error))),
        }
    }

    /// What it says of each extension of these names, in their order; none if it says nothing of any.
    pub(crate) fn standings(&self, names: &[String]) -> Option<Vec<ExtensionState>> {
        let archive = self.archive.as_ref().ok()?;
        let names = names.iter();
        match &archive.facts().extensions {
            SavedExtensions::NotSaved => None,
            SavedExtensions::Unfetched(why) => {
                let unknown = names.map(|_| ExtensionState::unknown(why.clone()));
                Some(unknown.collect())
            }
            SavedExtensions::Objects(objects) => {
                let saved = by_name(objects);
                let found =
                    names.map(|name| ExtensionState::read(saved.get(name.as_str()).copied()));
                Some(found.collect())
            }
        }
    }

    /// The rules of its OLM, but for what the flags say.
    ///
    /// Gates belong to a release: those of the snapshot count only with its own.
    pub(crate) fn rules(&self, flags: &OlmArgs) -> Result<(Rules, Vec<OlmWarning>), UsageError> {
        let Ok(archive) = &self.archive else {
            return Ok((flags.rules()?, Vec::new()));
        };
        let Some(saved) = &archive.facts().olm else {
            return without_olm(flags);
        };
        match flags.olm_release {
            AskedRelease::This(release) if release.name() != saved.release => {
                let warning = OlmWarning::Release {
                    saved: saved.release.clone(),
                    given: release,
                };
                Ok((flags.rules()?, vec![warning]))
            }
            _ => self.with_gates(flags, saved),
        }
    }

    fn with_gates(
        &self,
        flags: &OlmArgs,
        saved: &OlmFacts,
    ) -> Result<(Rules, Vec<OlmWarning>), UsageError> {
        let (release, gates) = saved.read().map_err(|source| UsageError::SnapshotOlm {
            file: self.path.clone(),
            source,
        })?;
        let given = flags.gates(release)?;
        let warning = OlmWarning::Gates {
            saved: in_words(gates),
        };
        let differs = given.is_some_and(|given| given != gates);
        let rules = Rules::new(release, given.unwrap_or(gates));
        Ok((rules, Vec::from_iter(differs.then_some(warning))))
    }
}

fn by_name(objects: &[Value]) -> HashMap<&str, &Value> {
    let named = objects.iter().filter_map(|object| {
        let name = object.pointer("/metadata/name")?.as_str()?;
        Some((name, object))
    });
    named.collect()
}

/// What a snapshot without extensions lacks.
const NOT_SAVED: &str = "does not have the installed extensions; save it again with olmguard snapshot save, or give PATH";

fn known(catalogs: Vec<CatalogState>, policies: SavedPolicies) -> OriginFacts {
    let (objects, faults) = match policies {
        SavedPolicies::Objects(objects) => (objects, Vec::new()),
        SavedPolicies::Unfetched(why) => (Vec::new(), vec![Fault::Policies(why)]),
    };
    OriginFacts {
        catalogs,
        policies: objects.iter().map(PolicyObject::read).collect(),
        faults,
    }
}

fn without_olm(flags: &OlmArgs) -> Result<(Rules, Vec<OlmWarning>), UsageError> {
    let rules = flags.rules()?;
    let warning = OlmWarning::Unknown { taken: rules.olm };
    let is_given = flags.olm_release != AskedRelease::Auto;
    let warnings = (!is_given).then_some(warning);
    Ok((rules, Vec::from_iter(warnings)))
}

fn in_words(gates: Gates) -> String {
    let on: Vec<_> = gates.on().collect();
    if on.is_empty() {
        return "no feature gates".to_owned();
    }
    on.join(", ")
}
