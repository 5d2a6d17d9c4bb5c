//! How a command ends.

use std::process::ExitCode;

/// The exit codes of every command, those of `check` in full.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Exit {
    /// Nothing denied or undecided.
    Good,
    /// Something denied.
    Denied,
    /// Wrong usage: nothing was judged.
    Usage,
    /// An input could not be read.
    BadInput,
    /// Undecided for another reason than a bad input.
    Undecided,
    /// A fault of ours.
    Internal,
}

impl Exit {
    /// Which of several wins: the greatest.
    pub(crate) fn weight(self) -> u8 {
        match self {
            Self::Good => 0,
            Self::Denied => 1,
            Self::Undecided => 2,
            Self::BadInput => 3,
            Self::Internal => 4,
            Self::Usage => 5,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Good => 0,
            Exit::Denied => 1,
            Exit::Usage => 2,
            Exit::BadInput => 3,
            Exit::Undecided => 4,
            Exit::Internal => 5,
        })
    }
}
