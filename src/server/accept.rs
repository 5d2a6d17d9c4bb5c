//! Accepts connections until the server closes, and sees each of them to its end.

use std::io;
use std::time::Duration;

use axum::Router;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tracing::{debug, warn};

use crate::server::connection;
use crate::server::phase::{Phase, reached};
use crate::tls::Certificates;

/// What a listener speaks below HTTP.
#[derive(Clone)]
pub(super) enum Transport {
    Plain,
    Tls(Certificates),
}

/// Accepts until the server is closed, then waits for the connections that are left.
pub(super) async fn run(
    listener: TcpListener,
    transport: Transport,
    router: Router,
    phase: watch::Receiver<Phase>,
) {
    let mut connections = JoinSet::new();
    let mut closing = phase.clone();
    loop {
        tokio::select! {
            biased;
            () = reached(&mut closing, Phase::Closed) => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let (transport, router) = (transport.clone(), router.clone());
                    connections.spawn(serve(stream, transport, router, phase.clone()));
                }
                Err(error) => pause(&error).await,
            },
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn serve(
    stream: TcpStream,
    transport: Transport,
    router: Router,
    phase: watch::Receiver<Phase>,
) {
    // A reply is written at once and whole: waiting for more to send only delays it.
    if let Err(error) = stream.set_nodelay(true) {
        debug!(%error, "Cannot switch off the delay of small packets");
    }
    let Transport::Tls(certificates) = transport else {
        return connection::serve(stream, router, phase).await;
    };
    let acceptor = TlsAcceptor::from(certificates.server_config());
    match tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => connection::serve(stream, router, phase).await,
        Ok(Err(error)) => debug!(%error, "TLS handshake failed"),
        Err(_) => debug!("TLS handshake took too long"),
    }
}

/// Without file descriptors or memory the next try fails as well, and at once.
async fn pause(error: &io::Error) {
    let is_of_peer = matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
    );
    if !is_of_peer {
        warn!(%error, "Cannot accept a connection");
        tokio::time::sleep(AFTER_FAILURE).await;
    }
}

/// How long a TLS handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(5);
const AFTER_FAILURE: Duration = Duration::from_millis(100);
