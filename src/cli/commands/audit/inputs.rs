//! The extensions of the inputs, each with the status that it has there.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::cli::args::catalogs::UsageError;
use crate::cli::facts::given::{GivenFault, GivenObjects, UniqueObjects};
use crate::manifest::{
    DocumentError, InputError, Inputs, ManifestObject, Position, Positions, documents,
};
use olmguard_catalog::version::go;
use olmguard_engine::extension::{Extension, RecognisedObject, recognise};

/// Everything that was read, in the order of the inputs.
#[derive(Debug, Default)]
pub(in crate::cli::commands) struct AuditedInputs {
    pub(in crate::cli::commands) extensions: Vec<Extension>,
    /// Catalogs and policies.
    pub(super) given: GivenObjects,
    pub(in crate::cli::commands) faults: Vec<InputFault>,
    unique: UniqueObjects,
}

/// What cannot be read, and where it is.
#[derive(Debug)]
pub(in crate::cli::commands) struct InputFault {
    pub(super) file: String,
    problem: Problem,
}

#[derive(Debug)]
enum Problem {
    Input(InputError),
    Document(DocumentError),
    /// Of a catalog or a policy.
    Given(Position, GivenFault),
    /// An extension in an `apiVersion` that is not known.
    Version {
        at: Position,
        api_version: String,
    },
}

impl AuditedInputs {
    /// Reads every input; what cannot be read is kept as a fault.
    ///
    /// # Errors
    /// If two objects have one kind and name.
    pub(in crate::cli::commands) fn read(paths: &[PathBuf]) -> Result<Self, UsageError> {
        let mut read = Self::default();
        for input in Inputs::new(paths.to_vec(), io::stdin()) {
            match input.bytes {
                Ok(bytes) => read.file(&input.path, &bytes)?,
                Err(error) => read.fault(&input.path, Problem::Input(error)),
            }
        }
        Ok(read)
    }

    /// Extensions of a cluster or a snapshot, and no other inputs.
    pub(super) fn running(extensions: Vec<Extension>) -> Self {
        Self {
            extensions,
            ..Self::default()
        }
    }

    fn file(&mut self, file: &str, bytes: &[u8]) -> Result<(), UsageError> {
        for document in documents(bytes) {
            match document {
                Ok(document) => {
                    let (objects, positions) = document.into_objects();
                    for object in objects {
                        self.object(file, &object, &positions)?;
                    }
                }
                Err(error) => self.fault(file, Problem::Document(error)),
            }
        }
        Ok(())
    }

    fn object(
        &mut self,
        file: &str,
        object: &ManifestObject,
        positions: &Positions,
    ) -> Result<(), UsageError> {
        let recognised = recognise(&object.value);
        let is_given = GivenObjects::has_kind_of(object);
        if !is_given && recognised == RecognisedObject::Other {
            return Ok(());
        }
        let at = object.position(positions, &[]);
        if !self.unique.is_new(object, file, at)? {
            return Ok(());
        }
        match recognised {
            RecognisedObject::Other => {
                for (at, fault) in self.given.add(file, object, positions) {
                    self.fault(file, Problem::Given(at, fault));
                }
            }
            RecognisedObject::Extension(shape) => {
                let extension = Extension::read(shape, &object.value);
                self.extensions.push(extension);
            }
            RecognisedObject::UnknownVersion => {
                let api_version = object.api_version.clone();
                self.fault(file, Problem::Version { at, api_version });
            }
        }
        Ok(())
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
            Problem::Given(at, fault) => write!(f, "{file}:{at}: {fault}"),
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
