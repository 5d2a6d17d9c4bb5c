//! A stream that notes when its peer has taken an answer, and closes without losing what was said
//! last.
//!
//! A socket that is closed with bytes unread resets the connection, and the peer may lose an answer
//! that it has not read yet, such as "too large" in the middle of a large body. So what still comes
//! is read and dropped until the peer closes as well, but not for long: the pace of the connection
//! sees to that.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::server::pace::{Wait, WaitingFor};

/// A stream that notes when its peer has taken an answer, and closes without losing what was said last.
pub(super) struct Stream<I> {
    io: I,
    pace: Arc<Wait>,
    /// How many bytes it drops at most while it closes.
    patience: usize,
}

impl<I> Stream<I> {
    pub(super) fn new(io: I, pace: Arc<Wait>) -> Self {
        Self {
            io,
            pace,
            patience: MOST_DROPPED,
        }
    }
}

impl<I: AsyncRead + Unpin> Stream<I> {
    /// Ready when the peer has closed or failed, or sends too much.
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

impl<I: AsyncRead + Unpin> AsyncRead for Stream<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl<I: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<I> {
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

/// The rest of a body that was refused for its size, if its size is one that anybody sends.
const MOST_DROPPED: usize = 16 << 20;

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn what_comes_while_it_closes_is_dropped() {
        let (near, mut far) = tokio::io::duplex(64);
        let pace = Arc::new(Wait::new());
        let mut stream = Stream::new(near, Arc::clone(&pace));
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
        let mut stream = Stream::new(near, Arc::new(Wait::new()));
        let closing = tokio::spawn(async move { stream.shutdown().await });
        let flood = vec![7; 1 << 16];
        while far.write_all(&flood).await.is_ok() {}
        closing.await.unwrap().unwrap();
    }
}
