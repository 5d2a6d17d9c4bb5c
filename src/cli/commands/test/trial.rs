//! One case of a suite: the facts that it runs on, its answer, and the differences from the expected result.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::cli::commands::test::subject::{self, SubjectError};
use crate::cli::commands::test::suite::{Expectation, Old, Suite, SuiteCase};
use crate::cli::facts::{FactsError, reading};
use crate::facts::given::GivenObjects;
use crate::facts::origin::OpenOrigin;
use crate::facts::{Facts, FactsRequest, GivenFiles};
use crate::manifest::{Document, Inputs, Position, documents};
use olmguard_catalog::version::go;
use olmguard_engine::explain::{Answer, answer, not_judged, one_line, plain, warn_of_base};
use olmguard_engine::extension::schema::{self, SchemaRelease};
use olmguard_engine::extension::{Extension, Identity, Installed, Shape, hints};
use olmguard_engine::judge::{
    BaseDoubt, Basis, EarlierObject, Edit, Exemption, SchemaRefusal, identify,
};
use olmguard_engine::snapshot::{BadClusterCatalog, CatalogState, Snapshot};
use olmguard_policy::UpgradePolicy;

/// The facts of a suite, as far as they are available.
pub(super) struct LoadedFacts {
    pub(super) facts: Facts,
    /// The errors about what could not be read.
    pub(super) faults: Vec<String>,
    /// Warnings about the OLM to answer for.
    pub(super) warnings: Vec<String>,
}

/// Reads the files that the suite names.
pub(super) fn load(suite: &Suite) -> Result<LoadedFacts, FactsError> {
    let asked = &suite.facts;
    let origin = OpenOrigin::of_snapshot(asked.snapshot.as_deref());
    let (rules, warnings) = origin.rules(&asked.olm)?;
    let (catalogs, mut faults) = catalogs(suite);
    let request = FactsRequest {
        origin,
        objects: GivenObjects {
            catalogs,
            ..GivenObjects::default()
        },
        files: GivenFiles {
            catalogs: asked.catalogs.sources(),
            guardrails: &asked.guardrails,
            policies: &asked.policies,
        },
        rules,
    };
    let facts = request.load(reading())?;
    faults.extend(facts.faults.iter().map(ToString::to_string));
    let has_windows = facts
        .policies
        .upgrades
        .iter()
        .any(UpgradePolicy::has_windows);
    if !suite.has_times && has_windows {
        faults.push(NO_TIME.to_owned());
    }
    Ok(LoadedFacts {
        facts,
        faults,
        warnings,
    })
}

/// The error if the answer would depend on the current time.
const NO_TIME: &str = "at is missing: expected the time of the edits, because the snapshot has upgrade policies with windows";

/// The `ClusterCatalog` objects in the files of the suite, and the errors about what could not be read of them.
fn catalogs(suite: &Suite) -> (Vec<CatalogState>, Vec<String>) {
    let (mut states, mut faults) = (Vec::new(), Vec::new());
    for input in Inputs::of_files(suite.facts.objects.clone()) {
        let file = &input.path;
        let bytes = input.bytes.unwrap_or_else(|error| {
            faults.push(format!("{file}: {error}"));
            Vec::new()
        });
        for document in documents(&bytes) {
            match document {
                Err(error) => faults.push(format!("{file}:{error}")),
                Ok(document) => {
                    for read in catalogs_of(document) {
                        states.extend(read.unwrap_or_else(|bad| {
                            faults.push(format!("{file}: {}", bad.error));
                            bad.state.map(|state| *state)
                        }));
                    }
                }
            }
        }
    }
    (states, faults)
}

/// The catalogs of a document. A partly unreadable catalog is returned as far as it can be read.
fn catalogs_of(
    document: Document,
) -> impl Iterator<Item = Result<Option<CatalogState>, BadClusterCatalog>> {
    let objects = document.into_objects().0.into_iter();
    let catalogs = objects.filter(|one| CatalogState::is_described_by(&one.api_version, &one.kind));
    catalogs.map(|object| CatalogState::read(&object.value).map(Some))
}

/// The result of a case.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) file: String,
    pub(super) at: Position,
    pub(super) name: String,
    pub(super) answer: Answer,
    /// The differences from the expected result.
    pub(super) differences: Vec<DifferenceReport>,
}

impl Outcome {
    pub(super) fn holds(&self) -> bool {
        self.differences.is_empty()
    }

    /// The location of the case.
    pub(super) fn place(&self) -> String {
        format!("{}:{}:{}", self.file, self.at.line, self.at.column)
    }
}

/// Judges the case as `check` would, and compares the answer with the expected result.
pub(super) fn run(
    suite: &Suite,
    case: &SuiteCase,
    basis: Basis<'_>,
) -> Result<Outcome, SubjectError> {
    let (new, old) = objects(case, &suite.folder)?;
    let answer = judge(basis, case, &new, old.as_ref())?;
    Ok(Outcome {
        file: suite.file.clone(),
        at: case.at,
        name: case.name.clone(),
        differences: differences(&case.expected, &answer),
        answer,
    })
}

/// The extension after the edit and before it.
fn objects(case: &SuiteCase, folder: &Path) -> Result<(Value, Option<Value>), SubjectError> {
    if let Some(Old::Subject(old)) = &case.old {
        let (new, old) = subject::both(&case.extension, old, folder)?;
        return Ok((new, Some(old)));
    }
    let new = case.extension.object(folder)?;
    let old = match &case.old {
        Some(Old::Range(range)) => Some(with_range(&new, range)),
        Some(Old::Subject(_)) | None => None,
    };
    Ok((new, old))
}

/// The same object with another range, at the place that its shape has for it.
fn with_range(object: &Value, range: &str) -> Value {
    let mut object = object.clone();
    if let Some(Extension { fields, .. }) = Extension::recognised(&object) {
        let mut at = &mut object;
        for key in fields.deciding(true) {
            if !at.is_object() {
                *at = Value::Object(serde_json::Map::new());
            }
            at = &mut at[key];
        }
        *at = Value::from(range);
    }
    object
}

fn judge(
    basis: Basis<'_>,
    case: &SuiteCase,
    new: &Value,
    old: Option<&Value>,
) -> Result<Answer, SubjectError> {
    let Some(mut extension) = Extension::recognised(new) else {
        let identity = Identity::read(new);
        return Ok(not_judged(&Exemption::UnknownVersion {
            api_version: identity.api_version(),
            kind: identity.kind,
        }));
    };
    extension.hints = hints(extension.shape, Some(release(basis.snapshot)), new);
    let was = old.and_then(Extension::recognised);
    let before = old.map(|value| EarlierObject {
        value,
        extension: was.as_ref(),
    });
    let refused = refused(basis.snapshot, extension.shape, new, before);
    let (installed, doubt) = installed(basis, case, &extension, before)?;
    let compared = before.filter(|_| !refused.is_new);
    let old = compared.and_then(|before| before.old(&extension));
    let edit = Edit {
        new: &extension,
        old: old.as_ref(),
        installed: &installed,
        schema: &refused.findings,
        requester: &case.requester,
    };
    let mut answer = answer(basis, &edit);
    warn_of_base(&mut answer, doubt);
    Ok(answer)
}

fn release(snapshot: &Snapshot) -> SchemaRelease {
    SchemaRelease::v1(snapshot.rules().olm.minor())
}

fn refused(
    snapshot: &Snapshot,
    shape: Shape,
    new: &Value,
    before: Option<EarlierObject<'_>>,
) -> SchemaRefusal {
    let release = release(snapshot);
    match before {
        Some(before) => before.refused(shape, release, new),
        None => SchemaRefusal {
            findings: schema::check(shape, release, new),
            is_new: false,
        },
    }
}

/// The installed bundle: from the case, otherwise from the earlier state, otherwise from the object's own status. Also
/// returns the reason if it is not the requested bundle.
fn installed(
    basis: Basis<'_>,
    case: &SuiteCase,
    new: &Extension,
    before: Option<EarlierObject<'_>>,
) -> Result<(Installed, Option<BaseDoubt>), SubjectError> {
    let (installed, doubt) = match (&case.installed, before, &new.filter) {
        (Some(said), _, Ok(filter)) => {
            let installed = said.resolve("installed", basis.snapshot, filter);
            (installed.map_err(SubjectError::Installed)?, None)
        }
        (None, Some(before), _) => before.installed(basis, new),
        _ => (new.installed.clone(), None),
    };
    Ok(match &new.filter {
        Ok(filter) => (identify(basis.snapshot, filter, installed), doubt),
        Err(_) => (installed, doubt),
    })
}

#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
pub(super) struct DifferenceReport {
    /// Key of `expect`.
    pub(super) field: &'static str,
    pub(super) expected: String,
    pub(super) found: String,
}

/// All differences from the expected result.
fn differences(expected: &Expectation, answer: &Answer) -> Vec<DifferenceReport> {
    let verdict = expected
        .verdict
        .filter(|verdict| *verdict != answer.verdict());
    let verdict =
        verdict.map(|verdict| word("verdict", verdict.as_str(), answer.verdict().as_str()));
    let token = expected.token.filter(|token| *token != answer.token);
    let token = token.map(|token| word("token", token.as_str(), answer.token.as_str()));
    let resolved = expected.resolved.as_ref();
    let resolved = resolved.and_then(|version| self::resolved(version, answer));
    let warnings = expected.warnings.iter();
    let warnings = warnings.flat_map(|texts| warnings_of(texts, answer));
    let message = expected.message.iter();
    let message = message.filter_map(|text| message_of(text, answer));
    let words = verdict.into_iter().chain(token).chain(resolved);
    words.chain(warnings).chain(message).collect()
}

fn word(field: &'static str, expected: &str, found: &str) -> DifferenceReport {
    DifferenceReport {
        field,
        expected: expected.to_owned(),
        found: found.to_owned(),
    }
}

fn resolved(version: &str, answer: &Answer) -> Option<DifferenceReport> {
    let found = answer.resolved.as_ref().and_then(|_| plain::to(answer));
    let is_it = found.as_deref() == Some(version);
    let found = found.map_or_else(|| "nothing".to_owned(), |found| go::escape(&found));
    (!is_it).then(|| word("resolved", &go::escape(version), &found))
}

fn warnings_of(texts: &[String], answer: &Answer) -> Vec<DifferenceReport> {
    let all: Vec<_> = answer
        .warnings
        .iter()
        .map(|warning| one_line(warning))
        .collect();
    let found = match all.as_slice() {
        [] => "no warning".to_owned(),
        all => all.join("; "),
    };
    if texts.is_empty() {
        let is_none = answer.warnings.is_empty();
        return Vec::from_iter((!is_none).then(|| word("warnings", "no warning", &found)));
    }
    let missing = texts
        .iter()
        .filter(|text| !answer.warnings.iter().any(|one| one.contains(*text)));
    let missing = missing.map(|text| {
        word(
            "warnings",
            &format!("a warning with {}", go::quote(text)),
            &found,
        )
    });
    missing.collect()
}

fn message_of(text: &str, answer: &Answer) -> Option<DifferenceReport> {
    let message = answer.message.as_deref();
    let has_it = message.is_some_and(|message| message.contains(text));
    let found = match message.and_then(|message| message.lines().next()) {
        Some(first) => one_line(first),
        None => "no message".to_owned(),
    };
    let expected = format!("a message with {}", go::quote(text));
    (!has_it).then(|| word("message", &expected, &found))
}
