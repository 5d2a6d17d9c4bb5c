//! Accepts connections until the server closes, and serves each one to its end. If too many are open, one is evicted.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tracing::{debug, warn};

use crate::connection::{self, ConnectionConfig, Handshake, Phase, reached};
use crate::limits::Patience;
use crate::pace::{PeerWait, heard};
use crate::restart::unless_lost;
use crate::telemetry::metrics::{ConnectionMetrics, ConnectionRefusal, Eviction};

/// The protocol of a listener below HTTP.
#[derive(Clone, Debug)]
pub(super) enum Transport {
    /// No protocol.
    Plain,
    Tls(Handshake),
}

/// A port: its listener, and how its connections are served.
#[derive(Debug)]
pub(super) struct ServerPort {
    pub(super) listener: TcpListener,
    pub(super) transport: Transport,
    pub(super) connections: ConnectionTable,
    pub(super) config: ConnectionConfig,
    pub(super) metrics: Arc<ConnectionMetrics>,
}

impl ServerPort {
    /// Accepts connections until the server closes, then waits for the open ones to end.
    pub(super) async fn run(mut self) {
        let mut tasks = JoinSet::new();
        while unless_lost("Connection listener", self.accept(&mut tasks))
            .await
            .is_none()
        {}
        // Connections in the kernel's accept queue would be reset when the listener closes. As many as the queue can
        // have are taken: later ones could come without an end.
        for _ in 0..BACKLOG {
            let Some((stream, peer)) = backlog(&self.listener) else {
                break;
            };
            self.take(stream, peer, &mut tasks).await;
        }
        drop(self.listener);
        while tasks.join_next().await.is_some() {}
    }

    /// Accepts connections until the server closes.
    async fn accept(&mut self, tasks: &mut JoinSet<()>) {
        let mut closing = self.config.phase.clone();
        loop {
            tokio::select! {
                biased;
                () = reached(&mut closing, Phase::Closed) => return,
                Some(ended) = tasks.join_next_with_id() => self.left(ended),
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, peer)) => self.take(stream, peer, tasks).await,
                    Err(error) => self.pause(&error).await,
                },
            }
        }
    }

    fn left(&mut self, ended: Result<(Id, ()), JoinError>) {
        let id = ended.map_or_else(|error| error.id(), |(id, ())| id);
        self.connections.leave(id);
    }

    /// Serves a new connection, if there is room. An evicted connection keeps its socket until its task ends, so this
    /// waits for the task.
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
        // A reply is written in one piece, so Nagle's algorithm would only delay it.
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

    /// Evicts a connection and waits after a failed accept. Without file descriptors or memory, the next attempt would
    /// fail immediately too, unless a connection is closed.
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

/// Takes a connection from the kernel's accept queue. This calls the system directly, because tokio learns of a new
/// connection only when it next polls the socket.
fn backlog(listener: &TcpListener) -> Option<(TcpStream, SocketAddr)> {
    let (socket, peer) = SockRef::from(listener).accept().ok()?;
    socket.set_nonblocking(true).ok()?;
    let stream = TcpStream::from_std(socket.into()).ok()?;
    Some((stream, peer.as_socket()?))
}

const AFTER_FAILURE: Duration = Duration::from_millis(100);

// === Listening on an address, on IPv4 if the machine has no IPv6 ===

/// An address cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {addr}: {source}; give another address or port")]
pub struct BindError {
    /// The requested address.
    pub addr: SocketAddr,
    /// The error of the system.
    pub source: io::Error,
}

/// A listening socket, with its address.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) socket: TcpListener,
    pub(super) addr: SocketAddr,
}

/// Listens on an address. `[::]`, which means every address of both families, becomes `0.0.0.0` if the machine has no
/// IPv6.
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

/// Opens a listening socket. A machine can restrict IPv6 sockets to IPv6 by default, but `[::]` must accept both
/// families.
fn socket(addr: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
    if addr.is_ipv6() {
        socket.set_only_v6(addr.ip() != Ipv6Addr::UNSPECIFIED)?;
    }
    // The standard library does the same: a port can be bound again as soon as its server has exited.
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&addr.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// Whether an error can mean that the machine has no IPv6. A kernel without IPv6 reports an unsupported family, and a
/// kernel with IPv6 disabled an unavailable address.
fn lacks_family(error: &io::Error) -> bool {
    !matches!(
        error.kind(),
        io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied
    )
}

/// The requested length of the kernel's accept queue; the kernel may cap it.
const BACKLOG: i32 = 1024;

// === The open connections, and which one is evicted if there are too many ===
//
// Slow clients keep no one out. If all seats are taken, the server evicts the connection that has used the largest
// share of the time allowed in its current state. So a silent handshake is evicted before an idle connection of the
// same age, and the newest connection last. A connection that waits for an answer is never evicted.

/// The connections that are open.
#[derive(Debug)]
pub(super) struct ConnectionTable {
    most: NonZeroUsize,
    most_per_peer: NonZeroUsize,
    patience: Patience,
    seats: HashMap<Id, Seat>,
    peers: HashMap<IpAddr, usize>,
}

/// An open connection.
#[derive(Debug)]
struct Seat {
    peer: IpAddr,
    pace: Arc<PeerWait>,
    task: AbortHandle,
}

/// The result of a request for one more seat.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Seating {
    /// A seat was free.
    Free,
    /// A connection was evicted to free a seat.
    Made,
    /// No seat: every connection that could be evicted waits for an answer.
    None,
}

impl ConnectionTable {
    pub(super) fn new(most: NonZeroUsize, most_per_peer: NonZeroUsize, patience: Patience) -> Self {
        Self {
            most,
            most_per_peer,
            patience,
            seats: HashMap::new(),
            peers: HashMap::new(),
        }
    }

    /// Frees a seat for one more connection of this peer, if it has to.
    pub(super) fn make_room(&mut self, peer: IpAddr) -> Seating {
        let of_peer = self.peers.get(&peer).copied().unwrap_or_default();
        if of_peer >= self.most_per_peer.get() {
            self.evict(|seat| seat.peer == peer)
        } else if self.seats.len() >= self.most.get() {
            self.evict(|_| true)
        } else {
            Seating::Free
        }
    }

    /// Returns the number of connections that have a seat.
    pub(super) fn len(&self) -> usize {
        self.seats.len()
    }

    /// Adds a connection that was opened.
    pub(super) fn enter(&mut self, peer: IpAddr, pace: Arc<PeerWait>, task: AbortHandle) {
        *self.peers.entry(peer).or_default() += 1;
        self.seats.insert(task.id(), Seat { peer, pace, task });
    }

    /// Removes a connection that has ended. An evicted connection was removed before, so its end changes nothing.
    pub(super) fn leave(&mut self, task: Id) {
        let Some(seat) = self.seats.remove(&task) else {
            return;
        };
        if let Some(count) = self.peers.get_mut(&seat.peer) {
            *count -= 1;
            if *count == 0 {
                self.peers.remove(&seat.peer);
            }
        }
    }

    /// Evicts a connection of any peer, because the system has no more resources.
    pub(super) fn evict_any(&mut self) -> Seating {
        self.evict(|_| true)
    }

    fn evict(&mut self, may_go: impl Fn(&Seat) -> bool) -> Seating {
        let candidates = self.seats.iter().filter(|(_, seat)| may_go(seat));
        let strained =
            candidates.filter_map(|(id, seat)| Some((seat.pace.strain(&self.patience)?, *id)));
        let Some((_, id)) = strained.max_by_key(|(strain, _)| *strain) else {
            return Seating::None;
        };
        if let Some(seat) = self.seats.get(&id) {
            seat.task.abort();
        }
        self.leave(id);
        Seating::Made
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use std::io::Write;
    use std::net::IpAddr;
    use std::num::NonZeroUsize;
    use tokio::task::JoinSet;

    use axum::Router;
    use axum::routing::get;
    use tokio::io::AsyncReadExt;
    use tokio::sync::watch;
    use tokio::time::{Instant, timeout};

    use super::*;
    use crate::limits::Patience;
    use crate::pace::WaitingFor;
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

    /// Each client has sent its request, and the server is closed, before the port first polls its socket.
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

    /// An evicted connection is closed before the next one is served.
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
        // No connection is left to evict, so the port only waits.
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

    struct Hall {
        connections: ConnectionTable,
        tasks: JoinSet<()>,
    }

    impl Hall {
        fn of(most: usize, most_per_peer: usize) -> Self {
            Self {
                connections: ConnectionTable::new(
                    NonZeroUsize::new(most).unwrap(),
                    NonZeroUsize::new(most_per_peer).unwrap(),
                    Patience::default(),
                ),
                tasks: JoinSet::new(),
            }
        }

        /// Adds a connection one second after the previous one.
        async fn enter(&mut self, peer: u8, waiting: WaitingFor) -> Id {
            tokio::time::advance(Duration::from_secs(1)).await;
            let pace = Arc::new(PeerWait::new());
            pace.change(waiting);
            let task = self.tasks.spawn(std::future::pending());
            let id = task.id();
            self.connections.enter(address(peer), pace, task);
            id
        }

        /// Returns the connection that was evicted.
        async fn gone(&mut self) -> Id {
            let ended = self.tasks.join_next().await.unwrap().unwrap_err();
            assert!(ended.is_cancelled());
            ended.id()
        }
    }

    fn address(last: u8) -> IpAddr {
        Ipv4Addr::new(192, 0, 2, last).into()
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_used_up_most_patience_goes_first() {
        let mut hall = Hall::of(5, 5);
        let idle = hall.enter(1, WaitingFor::Idle).await;
        hall.enter(1, WaitingFor::Answer).await;
        let fresh = hall.enter(2, WaitingFor::Fresh).await;
        let shaking = hall.enter(2, WaitingFor::Handshake).await;
        let writing = hall.enter(2, WaitingFor::Write).await;
        for expected in [fresh, shaking, writing, idle] {
            assert_eq!(hall.connections.make_room(address(3)), Seating::Made);
            assert_eq!(hall.gone().await, expected);
            hall.enter(3, WaitingFor::Answer).await;
        }
        assert_eq!(hall.connections.make_room(address(3)), Seating::None);
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_just_come_outlasts_who_has_been_idle_for_long() {
        let mut hall = Hall::of(2, 2);
        let idle = hall.enter(1, WaitingFor::Idle).await;
        tokio::time::advance(Duration::from_secs(45)).await;
        hall.enter(2, WaitingFor::Handshake).await;
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(hall.connections.make_room(address(3)), Seating::Made);
        assert_eq!(hall.gone().await, idle);
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_too_many_loses_one_of_its_own() {
        let mut hall = Hall::of(8, 2);
        hall.enter(1, WaitingFor::Handshake).await;
        let own = hall.enter(2, WaitingFor::Idle).await;
        assert_eq!(hall.connections.make_room(address(2)), Seating::Free);
        hall.enter(2, WaitingFor::Answer).await;
        assert_eq!(hall.connections.make_room(address(2)), Seating::Made);
        assert_eq!(hall.gone().await, own);
        assert_eq!(hall.connections.make_room(address(2)), Seating::Free);
    }

    #[tokio::test(start_paused = true)]
    async fn who_leaves_frees_a_seat_once() {
        let mut hall = Hall::of(1, 1);
        let id = hall.enter(1, WaitingFor::Idle).await;
        hall.connections.leave(id);
        hall.connections.leave(id);
        assert_eq!(hall.connections.make_room(address(1)), Seating::Free);
        assert!(hall.connections.peers.is_empty());
    }
}
