//! How long and how much is waited for.

use std::time::Duration;

use crate::source::stream;

/// Bounds of one try.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FetchLimits {
    /// Until there is a connection, TLS and the name's look-up included.
    pub connect: Duration,
    /// Without a byte of what is awaited, head or body. The time that `consume` takes does not count.
    pub silence: Duration,
    /// All of it.
    pub total: Duration,
    /// Bytes of the body as it comes.
    pub wire: u64,
    /// Bytes of the body, decompressed.
    pub content: u64,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self {
            connect: CONNECT,
            silence: SILENCE,
            total: TOTAL,
            wire: stream::TOTAL_LIMIT,
            content: stream::TOTAL_LIMIT,
        }
    }
}

/// Enough for two SYNs that were lost (1 s and 2 s until they are sent again) in a network that is near.
const CONNECT: Duration = Duration::from_secs(5);

/// catalogd sends from a file that lies ready; half a minute without a byte is no slowness any more.
const SILENCE: Duration = Duration::from_secs(30);

/// catalogd's own write timeout: it cuts a slower reader off by itself.
const TOTAL: Duration = Duration::from_mins(5);
