//! What is installed, as resolution reads it: once for all rows.

use crate::extension::{Installed, UnknownCause};
use crate::resolve::{InstalledError, Origin, StepStart};
use olmguard_catalog::olm::Rules;
use olmguard_policy::Operation;

/// What is installed, after its version was read.
#[derive(Debug)]
pub(super) enum ReadInstalled<'a> {
    /// Nothing.
    Nothing,
    /// It is not known, for this reason.
    Unknown(&'a UnknownCause),
    /// A bundle; an error if its version cannot be read.
    Bundle(Result<Origin<'a>, InstalledError>),
}

impl<'a> ReadInstalled<'a> {
    /// As this OLM reads it.
    pub(super) fn of(installed: &'a Installed, rules: &Rules) -> Self {
        match installed {
            Installed::Nothing => Self::Nothing,
            Installed::Unknown(cause) => Self::Unknown(cause),
            Installed::Bundle(bundle) | Installed::Inferred(bundle) => {
                Self::Bundle(Origin::read(bundle, rules))
            }
        }
    }

    /// Where upgrade edges start, if that can be read.
    pub(super) fn origin(&self) -> Option<&Origin<'a>> {
        match self {
            Self::Bundle(Ok(origin)) => Some(origin),
            Self::Nothing | Self::Unknown(_) | Self::Bundle(Err(_)) => None,
        }
    }

    /// Where a step from here starts.
    pub(super) fn start(&self) -> StepStart<'_> {
        match self {
            Self::Nothing => StepStart::Nothing,
            Self::Unknown(_) | Self::Bundle(Err(_)) => StepStart::Unknown,
            Self::Bundle(Ok(origin)) => StepStart::At(origin),
        }
    }

    /// What an edit does, for the conditions of policies: what is not installed yet is created.
    pub(super) fn operation(&self) -> Operation {
        match self {
            Self::Nothing => Operation::Create,
            Self::Unknown(_) | Self::Bundle(_) => Operation::Update,
        }
    }
}
