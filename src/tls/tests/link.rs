//! Handshakes in memory.

use std::io;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};

use super::pairs::Pair;

/// Both ends of a connection.
pub(in crate::tls) struct Link {
    pub(in crate::tls) client: client::TlsStream<DuplexStream>,
    pub(in crate::tls) server: server::TlsStream<DuplexStream>,
}

/// Connects to `localhost`, and sends something there and back: with TLS 1.3 a client learns that it
/// is refused only then.
pub(in crate::tls) async fn link(
    server: Arc<ServerConfig>,
    client: &Arc<ClientConfig>,
) -> io::Result<Link> {
    let (near, far) = tokio::io::duplex(1 << 14);
    let name = ServerName::try_from("localhost").unwrap();
    let (client, server) = tokio::join!(
        TlsConnector::from(Arc::clone(client)).connect(name, near),
        TlsAcceptor::from(server).accept(far),
    );
    let mut link = Link {
        server: server?,
        client: client?,
    };
    link.echo().await?;
    Ok(link)
}

impl Link {
    /// One byte there and back.
    pub(in crate::tls) async fn echo(&mut self) -> io::Result<()> {
        self.client.write_all(b"x").await?;
        self.client.flush().await?;
        let byte = self.server.read_u8().await?;
        self.server.write_all(&[byte]).await?;
        self.server.flush().await?;
        assert_eq!(self.client.read_u8().await?, b'x');
        Ok(())
    }

    /// The certificate that the server showed.
    pub(in crate::tls) fn shown(&self) -> CertificateDer<'static> {
        let shown = self.client.get_ref().1.peer_certificates();
        shown.unwrap().first().unwrap().clone()
    }
}

/// A client that trusts this certificate, and shows one of its own or none.
pub(in crate::tls) fn client(
    trusted: &CertificateDer<'static>,
    versions: &[&'static SupportedProtocolVersion],
    own: Option<&Pair>,
) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots);
    Arc::new(match own {
        None => builder.with_no_client_auth(),
        Some(own) => builder
            .with_client_auth_cert(vec![own.der()], own.key_der())
            .unwrap(),
    })
}
