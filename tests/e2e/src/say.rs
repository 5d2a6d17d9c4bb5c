//! What a trial tells beside its result.

use std::fmt::Display;
use std::io::{self, Write};

/// Prints it on a line of its own: the trial's name has no end yet. `left out: WHAT, WHY` is gathered
/// by `cargo xtask test`.
pub(crate) fn say(line: impl Display) {
    // Only a reader that went away makes this fail.
    let _unread = writeln!(io::stdout().lock(), "\n{line}");
}
