//! The extensions of the inputs, each with the status that it has there.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::manifest::{DocumentError, InputError, Inputs, ManifestObject, Position, documents};
use crate::policy_files::is_policy;
use olmguard_catalog::version::go;
use olmguard_engine::extension::{Extension, RecognisedObject, recognise};

/// Everything that was read, in the order of the inputs.
#[derive(Debug, Default)]
pub(super) struct AuditedInputs {
    pub(super) extensions: Vec<Extension>,
    pub(super) faults: Vec<InputFault>,
    /// Policies, which are given by flags.
    policies: usize,
}

/// What cannot be read, and where it is.
#[derive(Debug)]
pub(super) struct InputFault {
    file: String,
    problem: Problem,
}

#[derive(Debug)]
enum Problem {
    Input(InputError),
    Document(DocumentError),
    /// An extension in an `apiVersion` that is not known.
    Version {
        at: Position,
        api_version: String,
    },
}

impl AuditedInputs {
    /// Reads every input.
    pub(super) fn read(paths: &[PathBuf]) -> Self {
        let mut read = Self::default();
        for input in Inputs::new(paths.to_vec(), io::stdin()) {
            match input.bytes {
                Ok(bytes) => read.file(&input.path, &bytes),
                Err(error) => read.fault(&input.path, Problem::Input(error)),
            }
        }
        read
    }

    /// What is worth knowing about the inputs.
    pub(super) fn warnings(&self) -> impl Iterator<Item = &'static str> {
        let none = self.extensions.is_empty() && self.faults.is_empty();
        let none = none.then_some("the inputs contain no ClusterExtension");
        let policies = (self.policies > 0).then_some(POLICIES);
        none.into_iter().chain(policies)
    }

    fn file(&mut self, file: &str, bytes: &[u8]) {
        for document in documents(bytes) {
            match document {
                Ok(document) => {
                    let (objects, positions) = document.into_objects();
                    for object in objects {
                        let at = object.position(&positions, &[]);
                        self.object(file, &object, at);
                    }
                }
                Err(error) => self.fault(file, Problem::Document(error)),
            }
        }
    }

    fn object(&mut self, file: &str, object: &ManifestObject, at: Position) {
        if is_policy(object) {
            self.policies += 1;
            return;
        }
        match recognise(&object.value) {
            RecognisedObject::Other => {}
            RecognisedObject::Extension(shape) => {
                let extension = Extension::read(shape, &object.value);
                self.extensions.push(extension);
            }
            RecognisedObject::UnknownVersion => {
                let api_version = object.api_version.clone();
                self.fault(file, Problem::Version { at, api_version });
            }
        }
    }

    fn fault(&mut self, file: &str, problem: Problem) {
        self.faults.push(InputFault {
            file: file.to_owned(),
            problem,
        });
    }
}

impl fmt::Display for InputFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, problem } = self;
        match problem {
            Problem::Input(error) => write!(f, "{file}: {error}"),
            Problem::Document(error) => write!(f, "{file}:{error}"),
            Problem::Version { at, api_version } => {
                let version = go::quote(api_version);
                write!(
                    f,
                    "{file}:{at}: unknown apiVersion {version} of an extension"
                )
            }
        }
    }
}

const POLICIES: &str = "policies in the inputs are not applied: use --policy or --guardrails, --snapshot or --from-cluster";
