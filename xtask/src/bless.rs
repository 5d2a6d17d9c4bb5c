//! Writes the recorded texts of this repository anew: the tests do it where they would compare.

use crate::program::{Program, ProgramError};

/// Runs all tests of olmguard with leave to write.
pub(crate) fn run() -> Result<(), ProgramError> {
    Program::cargo("test --package olmguard")
        .env("OLMGUARD_BLESS", "1")
        .run()
}
