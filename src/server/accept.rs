//! Accepts connections until the server closes, and sees each of them to its end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tracing::{debug, warn};

use crate::server::connection::{self, ConnectionConfig};
use crate::server::connection_table::{ConnectionTable, Room};
use crate::server::handshake::Handshake;
use crate::server::pace::{Wait, heard};
use crate::server::phase::{Phase, reached};
use crate::telemetry::metrics::{ConnectionMetrics, Eviction, Refusal};

/// What a listener speaks below HTTP.
#[derive(Clone, Debug)]
pub(super) enum Transport {
    /// Nothing.
    Plain,
    Tls(Handshake),
}

/// A port: where connections come in, and how they are served.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) listener: TcpListener,
    pub(super) transport: Transport,
    pub(super) connections: ConnectionTable,
    pub(super) config: ConnectionConfig,
    pub(super) metrics: Arc<ConnectionMetrics>,
}

impl Port {
    /// Accepts until the server is closed, then waits for the connections that are left.
    pub(super) async fn run(mut self) {
        let mut tasks = JoinSet::new();
        let mut closing = self.config.phase.clone();
        loop {
            tokio::select! {
                biased;
                () = reached(&mut closing, Phase::Closed) => break,
                Some(ended) = tasks.join_next_with_id() => self.left(ended),
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, peer)) => self.take(stream, peer, &mut tasks).await,
                    Err(error) => self.pause(&error).await,
                },
            }
        }
        // What the system has taken already would be cut off with the listener.
        while let Some((stream, peer)) = backlog(&self.listener) {
            self.take(stream, peer, &mut tasks).await;
        }
        drop(self.listener);
        while tasks.join_next().await.is_some() {}
    }

    fn left(&mut self, ended: Result<(Id, ()), JoinError>) {
        let id = ended.map_or_else(|error| error.id(), |(id, ())| id);
        self.connections.leave(id);
    }

    /// One that was sent away has its socket until its task has ended, so that is waited for.
    async fn take(&mut self, stream: TcpStream, peer: SocketAddr, tasks: &mut JoinSet<()>) {
        let address = peer.ip().to_canonical();
        match self.connections.make_room(address) {
            Room::Free => {}
            Room::Made => {
                self.metrics.evicted(Eviction::ForRoom);
                while tasks.len() > self.connections.len()
                    && let Some(ended) = tasks.join_next_with_id().await
                {
                    self.left(ended);
                }
            }
            Room::None => {
                self.metrics.refused(Refusal::Full);
                return debug!(
                    "Refused a connection, all open connections are waiting for answers"
                );
            }
        }
        let pace = Arc::new(Wait::new());
        let task = self.serve(stream, peer, Arc::clone(&pace), tasks);
        self.connections.enter(address, pace, task);
    }

    fn serve(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        pace: Arc<Wait>,
        tasks: &mut JoinSet<()>,
    ) -> AbortHandle {
        // A reply is written at once and whole: waiting for more to send only delays it.
        if let Err(error) = stream.set_nodelay(true) {
            debug!(%error, "Failed to set TCP_NODELAY on a connection");
        }
        let config = self.config.clone();
        let metrics = Arc::clone(&self.metrics);
        let open = metrics.opened();
        match self.transport.clone() {
            Transport::Plain => tasks.spawn(async move {
                let _open = open;
                connection::serve(heard(stream, &pace), peer, &pace, config, &metrics).await;
            }),
            Transport::Tls(handshake) => tasks.spawn(async move {
                let _open = open;
                let most = config.patience.handshake;
                match handshake.within(most, stream, &pace).await {
                    Ok(stream) => connection::serve(stream, peer, &pace, config, &metrics).await,
                    Err(error) => {
                        debug!(%error, "TLS handshake failed");
                        metrics.handshake_failed(error.class());
                    }
                }
            }),
        }
    }

    /// Without file descriptors or memory the next try fails as well, and at once, unless somebody
    /// goes.
    async fn pause(&mut self, error: &io::Error) {
        let is_of_peer = matches!(
            error.kind(),
            io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
        );
        if !is_of_peer {
            self.metrics.refused(Refusal::System);
            warn!(%error, "Failed to accept a connection, retrying");
            if self.connections.evict_any() == Room::Made {
                self.metrics.evicted(Eviction::ForRoom);
            }
            tokio::time::sleep(AFTER_FAILURE).await;
        }
    }
}

/// A connection that the system has taken. The system itself is asked: tokio knows of one only after
/// its next look at the socket.
fn backlog(listener: &TcpListener) -> Option<(TcpStream, SocketAddr)> {
    let (socket, peer) = SockRef::from(listener).accept().ok()?;
    socket.set_nonblocking(true).ok()?;
    let stream = TcpStream::from_std(socket.into()).ok()?;
    Some((stream, peer.as_socket()?))
}

const AFTER_FAILURE: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests;
