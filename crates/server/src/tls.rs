//! The certificates that the webhook presents: their source, their renewal while it serves, and the terms on which a
//! connection is accepted.
//!
//! ```text
//! files ----------.                          accept, once per connection
//! self_signed ----+--> Identity + Terms --> Certificates::server_config()
//! self_managed ---'    (checked whole)       one swap of the whole rustls::ServerConfig
//! ```
//!
//! Invariants: a configuration is checked as a whole, certificate against key, before it replaces the served one; an
//! unusable one is reported and never served; no part of a key is in a text, a log or `Debug` output. Each
//! `ServerConfig` has its own session storage, so a session of an earlier one is never resumed.
//!
//! Every buffer that had a key is wiped when it is dropped: file contents, DER and stored content. The internal copies
//! of ring and `serde_json`, and the kernel's copies of a file, are out of reach.

pub mod files;
mod leaf;
pub mod self_managed;
#[cfg(any(test, feature = "test-util"))]
pub mod test_util;
#[cfg(test)]
mod tests;
mod trust;

pub use leaf::{Leaf, ServerIdentity, Unfit, is_for, utc};
pub use trust::{Authorities, ClientCa, Distrust};

use std::fmt::{self, Debug};
use std::future::{Future, pending};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use arc_swap::ArcSwap;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::NoServerSessionStorage;
use rustls::sign::SingleCertAndKey;
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, SupportedProtocolVersion};
use tokio::task::JoinSet;

use crate::pem_file::{self, PemError, PemFile};
use leaf::{IdentityOrigin, judge_leaf};
use self_managed::AuthorityError;
use trust::ClientVerifier;

// === The time of day, as an input ===

/// A source of the time of day.
pub trait Clock: Debug + Send + Sync {
    /// Returns the current time of day.
    fn now(&self) -> SystemTime;
}

/// The clock of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads it: certificates and windows of policies begin and end by the time of day"
    )]
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

// === The observer of certificate changes, for metrics ===

/// An observer of certificate changes. This module has already logged each change.
pub trait Observer: Send + Sync + 'static {
    /// Reports that a new configuration is served from now on.
    fn reloaded(&self, leaf: &Leaf);

    /// Reports that a new certificate is unusable or unavailable. The previous one, if any, is still served. Called
    /// once for each change of the fault.
    fn refused(&self, error: &TlsError);
}

/// An observer that ignores all changes.
impl Observer for () {
    fn reloaded(&self, _: &Leaf) {}

    fn refused(&self, _: &TlsError) {}
}

// === Reasons why a certificate, its key, or the terms around them cannot be used ===
//
// Texts name files and their faults, and never contain any part of a key.

/// The reason why no certificate, or no new one, can be served.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] PemError),
    /// The certificate chain of the server is larger than clients can read.
    #[error(
        "{}: {certificates} certificates with {length} bytes of DER: clients cannot read so many; expected at most \
         {limit} bytes: the leaf and its intermediate certificates, without other CA certificates",
        path.display()
    )]
    LongChain {
        /// The file.
        path: PathBuf,
        /// The number of certificates.
        certificates: usize,
        /// Their total size in bytes.
        length: usize,
        /// The largest accepted size in bytes.
        limit: usize,
    },
    /// The certificate and the key cannot be used.
    #[error("{} and {}: cannot be used: {source}; {EXPECTED}", cert.display(), key.display())]
    Pair {
        /// The file of the certificate.
        cert: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// The cause.
        source: rustls::Error,
    },
    /// A CA certificate for clients cannot be used.
    #[error("{}: certificate {number} cannot be used as a CA certificate for clients: {why}", path.display())]
    ClientCa {
        /// The file.
        path: PathBuf,
        /// The number of the certificate, from 1.
        number: usize,
        /// The cause.
        why: String,
    },
    /// No certificate can be generated.
    #[error("cannot make a certificate: {0}")]
    Made(String),
    /// The self-managed CA cannot issue a certificate.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
}

const EXPECTED: &str = "expected the private key of the certificate: RSA of 2048 bits or more, \
                        ECDSA P-256 or P-384, or Ed25519";

// === The handle through which a server reads the certificate for each connection ===

/// The served certificates, renewed as long as a clone of the handle exists. Cheap to clone and to read.
#[derive(Clone)]
pub struct Certificates {
    current: Current,
    wanted: Arc<[ServerName<'static>]>,
    clients: Clients,
    /// Aborts the renewal when the last clone is dropped.
    renewal: Arc<JoinSet<()>>,
}

/// The clients that must present a certificate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Clients {
    /// The clients that the terms name.
    OfTerms,
    /// All clients, without a certificate.
    Any,
}

/// The served certificate, which can be replaced.
#[derive(Clone)]
struct Current(Arc<ArcSwap<ServedCertificate>>);

/// A certificate, with the configurations that serve it.
struct ServedCertificate {
    config: Arc<ServerConfig>,
    /// The same configuration, without client certificates.
    config_for_any: Arc<ServerConfig>,
    leaf: Arc<Leaf>,
    chain: Arc<[CertificateDer<'static>]>,
}

impl Certificates {
    /// Serves `first` until the task from `renew` replaces it. Must be called within a runtime.
    fn new<F>(
        first: ServedCertificate,
        wanted: Vec<ServerName<'static>>,
        renew: impl FnOnce(Current) -> F,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let current = Current(Arc::new(ArcSwap::from_pointee(first)));
        let mut renewal = JoinSet::new();
        renewal.spawn(renew(current.clone()));
        Self {
            current,
            wanted: wanted.into(),
            clients: Clients::OfTerms,
            renewal: Arc::new(renewal),
        }
    }

    /// The same certificates for a port whose clients present none and authenticate otherwise.
    pub fn for_any_client(&self) -> Self {
        Self {
            clients: Clients::Any,
            ..self.clone()
        }
    }

    /// Returns the configuration for the next connection.
    pub fn server_config(&self) -> Arc<ServerConfig> {
        let served = self.current.0.load();
        Arc::clone(match self.clients {
            Clients::OfTerms => &served.config,
            Clients::Any => &served.config_for_any,
        })
    }

    /// Returns the facts of the certificate that is served now.
    pub fn leaf(&self) -> Arc<Leaf> {
        Arc::clone(&self.current.0.load().leaf)
    }

    /// Returns the certificates that are presented now, as PEM: the leaf first, then its chain.
    pub fn chain_pem(&self) -> String {
        let chain = Arc::clone(&self.current.0.load().chain);
        pem_file::written(&chain)
    }

    /// Checks whether clients can use the certificate that is served now.
    pub fn fitness(&self, now: SystemTime) -> Result<(), Unfit> {
        judge_leaf(&self.leaf(), &self.wanted, now)
    }
}

impl Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificates")
            .field("leaf", &self.leaf())
            .field("wanted", &self.wanted)
            .field("clients", &self.clients)
            .field("renewals", &self.renewal.len())
            .finish_non_exhaustive()
    }
}

impl Current {
    /// Replaces the certificate. Open connections keep the configuration that accepted them.
    fn replace(&self, served: ServedCertificate) {
        self.0.store(Arc::new(served));
    }
}

impl ServedCertificate {
    fn new(
        identity: &ServerIdentity,
        terms: &TlsConfig,
        client_file: Option<&PemFile>,
    ) -> Result<Self, TlsError> {
        let config = Arc::new(terms.server_config(identity, client_file)?);
        let config_for_any = match client_file {
            Some(_) => Arc::new(terms.server_config(identity, None)?),
            None => Arc::clone(&config),
        };
        Ok(Self {
            config,
            config_for_any,
            leaf: Arc::clone(identity.leaf()),
            chain: identity.pair().cert.as_slice().into(),
        })
    }

    fn leaf(&self) -> &Leaf {
        &self.leaf
    }
}

// === The terms of a connection: the versions of TLS, and which clients are accepted ===
//
// The two are independent: a request for client certificates does not change the versions.
//
// A client is checked when it connects. An open connection can outlive the CA that signed the client's certificate;
// this module does not track connections and closes none.

/// The terms of every connection.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TlsConfig {
    /// The oldest supported version of TLS.
    pub min_version: MinVersion,
    /// The CA that must have signed the certificates of clients; `None` to request no certificate.
    pub client_ca: Option<ClientCa>,
}

/// The oldest supported version of TLS.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum MinVersion {
    /// Supports TLS 1.2 and 1.3.
    #[default]
    V1_2,
    /// Supports TLS 1.3 only.
    V1_3,
}

impl TlsConfig {
    /// Reads the CA certificates for clients, if configured, and checks that they can be used.
    fn client_file(&self) -> Result<Option<PemFile>, TlsError> {
        let Some(ca) = &self.client_ca else {
            return Ok(None);
        };
        let file = PemFile::read_again(&ca.file)?;
        ClientVerifier::new(ca, &file)?;
        Ok(Some(file))
    }

    /// Returns the complete configuration to accept connections. It offers HTTP/1.1 only, which is what the API server
    /// uses for a webhook that offers nothing else.
    fn server_config(
        &self,
        identity: &ServerIdentity,
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

/// Disables resumption. A resumed session presents no certificate again, so an expired one would stay accepted.
fn without_resumption(mut config: ServerConfig) -> ServerConfig {
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    config
}

// === A self-signed certificate, to try olmguard out ===

/// Generates a certificate for `localhost`, `127.0.0.1`, `::1` and these names, and never renews it. Must be called
/// within a runtime.
///
/// The CA certificates for clients are read only once.
pub fn self_signed(
    terms: &TlsConfig,
    names: Vec<ServerName<'static>>,
) -> Result<Certificates, TlsError> {
    let served = ServedCertificate::new(&identity(&names)?, terms, terms.client_file()?.as_ref())?;
    Ok(Certificates::new(served, names, |_| pending()))
}

fn identity(names: &[ServerName<'_>]) -> Result<ServerIdentity, TlsError> {
    let own = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let names = names.iter().map(|name| name.to_str().into_owned());
    let names: Vec<String> = own.into_iter().chain(names).collect();
    let made = rcgen::generate_simple_self_signed(names)
        .map_err(|error| TlsError::Made(error.to_string()))?;
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    ServerIdentity::new(vec![made.cert.der().clone()], key, &IdentityOrigin::Made)
}
