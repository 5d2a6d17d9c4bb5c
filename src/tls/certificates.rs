//! The handle through which a server reads what to show, once a connection.

use std::future::Future;
use std::sync::Arc;
use std::time::SystemTime;

use arc_swap::ArcSwap;
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::task::JoinSet;

use crate::tls::pem::{self, PemFile};
use crate::tls::{Identity, Leaf, TlsConfig, TlsError, Unfit, fitness};

/// What is served, kept up to date as long as one of its clones is there. Cheap to clone and to read.
#[derive(Clone)]
pub struct Certificates {
    current: Current,
    wanted: Arc<[ServerName<'static>]>,
    clients: Clients,
    /// Ends what renews, when the last clone is gone.
    renewal: Arc<JoinSet<()>>,
}

/// Who has to prove who they are when they connect.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Clients {
    /// As the terms have it.
    OfTerms,
    /// Nobody.
    Any,
}

/// Where what is served is changed.
#[derive(Clone)]
pub(super) struct Current(Arc<ArcSwap<ServedCertificate>>);

/// A certificate, and what accepts with it.
pub(super) struct ServedCertificate {
    config: Arc<ServerConfig>,
    /// The same, without a certificate of the client.
    config_for_any: Arc<ServerConfig>,
    leaf: Arc<Leaf>,
    chain: Arc<[CertificateDer<'static>]>,
}

impl Certificates {
    /// Serves this until the task that `renew` makes of it says otherwise. It must be called within
    /// a runtime.
    pub(super) fn new<F>(
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
    #[must_use]
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
        pem::written(&chain)
    }

    /// Whether clients can use the certificate that is served now.
    pub fn fitness(&self, now: SystemTime) -> Result<(), Unfit> {
        fitness::judge(&self.leaf(), &self.wanted, now)
    }
}

impl std::fmt::Debug for Certificates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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
    pub(super) fn replace(&self, served: ServedCertificate) {
        self.0.store(Arc::new(served));
    }
}

impl ServedCertificate {
    pub(super) fn new(
        identity: &Identity,
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

    pub(super) fn leaf(&self) -> &Leaf {
        &self.leaf
    }
}
