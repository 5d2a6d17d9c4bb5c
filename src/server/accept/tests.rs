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
async fn port(phase: watch::Receiver<Phase>) -> (Port, Metrics) {
    let metrics = Metrics::new();
    let (most, patience) = (NonZeroUsize::MAX, Patience::default());
    let port = Port {
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
    let pace = Arc::new(Wait::new());
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

const PEER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
const DEADLINE: Duration = Duration::from_secs(20);
