//! Messages of a trial in addition to its result.

use std::fmt::Display;
use std::io::{self, Write};

/// Prints a message on its own line, because the line with the trial's name is not complete yet. `left out: WHAT, WHY`
/// is collected by `cargo xtask test`.
pub(crate) fn say(line: impl Display) {
    // This fails only if the reader has gone.
    let _unread = writeln!(io::stdout().lock(), "\n{line}");
}
