//! The time of day, from outside.

use std::fmt::Debug;
use std::time::SystemTime;

/// What tells the time of day.
pub trait Clock: Debug + Send + Sync {
    /// The time of day, now.
    fn now(&self) -> SystemTime;
}

/// The clock of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads it: certificates and windows of policies begin and end by the time of day"
    )]
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}
