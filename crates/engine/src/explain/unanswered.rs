//! Why a server did not judge an edit, and what to do about it.

use core::time::Duration;

use crate::judge::{UnansweredReason, Wait};

/// What was waited for, and how long, to the millisecond.
pub(super) fn reason(cause: UnansweredReason) -> String {
    let shown = |within: Duration| format!("{:?}", Duration::from_millis(millis(within)));
    match cause {
        UnansweredReason::DeadlineExceeded { waited_for, within } => {
            let within = shown(within);
            match waited_for {
                Wait::Worker => format!("no worker was free within {within}"),
                Wait::Judge => format!("the check did not finish within {within}"),
            }
        }
        UnansweredReason::QueueFull { waiting } => {
            format!("{waiting} edits are waiting already, which is the limit")
        }
        UnansweredReason::QueueTooSlow { waiting, within } => {
            let within = shown(within);
            format!("{waiting} edits are waiting already, too many to check within {within}")
        }
    }
}

/// The way out of having no answer: nothing is wrong with the edit as far as is known.
pub(super) fn again(cause: UnansweredReason) -> &'static str {
    match cause {
        UnansweredReason::DeadlineExceeded { .. } => "apply it again; it was not checked",
        UnansweredReason::QueueFull { .. } | UnansweredReason::QueueTooSlow { .. } => {
            "apply it again in a few seconds; it was not checked"
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
