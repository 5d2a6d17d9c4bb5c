//! What a long run shows of the process in a pod.

use serde::{Deserialize, Serialize};

/// What a process holds at one moment.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct SoakSample {
    /// The pod, from 0.
    pub pod: usize,
    /// Seconds since the beginning; at several times the usual speed as many as the same takes at the usual one.
    pub seconds: f64,
    /// Bytes of resident memory.
    pub resident: f64,
    /// Open file descriptors.
    pub descriptors: f64,
    /// Unfinished tasks of the async runtime.
    pub tasks: f64,
}

/// What happened meanwhile.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct SoakWork {
    /// How many times as often as usual all but the edits came.
    pub speed: u32,
    /// Edits of people.
    pub edits: usize,
    /// Edits a second.
    pub pace: f64,
    /// Edits without an answer of olmguard, or with another answer than the right one.
    pub wrong: usize,
    /// Contents that the catalog had.
    pub contents: usize,
    /// Changes of a policy.
    pub policies: usize,
    /// Reports of audits.
    pub audits: f64,
    /// Audits that were due.
    pub audits_due: f64,
    /// Connections of hostile clients, which were opened.
    pub hostile: usize,
}
