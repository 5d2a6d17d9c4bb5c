//! The objects of the files: objects of OLM v0, and everything that `audit` reads too.

use std::io;
use std::path::PathBuf;

use crate::cli::args::catalogs::UsageError;
use crate::cli::commands::audit::AuditedInputs;
use crate::cli::commands::bad_input::InputProblem;
use crate::manifest::{Inputs, ManifestObject, Position, Positions, ValueStep};
use olmguard_views::migrate::{ClassicError, ClassicKind, ClassicObjects};

/// Everything that was read, in the order of the inputs.
#[derive(Debug, Default)]
pub(super) struct MigratedInputs {
    pub(super) objects: ClassicObjects,
    /// Extensions, catalogs and policies, and what could not be read of any object.
    pub(super) others: AuditedInputs,
}

impl MigratedInputs {
    /// Reads every input; what cannot be read is kept as a fault.
    ///
    /// # Errors
    /// If two objects that are not of OLM v0 have one kind and name.
    pub(super) fn read(paths: &[PathBuf]) -> Result<Self, UsageError> {
        let mut read = Self::default();
        let Self { objects, others } = &mut read;
        for input in Inputs::new(paths.to_vec(), io::stdin()) {
            others.input(input, &mut |object, positions| {
                ClassicKind::of(&object.value)?;
                let added = objects.add(&object.value);
                Some(
                    added.map_err(|error| {
                        InputProblem::Classic(at(&error, object, positions), error)
                    }),
                )
            })?;
        }
        Ok(read)
    }
}

/// Where the wrong field of an object is, otherwise where the object is.
fn at(error: &ClassicError, object: &ManifestObject, positions: &Positions) -> Position {
    match error {
        ClassicError::Field { field, .. } => object.position(positions, &ValueStep::of_path(field)),
        ClassicError::Twice { .. } => object.position(positions, &[]),
    }
}
