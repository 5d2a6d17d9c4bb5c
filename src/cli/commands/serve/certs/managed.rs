//! Where in a cluster a self-managed authority is kept, and who is to trust it.

use std::sync::Arc;

use rustls::pki_types::ServerName;

use crate::cluster::Cluster;
use crate::cluster::authority::{AuthorityPlace, ClusterStore};
use crate::tls::self_managed::{SelfManaged, serve};
use crate::tls::{Certificates, Observer, SystemClock, TlsConfig, TlsError};
use olmguard_catalog::dns1123;

/// What the flags say of a self-managed certificate.
#[derive(Debug)]
pub(crate) struct ManagedCertificate {
    pub(super) secret: SecretName,
    pub(super) configurations: Vec<String>,
    pub(super) names: Vec<ServerName<'static>>,
    pub(super) terms: TlsConfig,
}

/// A Secret, in the namespace of the program where none is named.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct SecretName {
    namespace: Option<String>,
    name: String,
}

impl ManagedCertificate {
    /// Agrees with the other replicas on an authority, and goes on serving a leaf of it.
    pub(super) async fn start(
        self,
        cluster: &Cluster,
        observer: Arc<dyn Observer>,
    ) -> Result<Certificates, TlsError> {
        let (place, terms) = self.placed(&cluster.namespace);
        let managed = SelfManaged {
            names: place.names.clone(),
            store: ClusterStore::new(cluster.client.clone(), place, Arc::new(SystemClock)),
            terms,
            clock: Arc::new(SystemClock),
        };
        serve(managed, observer).await
    }

    pub(super) fn placed(self, own_namespace: &str) -> (AuthorityPlace, TlsConfig) {
        let own = || own_namespace.to_owned();
        let place = AuthorityPlace {
            namespace: self.secret.namespace.unwrap_or_else(own),
            secret: self.secret.name,
            configurations: self.configurations,
            names: self.names,
        };
        (place, self.terms)
    }
}

impl SecretName {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let (namespace, name) = match text.split_once('/') {
            Some((namespace, name)) => (Some(namespace), name),
            None => (None, text),
        };
        if !dns1123::is_subdomain(name) || !namespace.is_none_or(dns1123::is_label) {
            return Err("expected NAME or NAMESPACE/NAME, such as olmguard-tls".to_owned());
        }
        Ok(Self {
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        })
    }
}

/// The one that the manifests name.
impl Default for SecretName {
    fn default() -> Self {
        Self {
            namespace: None,
            name: "olmguard-tls".to_owned(),
        }
    }
}

/// The webhook configuration that the manifests name.
pub(super) const CONFIGURATION: &str = "olmguard";
