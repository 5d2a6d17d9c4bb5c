//! The network between a Service and a pod: it can take longer than none.

use std::io;
use std::time::Duration;

use hyper::body::Bytes;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

/// Bytes, and when they arrive.
type Arrival = (Instant, Bytes);

/// Hands on what both sides say until both have ended, or one has failed.
pub(super) async fn carry(
    client: TcpStream,
    pod: TcpStream,
    delay: &watch::Receiver<Duration>,
) -> io::Result<()> {
    let (from_client, to_client) = client.into_split();
    let (from_pod, to_pod) = pod.into_split();
    let there = carry_one_way(from_client, to_pod, delay);
    let back = carry_one_way(from_pod, to_client, delay);
    tokio::try_join!(there, back).map(|_| ())
}

async fn carry_one_way(
    from: OwnedReadHalf,
    to: OwnedWriteHalf,
    delay: &watch::Receiver<Duration>,
) -> io::Result<()> {
    let (send, receive) = mpsc::channel(MOST_ON_THE_WAY);
    let taken = take(from, send, delay);
    tokio::try_join!(taken, deliver(receive, to)).map(|_| ())
}

/// Takes what is said as soon as it is said, so that a delay limits no throughput.
async fn take(
    mut from: OwnedReadHalf,
    way: mpsc::Sender<Arrival>,
    delay: &watch::Receiver<Duration>,
) -> io::Result<()> {
    let mut buffer = vec![0; LARGEST];
    loop {
        let length = from.read(&mut buffer).await?;
        let arrives = Instant::now() + *delay.borrow();
        let bytes = buffer.get(..length).unwrap_or_default();
        // The end is on its way like everything else: no bytes.
        let sent = way.send((arrives, Bytes::copy_from_slice(bytes))).await;
        if length == 0 || sent.is_err() {
            return Ok(());
        }
    }
}

async fn deliver(mut way: mpsc::Receiver<Arrival>, mut to: OwnedWriteHalf) -> io::Result<()> {
    while let Some((arrives, bytes)) = way.recv().await {
        sleep_until(arrives).await;
        to.write_all(&bytes).await?;
    }
    to.shutdown().await
}

/// Parts that are under way at the same time.
const MOST_ON_THE_WAY: usize = 256;

/// Bytes that are taken at once.
const LARGEST: usize = 16 * 1024;
