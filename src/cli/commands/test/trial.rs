//! One case, tried.

use std::path::Path;

use serde_json::Value;

use crate::cli::commands::test::compare::{Difference, differences};
use crate::cli::commands::test::subject::{self, SubjectError};
use crate::cli::commands::test::suite::{Case, Old, Suite};
use crate::manifest::Position;
use olmguard_engine::explain::{Answer, answer, not_judged, warn_of_base};
use olmguard_engine::extension::schema::{self, SchemaRelease};
use olmguard_engine::extension::{Extension, Identity, Installed, Shape, hints};
use olmguard_engine::judge::{
    Basis, EarlierObject, Edit, Exemption, SchemaRefusal, Token, identify,
};
use olmguard_engine::snapshot::Snapshot;

/// What became of a case.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) file: String,
    pub(super) at: Position,
    pub(super) name: String,
    pub(super) answer: Answer,
    /// What is not as expected.
    pub(super) differences: Vec<Difference>,
}

impl Outcome {
    pub(super) fn holds(&self) -> bool {
        self.differences.is_empty()
    }

    /// Where the case stands.
    pub(super) fn place(&self) -> String {
        format!("{}:{}:{}", self.file, self.at.line, self.at.column)
    }
}

/// Judges the case as `check` would, and compares.
pub(super) fn run(suite: &Suite, case: &Case, basis: Basis<'_>) -> Result<Outcome, SubjectError> {
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

/// The extension as it is to be, and as it was.
fn objects(case: &Case, folder: &Path) -> Result<(Value, Option<Value>), SubjectError> {
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

/// The same object with another range, which has its place in each shape.
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
    case: &Case,
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

/// What is installed, and why not what was asked for: as the case says, else as its past does, else as its
/// own status does.
fn installed(
    basis: Basis<'_>,
    case: &Case,
    new: &Extension,
    before: Option<EarlierObject<'_>>,
) -> Result<(Installed, Option<Token>), SubjectError> {
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
