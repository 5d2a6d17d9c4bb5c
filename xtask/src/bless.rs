//! Writes the recorded texts of this repository again. The tests write them instead of comparing
//! them.

use crate::program::{Program, ProgramError};

/// Runs all tests of olmguard, and allows them to write.
pub(crate) fn run() -> Result<(), ProgramError> {
    Program::cargo("test --package olmguard")
        .env("OLMGUARD_BLESS", "1")
        .run()
}
