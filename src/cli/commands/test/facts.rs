//! What a suite is tried on: catalogs, and an OLM.

use std::io;

use crate::cli::commands::test::suite::Suite;
use crate::cli::facts::given::GivenObjects;
use crate::cli::facts::loading::{self, Facts, GivenCatalogs};
use crate::cli::facts::look::LookArgs;
use crate::cli::facts::origin::{FactsOrigin, OriginError, OriginFlags};
use crate::manifest::{Inputs, documents};
use olmguard_engine::snapshot::CatalogState;

/// The facts of a suite as far as they are to be had.
pub(super) struct SuiteFacts {
    pub(super) facts: Facts,
    /// What could not be read.
    pub(super) faults: Vec<String>,
    /// About the OLM that is judged by.
    pub(super) warnings: Vec<String>,
}

/// Reads what the suite names.
pub(super) fn load(suite: &Suite) -> Result<SuiteFacts, OriginError> {
    let asked = &suite.facts;
    let look = LookArgs::default();
    let origin = FactsOrigin::of(&OriginFlags {
        snapshot: asked.snapshot.as_deref(),
        from_cluster: false,
        look: &look,
    })?;
    let (rules, warnings) = origin.rules(&asked.olm)?;
    let (catalogs, mut faults) = objects(suite);
    let objects = GivenObjects {
        catalogs,
        ..GivenObjects::default()
    };
    let given = GivenCatalogs {
        catalogs: &asked.catalogs,
        guardrails: &asked.guardrails,
        policies: &asked.policies,
    };
    let facts = loading::load(origin, objects, given, rules)?;
    faults.extend(facts.faults.iter().map(ToString::to_string));
    Ok(SuiteFacts {
        facts,
        faults,
        warnings,
    })
}

/// The `ClusterCatalog` objects in its files, and what could not be read of them.
fn objects(suite: &Suite) -> (Vec<CatalogState>, Vec<String>) {
    let (mut states, mut faults) = (Vec::new(), Vec::new());
    for input in Inputs::new(suite.facts.objects.clone(), io::empty()) {
        let file = &input.path;
        let bytes = input.bytes.unwrap_or_else(|error| {
            faults.push(format!("{file}: {error}"));
            Vec::new()
        });
        for document in documents(&bytes) {
            match document {
                Err(error) => faults.push(format!("{file}:{error}")),
                Ok(document) => {
                    for object in document.into_objects().0 {
                        if !CatalogState::is_described_by(&object.api_version, &object.kind) {
                            continue;
                        }
                        match CatalogState::read(&object.value) {
                            Ok(state) => states.push(state),
                            Err(bad) => {
                                states.extend(bad.state.map(|state| *state));
                                faults.push(format!("{file}: {}", bad.error));
                            }
                        }
                    }
                }
            }
        }
    }
    (states, faults)
}
