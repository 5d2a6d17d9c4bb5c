//! How far a server is on its way. It never goes back.

use tokio::sync::watch;

/// How far a server is on its way.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Phase {
    /// It listens, but takes no reviews yet.
    Starting,
    /// It serves.
    Serving,
    /// It is not ready any more, but accepts: the news of that takes a while to get around.
    Leaving,
    /// It accepts nothing more.
    Closed,
}

/// Waits until the phase is this one or a later one; a server that is gone is closed.
pub(super) async fn reached(watched: &mut watch::Receiver<Phase>, phase: Phase) {
    drop(watched.wait_for(|now| *now >= phase).await);
}
