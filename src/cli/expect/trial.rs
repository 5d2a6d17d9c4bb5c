//! One case, tried.

use serde_json::Value;

use crate::cli::expect::compare::{Difference, differences};
use crate::cli::expect::subject::SubjectError;
use crate::cli::expect::suite::{Case, Old, Suite};
use crate::explain::{Answer, answer, not_judged};
use crate::extension::schema::{self, SchemaRelease};
use crate::extension::{Extension, Identity, Recognised, recognise};
use crate::judge::{Edit, Exemption};
use crate::manifest::Position;
use crate::snapshot::Snapshot;

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
pub(super) fn run(
    suite: &Suite,
    case: &Case,
    snapshot: &Snapshot,
) -> Result<Outcome, SubjectError> {
    let new = case.extension.object(&suite.folder)?;
    let old = old(suite, case, &new)?;
    let answer = judge(snapshot, case, &new, old.as_ref());
    Ok(Outcome {
        file: suite.file.clone(),
        at: case.at,
        name: case.name.clone(),
        differences: differences(&case.expected, &answer),
        answer,
    })
}

fn old(suite: &Suite, case: &Case, new: &Value) -> Result<Option<Value>, SubjectError> {
    match &case.old {
        None => Ok(None),
        Some(Old::Subject(subject)) => subject.object(&suite.folder).map(Some),
        Some(Old::Range(range)) => Ok(Some(with_range(new, range))),
    }
}

/// The same object with another range, which has its place in each shape.
fn with_range(object: &Value, range: &str) -> Value {
    let mut object = object.clone();
    if let Recognised::Extension(shape) = recognise(&object) {
        let fields = Extension::read(shape, &object).fields;
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

fn judge(snapshot: &Snapshot, case: &Case, new: &Value, old: Option<&Value>) -> Answer {
    let Recognised::Extension(shape) = recognise(new) else {
        let identity = Identity::read(new);
        return not_judged(&Exemption::UnknownVersion {
            api_version: identity.api_version(),
            kind: identity.kind,
        });
    };
    let extension = Extension::read(shape, new);
    let old = old.and_then(|old| match recognise(old) {
        Recognised::Extension(shape) => Some(Extension::read(shape, old)),
        Recognised::Other | Recognised::UnknownVersion => None,
    });
    let release = SchemaRelease::v1(snapshot.rules().olm.minor());
    let said = case.installed.as_ref();
    let said = said.map(|said| said.resolve(snapshot, extension.filter.as_ref().ok()));
    let installed = said.unwrap_or_else(|| extension.installed.clone());
    let edit = Edit {
        new: &extension,
        old: old.as_ref(),
        installed: &installed,
        schema: &schema::check(shape, release, new),
    };
    answer(snapshot, &edit)
}
