//! Why a server answers an edit without a judgement: it ran out of time, or of room.
//!
//! Only a server does so. What is decided without looking at a catalog is decided all the same.

use core::time::Duration;

use crate::judge::Token;

/// Why an edit was not put to the catalogs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UnansweredReason {
    /// The time for the answer is over.
    DeadlineExceeded {
        /// What the edit waited for until then.
        waited_for: Wait,
        /// How long there was, counted from the first byte of the request.
        within: Duration,
    },
    /// No more edits may wait.
    QueueFull {
        /// How many wait already.
        waiting: usize,
    },
    /// The edits that wait already will not be done in time.
    QueueTooSlow {
        /// How many wait already.
        waiting: usize,
        /// How long there was.
        within: Duration,
    },
}

/// What an edit waits for in a server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Wait {
    /// A worker that is free.
    Worker,
    /// The end of its own judgement.
    Judge,
}

impl UnansweredReason {
    /// The word for it.
    pub fn token(self) -> Token {
        match self {
            Self::DeadlineExceeded { .. } => Token::DeadlineExceeded,
            Self::QueueFull { .. } | Self::QueueTooSlow { .. } => Token::Overloaded,
        }
    }
}
