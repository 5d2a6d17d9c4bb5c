//! How a command ends.

use std::process::ExitCode;
use std::{fmt, io};

use crate::cli::say;

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
    /// The number of it.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Good => 0,
            Self::Denied => 1,
            Self::Usage => 2,
            Self::BadInput => 3,
            Self::Undecided => 4,
            Self::Internal => 5,
        }
    }

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

    /// The one that wins; without any, it is good.
    pub(crate) fn worst(exits: impl Iterator<Item = Self>) -> Self {
        exits.max_by_key(|exit| exit.weight()).unwrap_or(Self::Good)
    }
}

// === A command that ends before it has a result ===

/// Why a command has no result.
#[derive(Debug)]
pub(crate) struct CommandFailure {
    words: String,
    exit: Exit,
}

/// An error for which a command has no result.
pub(crate) trait HasExit: fmt::Display {
    /// The exit code of the command.
    fn exit(&self) -> Exit;
}

/// Gives errors an exit code of their own.
macro_rules! ends_with {
    ($exit:ident: $($error:ty),+) => {
        $(impl $crate::cli::HasExit for $error {
            fn exit(&self) -> $crate::cli::Exit {
                $crate::cli::Exit::$exit
            }
        })+
    };
}

pub(crate) use ends_with;

impl CommandFailure {
    pub(crate) fn new(words: impl fmt::Display, exit: Exit) -> Self {
        let words = words.to_string();
        Self { words, exit }
    }
}

impl<E: HasExit> From<E> for CommandFailure {
    fn from(error: E) -> Self {
        Self::new(&error, error.exit())
    }
}

/// The result cannot be written: what is read has errors of its own.
impl From<io::Error> for CommandFailure {
    fn from(error: io::Error) -> Self {
        Self::new(
            format_args!("cannot write the result: {error}"),
            Exit::Internal,
        )
    }
}

/// The exit code of a command. Prints its failure.
pub(crate) fn ended(done: Result<Exit, CommandFailure>) -> Exit {
    done.unwrap_or_else(|CommandFailure { words, exit }| {
        say(&words);
        exit
    })
}

/// What the exit codes of a command mean, one per line; an internal error is the same in all.
pub(super) fn lines(rows: &[(Exit, &str)]) -> impl Iterator<Item = String> {
    let all = rows.iter().copied();
    let all = all.chain([(Exit::Internal, "internal error")]);
    all.map(|(exit, meaning)| format!("{}  {meaning}", exit.code()))
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
