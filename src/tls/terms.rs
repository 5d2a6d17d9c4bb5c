//! On which terms a connection is taken: the versions of TLS, and who may come.
//!
//! The two are independent: asking clients for a certificate changes nothing about the versions.
//!
//! A client is judged when it connects: a connection that is open outlives the authority that vouched
//! for the client. To close it is not of this module, which knows no connections.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::server::NoServerSessionStorage;
use rustls::sign::SingleCertAndKey;
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, SupportedProtocolVersion};

use crate::tls::client::ClientVerifier;
use crate::tls::pem::PemFile;
use crate::tls::{ClientCa, Identity, TlsError};

/// The terms of every connection.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TlsConfig {
    /// The oldest version of TLS that is spoken.
    pub min_version: MinVersion,
    /// Whom clients must be vouched for by; `None` to ask for no certificate.
    pub client_ca: Option<ClientCa>,
}

/// The oldest version of TLS that is spoken.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum MinVersion {
    /// TLS 1.2 and 1.3.
    #[default]
    V1_2,
    /// TLS 1.3 alone.
    V1_3,
}

impl TlsConfig {
    /// Reads the file of the authorities of clients, if there is one, and sees that it can be used.
    pub(super) fn client_file(&self) -> Result<Option<PemFile>, TlsError> {
        let Some(ca) = &self.client_ca else {
            return Ok(None);
        };
        let file = PemFile::read(&ca.file)?;
        ClientVerifier::new(ca, &file)?;
        Ok(Some(file))
    }

    /// Everything that accepting a connection takes. HTTP/1.1 alone is offered: it is what the API
    /// server speaks to a webhook that does not offer more.
    pub(super) fn server_config(
        &self,
        identity: &Identity,
        client_file: Option<&PemFile>,
    ) -> Result<ServerConfig, TlsError> {
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&self.min_version.spoken())
            .expect("the provider has suites for TLS 1.2 and 1.3");
        let resolver = Arc::new(SingleCertAndKey::from(identity.pair()));
        let mut config = match self.client_ca.as_ref().zip(client_file) {
            None => builder.with_no_client_auth().with_cert_resolver(resolver),
            Some((ca, file)) => {
                let verifier = ClientVerifier::new(ca, file)?;
                let builder = builder.with_client_cert_verifier(Arc::new(verifier));
                without_resumption(builder.with_cert_resolver(resolver))
            }
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

impl MinVersion {
    fn spoken(self) -> Vec<&'static SupportedProtocolVersion> {
        match self {
            Self::V1_2 => vec![&TLS13, &TLS12],
            Self::V1_3 => vec![&TLS13],
        }
    }
}

/// A resumed session is not asked for its certificate again: one that expires would go on.
fn without_resumption(mut config: ServerConfig) -> ServerConfig {
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    config
}
