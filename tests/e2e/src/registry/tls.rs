//! TLS for axum.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Result;
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::pki::Pair;

/// A listener that yields connections after their handshake. Clients that do not trust its
/// certificate are ignored.
pub(crate) struct TlsListener {
    tcp: TcpListener,
    acceptor: TlsAcceptor,
}

impl TlsListener {
    /// Listens on a free port of loopback.
    pub(crate) async fn bind(pair: &Pair) -> Result<Self> {
        Ok(Self {
            tcp: TcpListener::bind(("127.0.0.1", 0)).await?,
            acceptor: Arc::new(configuration(pair)?).into(),
        })
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
    }
}

impl axum::serve::Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, peer) = axum::serve::Listener::accept(&mut self.tcp).await;
            if let Ok(stream) = self.acceptor.accept(stream).await {
                return (stream, peer);
            }
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.address()
    }
}

fn configuration(pair: &Pair) -> Result<ServerConfig> {
    let chain =
        CertificateDer::pem_slice_iter(&fs::read(&pair.cert)?).collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_slice(&fs::read(&pair.key)?)?;
    Ok(
        ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?,
    )
}
