//! The figures of a long run, for the process in a pod.

use serde::{Deserialize, Serialize};

/// The resource usage of a process at one moment.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct SoakSample {
    /// The pod, from 0.
    pub pod: usize,
    /// Seconds since the start. At a higher speed, this is the time that the same work takes at the usual speed.
    pub seconds: f64,
    /// Bytes of resident memory.
    pub resident: f64,
    /// Open file descriptors.
    pub descriptors: f64,
    /// Unfinished tasks of the async runtime.
    pub tasks: f64,
}

/// The work that was done during the run.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct SoakWork {
    /// The speed of everything except the edits, as a multiple of the usual speed.
    pub speed: u32,
    /// Number of edits by users.
    pub edits: usize,
    /// Edits per second.
    pub pace: f64,
    /// Number of edits without an answer from olmguard, or with a wrong answer.
    pub wrong: usize,
    /// Number of contents that the catalog had.
    pub contents: usize,
    /// Number of changes of a policy.
    pub policies: usize,
    /// Number of reports of audits.
    pub audits: f64,
    /// Number of audits that were due.
    pub audits_due: f64,
    /// Number of connections that hostile clients opened.
    pub hostile: usize,
}
