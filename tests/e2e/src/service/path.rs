//! The network between a Service and a pod, which can be slow.

use std::io;
use std::time::Duration;

use hyper::body::Bytes;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

/// The time of arrival, and the bytes.
type Arrival = (Instant, Bytes);

/// Forwards the data of both sides until both have ended, or one has failed.
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

/// Reads data as soon as it arrives, so that a delay does not limit the throughput.
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
        // The end is delayed like all data: as an empty part.
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

/// The maximum number of parts under way at the same time.
const MOST_ON_THE_WAY: usize = 256;

/// The maximum number of bytes of a part.
const LARGEST: usize = 16 * 1024;
