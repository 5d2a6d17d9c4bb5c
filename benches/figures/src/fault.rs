//! The effect of a fault on users who edit at the same time.

use serde::{Deserialize, Serialize};

/// One fault of a part of the cluster: a row of the table in `docs/reliability.md`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct FaultRow {
    /// The part that fails.
    pub fault: String,
    /// Number of edits before, during and after the fault.
    pub edits: usize,
    /// Edits per second.
    pub pace: f64,
    /// Number of edits without an answer from olmguard.
    pub failed: usize,
    /// Number of edits that were allowed with a warning, because olmguard could not decide.
    pub undecided: usize,
    /// Number of edits with a wrong answer.
    pub wrong: usize,
    /// Duration of the fault in seconds.
    pub seconds: f64,
    /// Milliseconds from the end of the fault until the last edit that was not answered as before.
    pub recovered: u64,
}
