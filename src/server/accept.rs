//! Accepting connections until the server closes, and seeing each of them to its end.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tracing::{debug, warn};

use crate::server::connection;
use crate::server::connection::{ConnectionConfig, Phase, reached};
use crate::server::connection_table::{ConnectionTable, Seating};
use crate::server::handshake::Handshake;
use crate::server::pace::{PeerWait, heard};
use crate::telemetry::metrics::{ConnectionMetrics, ConnectionRefusal, Eviction};

/// What a listener speaks below HTTP.
#[derive(Clone, Debug)]
pub(super) enum Transport {
    /// Nothing.
    Plain,
    Tls(Handshake),
}

/// A port: where connections come in, and how they are served.
#[derive(Debug)]
pub(super) struct ServerPort {
    pub(super) listener: TcpListener,
    pub(super) transport: Transport,
    pub(super) connections: ConnectionTable,
    pub(super) config: ConnectionConfig,
    pub(super) metrics: Arc<ConnectionMetrics>,
}

impl ServerPort {
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
            Seating::Free => {}
            Seating::Made => {
                self.metrics.evicted(Eviction::ForRoom);
                while tasks.len() > self.connections.len()
                    && let Some(ended) = tasks.join_next_with_id().await
                {
                    self.left(ended);
                }
            }
            Seating::None => {
                self.metrics.refused(ConnectionRefusal::Full);
                return debug!(
                    "Refused a connection, all open connections are waiting for answers"
                );
            }
        }
        let pace = Arc::new(PeerWait::new());
        let task = self.serve(stream, peer, Arc::clone(&pace), tasks);
        self.connections.enter(address, pace, task);
    }

    fn serve(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        pace: Arc<PeerWait>,
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
            self.metrics.refused(ConnectionRefusal::System);
            warn!(%error, "Failed to accept a connection, retrying");
            if self.connections.evict_any() == Seating::Made {
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

// === Listening on an address, on IPv4 where a machine has no IPv6 ===

/// An address cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {addr}: {source}; give another address or port")]
pub struct BindError {
    /// The address as asked for.
    pub addr: SocketAddr,
    /// What the system says.
    pub source: io::Error,
}

/// A socket that accepts, and where.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) socket: TcpListener,
    pub(super) addr: SocketAddr,
}

/// Listens. `[::]`, which stands for every address of either family, is `0.0.0.0` where there is
/// no IPv6.
pub(super) fn bind(addr: SocketAddr) -> Result<Listener, BindError> {
    let failed = |source| BindError { addr, source };
    let socket = match socket(addr) {
        Err(error) if addr.ip() == Ipv6Addr::UNSPECIFIED && lacks_family(&error) => {
            let addr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), addr.port());
            socket(addr)
        }
        bound => bound,
    }
    .map_err(failed)?;
    let addr = socket.local_addr().map_err(failed)?;
    Ok(Listener { socket, addr })
}

/// A machine may be set up so that a socket of IPv6 takes nobody else; `[::]` is for both all the
/// same.
fn socket(addr: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
    if addr.is_ipv6() {
        socket.set_only_v6(addr.ip() != Ipv6Addr::UNSPECIFIED)?;
    }
    // As the standard library does: a port is free again as soon as its server is gone.
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&addr.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// A kernel without IPv6 knows no such family; one that has it switched off, no such address.
fn lacks_family(error: &io::Error) -> bool {
    !matches!(
        error.kind(),
        io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied
    )
}

/// How many connections the system takes before they are accepted; it may allow fewer.
const BACKLOG: i32 = 1024;

#[cfg(test)]
mod tests {
    //! A port at its end, and without descriptors.

    use std::io::Write;
    use std::net::IpAddr;
    use std::num::NonZeroUsize;

    use axum::Router;
    use axum::routing::get;
    use tokio::io::AsyncReadExt;
    use tokio::sync::watch;
    use tokio::time::{Instant, timeout};

    use super::*;
    use crate::server::limits::Patience;
    use crate::server::pace::WaitingFor;
    use crate::telemetry::Metrics;

    /// A port for plain HTTP, and what it counts.
    async fn port(phase: watch::Receiver<Phase>) -> (ServerPort, Metrics) {
        let metrics = Metrics::new();
        let (most, patience) = (NonZeroUsize::MAX, Patience::default());
        let port = ServerPort {
            listener: TcpListener::bind("127.0.0.1:0").await.unwrap(),
            transport: Transport::Plain,
            connections: ConnectionTable::new(most, most, patience),
            config: ConnectionConfig {
                router: Router::new().route("/", get(async || "here")),
                patience,
                phase,
            },
            metrics: Arc::clone(&metrics.connections),
        };
        (port, metrics)
    }

    fn counts(metrics: &Metrics, series: &str) -> bool {
        metrics.render().lines().any(|line| line == series)
    }

    /// Both of its ends are done before the port is looked at for the first time.
    #[tokio::test]
    async fn what_the_system_took_before_the_end_is_answered() {
        let (sender, phase) = watch::channel(Phase::Serving);
        let (port, _) = port(phase).await;
        let address = port.listener.local_addr().unwrap();
        let mut clients: Vec<_> = (0..3)
            .map(|_| {
                let mut client = std::net::TcpStream::connect(address).unwrap();
                client
                    .write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
                    .unwrap();
                client
            })
            .collect();
        sender.send_replace(Phase::Closed);
        let running = tokio::spawn(port.run());
        for client in clients.drain(..) {
            client.set_nonblocking(true).unwrap();
            let mut client = TcpStream::from_std(client).unwrap();
            let mut answer = String::new();
            let read = client.read_to_string(&mut answer);
            timeout(DEADLINE, read).await.unwrap().unwrap();
            assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
            assert!(answer.ends_with("\r\n\r\nhere"), "{answer}");
        }
        timeout(DEADLINE, running).await.unwrap().unwrap();
        assert!(std::net::TcpStream::connect(address).is_err());
    }

    /// A connection that is sent away is gone before the next one is served.
    #[tokio::test]
    async fn there_are_never_more_connections_than_the_limit() {
        let (_sender, phase) = watch::channel(Phase::Serving);
        let (mut port, metrics) = port(phase).await;
        let most = NonZeroUsize::new(2).unwrap();
        port.connections = ConnectionTable::new(most, most, Patience::default());
        let address = port.listener.local_addr().unwrap();
        let (mut tasks, mut clients) = (JoinSet::new(), Vec::new());
        for number in 1..=8 {
            clients.push(std::net::TcpStream::connect(address).unwrap());
            let (stream, peer) = port.listener.accept().await.unwrap();
            port.take(stream, peer, &mut tasks).await;
            assert_eq!(tasks.len(), number.min(2));
            let open = format!("olmguard_connections{{port=\"reviews\"}} {}", number.min(2));
            assert!(counts(&metrics, &open), "{open}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn without_descriptors_one_connection_goes_and_there_is_a_pause() {
        let (_sender, phase) = watch::channel(Phase::Serving);
        let (mut port, metrics) = port(phase).await;
        let mut tasks = JoinSet::new();
        let pace = Arc::new(PeerWait::new());
        pace.change(WaitingFor::Idle);
        let task = tasks.spawn(std::future::pending::<()>());
        port.connections.enter(PEER, pace, task);

        let begun = Instant::now();
        port.pause(&io::Error::other("too many open files")).await;
        assert_eq!(begun.elapsed(), AFTER_FAILURE);
        let ended = tasks.join_next().await.unwrap();
        assert!(ended.unwrap_err().is_cancelled());
        for series in [
            "olmguard_connections_refused_total{port=\"reviews\",reason=\"system\"} 1",
            "olmguard_connections_evicted_total{port=\"reviews\",reason=\"for_room\"} 1",
        ] {
            assert!(counts(&metrics, series), "{series}");
        }
        // Nobody is left to go: it only waits.
        port.pause(&io::Error::other("too many open files")).await;
        let evicted = "olmguard_connections_evicted_total{port=\"reviews\",reason=\"for_room\"} 1";
        assert!(counts(&metrics, evicted));
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_has_gone_is_nothing_to_wait_for() {
        let (_sender, phase) = watch::channel(Phase::Serving);
        let (mut port, metrics) = port(phase).await;
        let begun = Instant::now();
        for kind in [
            io::ErrorKind::ConnectionAborted,
            io::ErrorKind::ConnectionReset,
        ] {
            port.pause(&kind.into()).await;
        }
        assert_eq!(begun.elapsed(), Duration::ZERO);
        let series = "olmguard_connections_refused_total{port=\"reviews\",reason=\"system\"} 0";
        assert!(counts(&metrics, series));
    }

    const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    const DEADLINE: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn port_0_becomes_a_real_one() {
        let listener = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        assert_ne!(listener.addr.port(), 0);
        let listener = bind("[::]:0".parse().unwrap()).unwrap();
        assert!(listener.addr.ip().is_unspecified());
    }

    #[tokio::test]
    async fn every_address_is_one_of_either_family() {
        let listener = bind("[::]:0".parse().unwrap()).unwrap();
        let v4 = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), listener.addr.port());
        let (accepted, _client) = tokio::join!(listener.socket.accept(), TcpStream::connect(v4));
        assert!(accepted.unwrap().1.ip().to_canonical().is_ipv4());
    }

    #[tokio::test]
    async fn an_address_in_use_is_named() {
        let taken = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let error = bind(taken.addr).unwrap_err().to_string();
        let expected = format!("cannot listen on {}: Address already in use", taken.addr);
        assert!(error.starts_with(&expected), "{error}");
    }

    #[test]
    fn a_taken_port_is_no_reason_to_try_the_other_family() {
        assert!(!lacks_family(&io::ErrorKind::AddrInUse.into()));
        assert!(lacks_family(&io::ErrorKind::AddrNotAvailable.into()));
        assert!(lacks_family(&io::ErrorKind::Unsupported.into()));
    }
}
