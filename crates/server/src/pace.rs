//! The state of a connection: what it waits for, and since when.
//!
//! ```text
//! Handshake --> Fresh --first byte--> Head --> Body --> Answer --> Write --> Idle ... --> Close
//!                                      ^----------- first byte ---------------'
//! ```
//!
//! hyper's own timeout for the head of a request also runs while a connection is idle. This module distinguishes the
//! two by the first byte that arrives. Only in `Answer` does the peer wait for the server. In every other state the
//! server waits for the peer, for a limited time.
//!
//! Invariant: only the task of the connection writes the state; any task may read it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;
use tokio_util::io::InspectReader;

use crate::limits::Patience;

/// The state of a connection: what it waits for.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum WaitingFor {
    /// Waiting for the end of the TLS handshake.
    Handshake,
    /// Waiting for the first request.
    Fresh,
    /// Waiting for the rest of the head of a request.
    Head,
    /// Waiting for the rest of the body of a request.
    Body,
    /// The peer waits for the answer of the server.
    Answer,
    /// Waiting for the peer to read the answer.
    Write,
    /// Waiting for the next request.
    Idle,
    /// Waiting for the peer's `close_notify`.
    Close,
}

/// The state of a connection, and when it last changed.
#[derive(Debug)]
pub(super) struct PeerWait {
    accepted: Instant,
    /// Milliseconds from `accepted` to the last change, shifted left by eight bits; the state is in the lowest byte.
    state: AtomicU64,
}

impl PeerWait {
    /// Returns the state of a connection that was accepted now.
    pub(super) fn new() -> Self {
        Self {
            accepted: Instant::now(),
            state: AtomicU64::new(WaitingFor::Handshake as u64),
        }
    }

    /// Records a new state, which starts now.
    pub(super) fn change(&self, to: WaitingFor) {
        let millis = u64::try_from(self.accepted.elapsed().as_millis()).unwrap_or(u64::MAX >> 8);
        self.state.store(millis << 8 | to as u64, Ordering::Relaxed);
    }

    /// Records that bytes arrived. They start a request if none is in progress.
    pub(super) fn heard(&self) {
        if matches!(self.waiting(), WaitingFor::Fresh | WaitingFor::Idle) {
            self.change(WaitingFor::Head);
        }
    }

    pub(super) fn waiting(&self) -> WaitingFor {
        waiting(self.state.load(Ordering::Relaxed))
    }

    /// Returns the state, and when it started.
    pub(super) fn state(&self) -> (WaitingFor, Instant) {
        let state = self.state.load(Ordering::Relaxed);
        (
            waiting(state),
            self.accepted + Duration::from_millis(state >> 8),
        )
    }

    /// Returns the time at which the peer will have kept the server waiting too long in the current state. None while
    /// the peer waits for the server.
    pub(super) fn overdue(&self, patience: &Patience) -> Option<Instant> {
        let (waiting, since) = self.state();
        let most = match waiting {
            WaitingFor::Handshake => patience.handshake,
            WaitingFor::Head => patience.head,
            WaitingFor::Body => patience.body,
            WaitingFor::Write => patience.write,
            WaitingFor::Fresh | WaitingFor::Idle => patience.idle,
            WaitingFor::Close => CLOSE,
            WaitingFor::Answer => return None,
        };
        Some(since + most)
    }

    /// Returns how much of the allowed time is used up, in millionths; none while the peer waits for the server. A new
    /// connection must send its first request within the time for a handshake.
    pub(super) fn strain(&self, patience: &Patience) -> Option<u128> {
        let (waiting, since) = self.state();
        let most = match waiting {
            WaitingFor::Fresh => patience.handshake,
            _ => self.overdue(patience)? - since,
        };
        Some(since.elapsed().as_millis() * 1_000_000 / most.as_millis().max(1))
    }
}

/// Wraps a socket to record bytes as they arrive.
///
/// The wrapper is below TLS, so a request in many small pieces counts from its first byte, even if its TLS record is
/// not complete yet.
pub(super) fn heard<I>(
    io: I,
    pace: &Arc<PeerWait>,
) -> InspectReader<I, impl FnMut(&[u8]) + Send + use<I>>
where
    I: AsyncRead,
{
    let pace = Arc::clone(pace);
    InspectReader::new(io, move |bytes: &[u8]| {
        if !bytes.is_empty() {
            pace.heard();
        }
    })
}

fn waiting(state: u64) -> WaitingFor {
    const ALL: [WaitingFor; 8] = [
        WaitingFor::Handshake,
        WaitingFor::Fresh,
        WaitingFor::Head,
        WaitingFor::Body,
        WaitingFor::Answer,
        WaitingFor::Write,
        WaitingFor::Idle,
        WaitingFor::Close,
    ];
    let number = usize::try_from(state & 0xff).unwrap_or_default();
    ALL.get(number).copied().unwrap_or(WaitingFor::Answer)
}

/// A peer that has read the last answer closes immediately.
const CLOSE: Duration = Duration::from_secs(1);

// === The stream of a connection: it records when the peer has read an answer, and does not lose the last one ===
//
// If a socket is closed with unread bytes, the connection is reset, and the peer can lose an answer that it has not
// read yet, for example "too large" in the middle of a large body. So the server reads and drops further bytes until
// the peer closes too, within the time that [`PeerWait`] allows.

/// A stream that records when its peer has taken an answer, and closes without losing the last one.
pub(super) struct PacedStream<I> {
    io: I,
    pace: Arc<PeerWait>,
    /// The number of bytes that it can still drop while it closes.
    patience: usize,
}

impl<I> PacedStream<I> {
    pub(super) fn new(io: I, pace: Arc<PeerWait>) -> Self {
        Self {
            io,
            pace,
            patience: MOST_DROPPED,
        }
    }
}

impl<I: AsyncRead + Unpin> PacedStream<I> {
    /// Reads and drops bytes. Ready when the peer has closed or failed, or has sent too much.
    fn poll_drop_rest(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut dropped = [0; 4096];
        while self.patience > 0 {
            let mut buffer = ReadBuf::new(&mut dropped);
            let read = ready!(Pin::new(&mut self.io).poll_read(context, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                break;
            }
            self.patience = self.patience.saturating_sub(buffer.filled().len());
        }
        Poll::Ready(())
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for PacedStream<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl<I: AsyncRead + AsyncWrite + Unpin> AsyncWrite for PacedStream<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.io).poll_flush(context))?;
        if self.pace.waiting() == WaitingFor::Write {
            self.pace.change(WaitingFor::Idle);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.pace.waiting() != WaitingFor::Close {
            self.pace.change(WaitingFor::Close);
        }
        ready!(Pin::new(&mut self.io).poll_shutdown(context))?;
        self.poll_drop_rest(context).map(Ok)
    }
}

/// Enough for the rest of a body that was rejected as too large, unless its size is absurd.
const MOST_DROPPED: usize = 16 << 20;

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const PATIENCE: Patience = Patience {
        handshake: Duration::from_secs(1),
        head: Duration::from_secs(2),
        body: Duration::from_secs(4),
        write: Duration::from_secs(5),
        idle: Duration::from_secs(3),
        age: None,
    };

    #[tokio::test(start_paused = true)]
    async fn each_state_has_its_own_patience() {
        let pace = PeerWait::new();
        let begun = Instant::now();
        tokio::time::advance(Duration::from_secs(10)).await;
        for (to, expected) in [
            (WaitingFor::Handshake, Some(11)),
            (WaitingFor::Fresh, Some(13)),
            (WaitingFor::Head, Some(12)),
            (WaitingFor::Body, Some(14)),
            (WaitingFor::Write, Some(15)),
            (WaitingFor::Idle, Some(13)),
            (WaitingFor::Answer, None),
            (WaitingFor::Close, Some(11)),
        ] {
            pace.change(to);
            assert_eq!(pace.waiting(), to);
            let overdue = pace.overdue(&PATIENCE);
            let after = overdue.map(|at| (at - begun).as_secs());
            assert_eq!(after, expected, "{to:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_first_byte_of_a_request_counts() {
        let pace = PeerWait::new();
        for (waiting, expected) in [
            (WaitingFor::Handshake, WaitingFor::Handshake),
            (WaitingFor::Fresh, WaitingFor::Head),
            (WaitingFor::Head, WaitingFor::Head),
            (WaitingFor::Idle, WaitingFor::Head),
            (WaitingFor::Body, WaitingFor::Body),
            (WaitingFor::Answer, WaitingFor::Answer),
            (WaitingFor::Write, WaitingFor::Write),
            (WaitingFor::Close, WaitingFor::Close),
        ] {
            pace.change(waiting);
            pace.heard();
            assert_eq!(pace.waiting(), expected, "{waiting:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn strain_is_the_part_of_its_own_patience() {
        let pace = PeerWait::new();
        for (to, expected) in [
            (WaitingFor::Handshake, Some(500_000)),
            (WaitingFor::Fresh, Some(500_000)),
            (WaitingFor::Head, Some(250_000)),
            (WaitingFor::Body, Some(125_000)),
            (WaitingFor::Write, Some(100_000)),
            (WaitingFor::Idle, Some(166_666)),
            (WaitingFor::Answer, None),
        ] {
            pace.change(to);
            tokio::time::advance(Duration::from_millis(500)).await;
            assert_eq!(pace.strain(&PATIENCE), expected, "{to:?}");
        }
    }

    #[tokio::test]
    async fn what_comes_while_it_closes_is_dropped() {
        let (near, mut far) = tokio::io::duplex(64);
        let pace = Arc::new(PeerWait::new());
        let mut stream = PacedStream::new(near, Arc::clone(&pace));
        let closing = tokio::spawn(async move { stream.shutdown().await });
        far.write_all(&[7; 10_000]).await.unwrap();
        assert_eq!(far.read(&mut [0; 8]).await.unwrap(), 0);
        assert_eq!(pace.waiting(), WaitingFor::Close);
        drop(far);
        closing.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn who_never_ends_is_cut_off() {
        let (near, mut far) = tokio::io::duplex(1 << 20);
        let mut stream = PacedStream::new(near, Arc::new(PeerWait::new()));
        let closing = tokio::spawn(async move { stream.shutdown().await });
        let flood = vec![7; 1 << 16];
        while far.write_all(&flood).await.is_ok() {}
        closing.await.unwrap().unwrap();
    }
}
