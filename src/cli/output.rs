//! Results on stdout. A reader that closes the pipe early has what it wants: that is no failure.

use std::io::{self, ErrorKind, Write};

/// Why a command could not show its results.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    /// The result has no JSON form.
    #[error("cannot write the result as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Stdout does not take it.
    #[error("cannot write to standard output: {0}")]
    Stdout(#[from] io::Error),
}

/// Prints a whole result; colours are taken out where they are not wanted.
pub(super) fn print(text: &str) -> Result<(), Failed> {
    let mut stdout = anstream::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}
