//! Results on stdout. A reader that closes the pipe early has what it wants: that is no failure.

use std::io::{self, BufWriter, ErrorKind, Write};

use serde::Serialize;

use super::json;

/// Prints text; colours are taken out where they are not wanted.
pub(super) fn text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    taken(write(&mut stdout).and_then(|()| stdout.flush()))
}

/// Prints one JSON value on one line.
pub(super) fn json(value: &impl Serialize) -> io::Result<()> {
    let mut stdout = BufWriter::new(io::stdout().lock());
    taken(json::write_line(value, &mut stdout).and_then(|()| stdout.flush()))
}

/// One JSON value as the line that [`json`] prints.
pub(super) fn json_line(value: &impl Serialize) -> io::Result<String> {
    let mut line = Vec::new();
    json::write_line(value, &mut line)?;
    String::from_utf8(line).map_err(io::Error::other)
}

/// Prints bytes as they are, which hold nothing that a terminal would obey.
pub(super) fn raw(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    taken(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

fn taken(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
