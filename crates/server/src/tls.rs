//! The certificates that the webhook shows: where they come from, how they are renewed while it
//! serves, and on which terms a connection is taken.
//!
//! ```text
//! files ----------.                          accept, once a connection
//! self_signed ----+--> Identity + Terms --> Certificates::server_config()
//! self_managed ---'    (checked whole)       one swap of the whole rustls::ServerConfig
//! ```
//!
//! Invariants: what is served was checked as a whole, certificate against key, before it replaced
//! what was served before; what cannot be used is reported and never served; nothing of a key is in
//! a text, a log or a `Debug`. Each `ServerConfig` has session storage of its own, so a session of
//! an earlier one is never resumed.
//!
//! What held a key is wiped when it is dropped: what was read from a file, DER, what is stored. Not
//! within reach are what ring and `serde_json` keep inside, and what the kernel has of a file.

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

// === The time of day, from outside ===

/// What tells the time of day.
pub trait Clock: Debug + Send + Sync {
    /// The time of day, now.
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

// === Who is told what becomes of the certificates, for counting ===

/// Is told of each change; this module has logged it already.
pub trait Observer: Send + Sync + 'static {
    /// Something new is served from now on.
    fn reloaded(&self, leaf: &Leaf);

    /// What was found cannot be used, or nothing can be had: what was served before still is, at the
    /// start nothing. Told once a change.
    fn refused(&self, error: &TlsError);
}

/// Nobody.
impl Observer for () {
    fn reloaded(&self, _: &Leaf) {}

    fn refused(&self, _: &TlsError) {}
}

// === Reasons why a certificate, its key, or the terms around them cannot be used ===
//
// Texts name files and what is wrong with them, never anything of a key.

/// Why nothing can be served, or nothing new.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] PemError),
    /// The certificates of a server are more than clients read.
    #[error(
        "{}: {certificates} certificates with {length} bytes of DER: clients cannot read so many; expected at most \
         {limit} bytes: the leaf and its intermediate certificates, without other CA certificates",
        path.display()
    )]
    LongChain {
        /// The file.
        path: PathBuf,
        /// How many there are.
        certificates: usize,
        /// How many bytes they have together.
        length: usize,
        /// How many they can have.
        limit: usize,
    },
    /// Certificate and key are not taken.
    #[error("{} and {}: cannot be used: {source}; {EXPECTED}", cert.display(), key.display())]
    Pair {
        /// The file of the certificate.
        cert: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// What is wrong.
        source: rustls::Error,
    },
    /// A certificate of the authorities of clients is not taken.
    #[error("{}: certificate {number} cannot be used as a CA certificate for clients: {why}", path.display())]
    ClientCa {
        /// The file.
        path: PathBuf,
        /// The number of the certificate, from 1.
        number: usize,
        /// What is wrong.
        why: String,
    },
    /// No certificate can be made here.
    #[error("cannot make a certificate: {0}")]
    Made(String),
    /// No leaf is to be had of our own authority.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
}

const EXPECTED: &str = "expected the private key of the certificate: RSA of 2048 bits or more, \
                        ECDSA P-256 or P-384, or Ed25519";

// === The handle through which a server reads the certificate to present, once a connection ===

/// What is served, kept up to date as long as one of its clones is there. Cheap to clone and to read.
#[derive(Clone)]
pub struct Certificates {
    current: Current,
    wanted: Arc<[ServerName<'static>]>,
    clients: Clients,
    /// Ends what renews, when the last clone is gone.
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

/// A certificate, and what accepts with it.
struct ServedCertificate {
    config: Arc<ServerConfig>,
    /// The same configuration, without client certificates.
    config_for_any: Arc<ServerConfig>,
    leaf: Arc<Leaf>,
    chain: Arc<[CertificateDer<'static>]>,
}

impl Certificates {
    /// Serves this until the task that `renew` makes of it says otherwise. It must be called within
    /// a runtime.
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

    /// The same certificates for a port whose clients show none: they prove who they are otherwise.
    pub fn for_any_client(&self) -> Self {
        Self {
            clients: Clients::Any,
            ..self.clone()
        }
    }

    /// What to accept the next connection with.
    pub fn server_config(&self) -> Arc<ServerConfig> {
        let served = self.current.0.load();
        Arc::clone(match self.clients {
            Clients::OfTerms => &served.config,
            Clients::Any => &served.config_for_any,
        })
    }

    /// What the certificate says that is served now.
    pub fn leaf(&self) -> Arc<Leaf> {
        Arc::clone(&self.current.0.load().leaf)
    }

    /// What is shown to clients now, as PEM: the leaf first, then its chain.
    pub fn chain_pem(&self) -> String {
        let chain = Arc::clone(&self.current.0.load().chain);
        pem_file::written(&chain)
    }

    /// Whether clients can use the certificate that is served now.
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
    /// Connections that are open keep what they were accepted with.
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
// A client is checked when it connects. An open connection can outlive the CA that signed the certificate
// of the client; this module knows no connections and closes none.

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
    fn client_file(&self) -> Result<Option<PemFile>, TlsError> {
        let Some(ca) = &self.client_ca else {
            return Ok(None);
        };
        let file = PemFile::read_again(&ca.file)?;
        ClientVerifier::new(ca, &file)?;
        Ok(Some(file))
    }

    /// Everything that accepting a connection takes. HTTP/1.1 alone is offered: it is what the API
    /// server speaks to a webhook that does not offer more.
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

/// A resumed session is not asked for its certificate again: one that expires would go on.
fn without_resumption(mut config: ServerConfig) -> ServerConfig {
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    config
}

// === A self-signed certificate, to try olmguard out ===

/// Makes a certificate for `localhost`, `127.0.0.1`, `::1` and these names, and serves it for good.
/// Call it within a runtime.
///
/// The authorities of clients are read once.
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
