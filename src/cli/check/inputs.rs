//! Everything that `-f` names, sorted by what it is.

use std::collections::HashMap;
use std::fmt;
use std::io;

use serde_json::Value;

use crate::admission::{Review, ReviewError};
use crate::cli::check::args::{CheckArgs, Plan, Schema};
use crate::cli::check::cases::{Case, Place, Subject};
use crate::cli::common::UsageError;
use crate::extension::schema::{self, SchemaRelease};
use crate::extension::{Extension, Identity, Recognised, Shape, recognise};
use crate::judge::Exemption;
use crate::manifest::{
    DocumentError, InputError, Inputs, ManifestObject, Position, Positions, Step, documents,
};
use crate::snapshot::{CatalogState, ClusterCatalogError};

/// Everything that was read, in the order of the inputs.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) cases: Vec<Case>,
    pub(super) catalogs: Vec<CatalogState>,
    pub(super) other_kinds: usize,
    pub(super) errors: Vec<BadInput>,
    /// Where the first object of each kind and name stands.
    places: HashMap<(String, String), String>,
}

/// An input that could not be read, and where it stands.
#[derive(Debug)]
pub(super) struct BadInput {
    /// Empty where the error names the file itself.
    file: String,
    problem: Problem,
}

#[derive(Debug)]
enum Problem {
    Input(InputError),
    Document(DocumentError),
    Catalog(Place, ClusterCatalogError),
    Review(Place, ReviewError),
}

impl Gathered {
    /// Reads every input; what cannot be read is kept as an error.
    pub(super) fn read(args: &CheckArgs, plan: &Plan) -> Result<Self, UsageError> {
        let mut gathered = Self::default();
        for input in Inputs::new(args.filename.clone(), io::stdin()) {
            match input.bytes {
                Ok(bytes) => gathered.file(&input.path, &bytes, plan)?,
                Err(error) => gathered.bad(&input.path, Problem::Input(error)),
            }
        }
        gathered.check_installed(plan)?;
        Ok(gathered)
    }

    fn file(&mut self, file: &str, bytes: &[u8], plan: &Plan) -> Result<(), UsageError> {
        for document in documents(bytes) {
            match document {
                Ok(document) => {
                    let (objects, positions) = document.into_objects();
                    for object in objects {
                        self.object(file, &object, &positions, plan)?;
                    }
                }
                Err(error) => self.bad(file, Problem::Document(error)),
            }
        }
        Ok(())
    }

    fn object(
        &mut self,
        file: &str,
        object: &ManifestObject,
        positions: &Positions,
        plan: &Plan,
    ) -> Result<(), UsageError> {
        let place = |path: &[Step<'_>]| Place {
            file: file.to_owned(),
            document: object.document,
            at: object.position(positions, path),
        };
        if CatalogState::is_described_by(&object.api_version, &object.kind) {
            self.unique(object, &place(&[]))?;
            match CatalogState::read(&object.value) {
                Ok(state) => self.catalogs.push(state),
                Err(bad) => {
                    self.catalogs.extend(bad.state.map(|state| *state));
                    self.bad(file, Problem::Catalog(place(&[]), bad.error));
                }
            }
        } else if is_review(object) {
            match Review::read(&object.value) {
                Ok(review) => self.review(review, &object.value, place),
                Err(error) => self.bad(file, Problem::Review(place(&[]), error)),
            }
        } else {
            match recognise(&object.value) {
                Recognised::Other => self.other_kinds += 1,
                Recognised::UnknownVersion => {
                    self.unique(object, &place(&[]))?;
                    self.unknown(object, place(&[]));
                }
                Recognised::Extension(shape) => {
                    self.unique(object, &place(&[]))?;
                    self.manifest(shape, object, place, plan);
                }
            }
        }
        Ok(())
    }

    fn manifest(
        &mut self,
        shape: Shape,
        object: &ManifestObject,
        place: impl Fn(&[Step<'_>]) -> Place,
        plan: &Plan,
    ) {
        let extension = Extension::read(shape, &object.value);
        let findings = match plan.schema {
            Schema::LeftOut => Vec::new(),
            Schema::Applied => {
                let release = SchemaRelease::v1(plan.rules.olm.minor());
                schema::check(shape, release, &object.value)
            }
        };
        self.cases.push(Case {
            place: place(&deciding_field(&extension, &object.value, &[])),
            identity: extension.identity.clone(),
            subject: Subject::Manifest(Box::new(extension), findings),
        });
    }

    fn review(&mut self, review: Review, dump: &Value, place: impl Fn(&[Step<'_>]) -> Place) {
        let field = review
            .extension()
            .map(|extension| deciding_field(extension, dump, &["request", "object"]));
        self.cases.push(Case {
            place: place(&field.unwrap_or_default()),
            identity: review.identity().clone(),
            subject: Subject::Review(Box::new(review)),
        });
    }

    fn unknown(&mut self, object: &ManifestObject, place: Place) {
        let exemption = Exemption::UnknownVersion {
            api_version: object.api_version.clone(),
            kind: object.kind.clone(),
        };
        let identity = Identity::read(&object.value);
        self.cases.push(Case {
            place,
            identity,
            subject: Subject::Unknown(exemption),
        });
    }

    /// Two objects of one kind and name cannot both be meant.
    fn unique(&mut self, object: &ManifestObject, place: &Place) -> Result<(), UsageError> {
        let Some(name) = object.name.clone() else {
            return Ok(());
        };
        match self
            .places
            .insert((object.kind.clone(), name), place.to_string())
        {
            None => Ok(()),
            Some(first) => Err(UsageError::ObjectTwice {
                kind: object.kind.clone(),
                name: object.name.clone().unwrap_or_default(),
                first,
                second: place.to_string(),
            }),
        }
    }

    /// A fact about an extension that is not there, or is not asked about it, would be lost without
    /// a word.
    fn check_installed(&self, plan: &Plan) -> Result<(), UsageError> {
        let is_there = |name: &String| {
            self.cases.iter().any(|case| {
                let is_manifest = matches!(case.subject, Subject::Manifest(..));
                is_manifest && case.identity.name.as_ref() == Some(name)
            })
        };
        match plan.installed.keys().find(|name| !is_there(name)) {
            Some(name) if self.errors.is_empty() => Err(UsageError::InstalledStranger {
                extension: name.clone(),
            }),
            _ => Ok(()),
        }
    }

    fn bad(&mut self, file: &str, problem: Problem) {
        self.errors.push(BadInput {
            file: file.to_owned(),
            problem,
        });
    }
}

impl BadInput {
    /// The file it is about.
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// Where in the file, if somewhere in it.
    pub(super) fn at(&self) -> Option<Position> {
        match &self.problem {
            Problem::Input(_) => None,
            Problem::Document(error) => Some(error.at),
            Problem::Catalog(place, _) | Problem::Review(place, _) => Some(place.at),
        }
    }
}

fn is_review(object: &ManifestObject) -> bool {
    object.kind == "AdmissionReview" && object.api_version.starts_with("admission.k8s.io/")
}

/// The version if one is written, of whatever type, else the package's name; `below` leads from
/// the root to the extension.
fn deciding_field(
    extension: &Extension,
    root: &Value,
    below: &[&'static str],
) -> Vec<Step<'static>> {
    let path = |has_version| {
        let keys = extension.fields.deciding(has_version);
        below.iter().copied().chain(keys)
    };
    let version = path(true).try_fold(root, |value, key| value.get(key));
    let has_version = version.is_some_and(|version| !version.is_null());
    path(has_version).map(Step::Key).collect()
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.at.line, self.at.column)
    }
}

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::Input(error) => write!(f, "{}: {error}", self.file),
            Problem::Document(error) => write!(f, "{}:{error}", self.file),
            Problem::Catalog(place, error) => write!(f, "{place}: {error}"),
            Problem::Review(place, error) => write!(f, "{place}: {error}"),
        }
    }
}
