//! The extensions of the inputs, each with the status that it has there.

use std::io;
use std::path::PathBuf;

use crate::cli::args::catalogs::UsageError;
use crate::cli::commands::bad_input::{BadInput, InputProblem};
use crate::facts::given::{GivenObjects, UniqueObjects, unrendered};
use crate::manifest::{
    DocumentErrorKind, Input, Inputs, ManifestObject, Position, Positions, documents,
};
use olmguard_engine::explain::Unrendered;
use olmguard_engine::extension::{Extension, RecognisedObject, recognise};

/// Everything that was read, in the order of the inputs.
#[derive(Debug, Default)]
pub(in crate::cli::commands) struct AuditedInputs {
    pub(in crate::cli::commands) extensions: Vec<Extension>,
    /// Catalogs and policies.
    pub(in crate::cli::commands) given: GivenObjects,
    pub(in crate::cli::commands) faults: Vec<BadInput>,
    /// What a tool still makes manifests of.
    pub(in crate::cli::commands) skipped: Vec<SkippedInput>,
    unique: UniqueObjects,
}

/// What is not reported because it is no manifest yet, and where it is.
#[derive(Debug, derive_more::Display)]
#[display("{file}:{at}: {}", why.skipped())]
pub(in crate::cli::commands) struct SkippedInput {
    file: String,
    at: Position,
    why: Unrendered,
}

impl AuditedInputs {
    /// Reads every input; what cannot be read is kept as a fault.
    ///
    /// # Errors
    /// If two objects have one kind and name.
    pub(in crate::cli::commands) fn read(paths: &[PathBuf]) -> Result<Self, UsageError> {
        let mut read = Self::default();
        for input in Inputs::new(paths.to_vec(), io::stdin()) {
            read.input(input, &mut |_, _| None)?;
        }
        Ok(read)
    }

    /// Reads one input. `take` is given each object first, for a command that has objects of its own: it returns nothing
    /// for any other object.
    ///
    /// # Errors
    /// If two objects that it does not take have one kind and name.
    pub(in crate::cli::commands) fn input(
        &mut self,
        input: Input,
        take: &mut impl FnMut(&ManifestObject, &Positions) -> Option<Result<(), InputProblem>>,
    ) -> Result<(), UsageError> {
        match input.bytes {
            Ok(bytes) => self.file(&input.path, &bytes, take),
            Err(error) => {
                self.fault(&input.path, InputProblem::Input(error));
                Ok(())
            }
        }
    }

    /// Extensions of a cluster or a snapshot, and no other inputs.
    pub(super) fn running(extensions: Vec<Extension>) -> Self {
        Self {
            extensions,
            ..Self::default()
        }
    }

    fn file(
        &mut self,
        file: &str,
        bytes: &[u8],
        take: &mut impl FnMut(&ManifestObject, &Positions) -> Option<Result<(), InputProblem>>,
    ) -> Result<(), UsageError> {
        for document in documents(bytes) {
            match document {
                Ok(document) => {
                    let (objects, positions) = document.into_objects();
                    for object in objects {
                        match take(&object, &positions) {
                            None => self.object(file, &object, &positions)?,
                            Some(Ok(())) => {}
                            Some(Err(problem)) => self.fault(file, problem),
                        }
                    }
                }
                Err(error) if matches!(error.kind, DocumentErrorKind::Template { .. }) => {
                    self.skip(file, error.at, Unrendered::Template);
                }
                Err(error) => self.fault(file, InputProblem::Document(error)),
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
        if let Some((path, why)) = unrendered(object) {
            self.skip(file, object.position(positions, &path), why);
            return Ok(());
        }
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
                    self.fault(file, InputProblem::Given(at, fault));
                }
            }
            RecognisedObject::Extension(shape) => {
                let extension = Extension::read(shape, &object.value);
                self.extensions.push(extension);
            }
            RecognisedObject::UnknownVersion => {
                let api_version = object.api_version.clone();
                self.fault(file, InputProblem::Version(at, api_version));
            }
        }
        Ok(())
    }

    fn skip(&mut self, file: &str, at: Position, why: Unrendered) {
        let file = file.to_owned();
        self.skipped.push(SkippedInput { file, at, why });
    }

    fn fault(&mut self, file: &str, problem: InputProblem) {
        self.faults.push(BadInput::new(file, problem));
    }
}
