//! What a fault costs the people who edit meanwhile.

use serde::{Deserialize, Serialize};

/// One fault of a part of the cluster: a row of the table in `docs/reliability.md`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct FaultRow {
    /// What fails.
    pub fault: String,
    /// Edits before, during and after it.
    pub edits: usize,
    /// Edits a second.
    pub pace: f64,
    /// Edits without an answer of olmguard.
    pub failed: usize,
    /// Edits that were allowed with a warning, because olmguard could not decide.
    pub undecided: usize,
    /// Edits with the wrong answer.
    pub wrong: usize,
    /// Seconds that the fault took.
    pub seconds: f64,
    /// Milliseconds after it until the last edit that was not answered as before.
    pub recovered: u64,
}
