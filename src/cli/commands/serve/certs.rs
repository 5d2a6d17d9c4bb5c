//! The flags about the certificate of a server and about its clients, which must be consistent.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use clap::ValueEnum;
use clap::builder::BoolishValueParser;
use rustls::pki_types::ServerName;
use tracing::info;

use crate::cli::args::catalogs::UsageError;
use crate::cli::args::cluster::object_name;
use crate::cli::args::{NamedValue, heading, one_of};
use crate::cli::commands::serve::ServeError;
use crate::cluster::Cluster;
use crate::cluster::authority::{AuthorityPlace, ClusterStore};
use olmguard_catalog::dns1123;
use olmguard_server::tls::files::{self, CertificateFiles, POLL};
use olmguard_server::tls::self_managed::{SelfManaged, serve};
use olmguard_server::tls::{
    Certificates, ClientCa, MinVersion, Observer, SystemClock, TlsConfig, TlsError, self_signed,
};

/// The flags about certificates.
#[derive(clap::Args, Debug, Default)]
#[command(next_help_heading = heading::TLS)]
pub(crate) struct CertsArgs {
    /// Source of the certificate
    #[arg(long, value_name = "SOURCE", value_enum)]
    certs: Option<CertificateSource>,

    /// Create a certificate for localhost at each start, to try olmguard
    #[arg(long, value_parser = BoolishValueParser::new())]
    self_signed: bool,

    /// Certificate and its chain, PEM; reloaded when it changes
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,

    /// Key of the certificate, PEM; reloaded when it changes
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,

    /// Secret of the self-managed CA [default: olmguard-tls]
    #[arg(long, value_name = "[NAMESPACE/]NAME", value_parser = SecretName::read)]
    tls_secret: Option<SecretName>,

    /// Webhook configuration to watch (repeatable) [default: olmguard]
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = object_name)]
    webhook_configuration: Vec<String>,

    /// Minimum TLS version
    #[arg(
        long,
        value_name = "VERSION",
        value_parser = one_of(&MIN_VERSIONS),
        default_value = "1.2",
    )]
    tls_min_version: MinVersion,

    /// Name that the certificate must have (repeatable)
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = server_name)]
    tls_server_name: Vec<OptionalName>,

    /// Accept only clients with a certificate of these CAs, PEM
    #[arg(long, value_name = "FILE")]
    client_ca: Option<PathBuf>,

    /// Accept only clients with this CN, DNS name or URI (repeatable)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    client_allowed: Vec<String>,
}

/// A name; `None` if an environment variable is set to an empty text.
#[derive(Clone, Debug)]
struct OptionalName(Option<ServerName<'static>>);

/// Where a certificate comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum CertificateSource {
    /// The files of --tls-cert and --tls-key
    Files,
    /// A CA that the replicas keep in a Secret of their cluster
    SelfManaged,
    /// Created at each start, to try olmguard
    SelfSigned,
}

/// The certificate that the flags name, once they are known to be consistent.
#[derive(Debug)]
pub(crate) enum Certs {
    Files(CertificateFiles),
    SelfManaged(ManagedCertificate),
    SelfSigned(TlsConfig, Vec<ServerName<'static>>),
}

impl CertsArgs {
    /// The certificate that the flags name, or an error if they contradict each other.
    pub(crate) fn resolve(self) -> Result<Certs, UsageError> {
        match self.source()? {
            CertificateSource::Files => self.files().map(Certs::Files),
            CertificateSource::SelfManaged => self.managed().map(Certs::SelfManaged),
            CertificateSource::SelfSigned => Ok(Certs::SelfSigned(self.terms()?, self.names())),
        }
    }

    fn source(&self) -> Result<CertificateSource, UsageError> {
        let said = [
            self.certs.map(|source| (source.flag(), source)),
            self.self_signed
                .then_some(("--self-signed", CertificateSource::SelfSigned)),
            self.tls_cert
                .as_ref()
                .map(|_| ("--tls-cert", CertificateSource::Files)),
            self.tls_key
                .as_ref()
                .map(|_| ("--tls-key", CertificateSource::Files)),
            self.tls_secret
                .as_ref()
                .map(|_| ("--tls-secret", CertificateSource::SelfManaged)),
            self.webhook_configuration
                .first()
                .map(|_| ("--webhook-configuration", CertificateSource::SelfManaged)),
        ];
        let mut said = said.into_iter().flatten();
        let (one, source) = said.next().ok_or(UsageError::NoTls)?;
        // With files, this flag names the configuration to compare. It does not mean that olmguard writes the CA
        // bundle.
        let agrees = |flag: &str, other| {
            other == source
                || (source == CertificateSource::Files && flag == "--webhook-configuration")
        };
        match said.find(|(flag, other)| !agrees(flag, *other)) {
            None => Ok(source),
            Some((other, _)) => Err(UsageError::TwoTls { one, other }),
        }
    }

    fn files(self) -> Result<CertificateFiles, UsageError> {
        let (terms, wanted) = (self.terms()?, self.names());
        let half = |missing| UsageError::HalfTls { missing };
        Ok(CertificateFiles {
            cert: self.tls_cert.ok_or_else(|| half("--tls-cert"))?,
            key: self.tls_key.ok_or_else(|| half("--tls-key"))?,
            terms,
            wanted,
            poll: POLL,
        })
    }

    fn managed(self) -> Result<ManagedCertificate, UsageError> {
        let (terms, names) = (self.terms()?, self.names());
        if names.is_empty() {
            return Err(UsageError::NoServerName);
        }
        let mut configurations = self.webhook_configuration;
        if configurations.is_empty() {
            configurations.push(CONFIGURATION.to_owned());
        }
        Ok(ManagedCertificate {
            secret: self.tls_secret.unwrap_or_default(),
            configurations,
            names,
            terms,
        })
    }

    /// The webhook configurations that the flags name.
    pub(super) fn configurations(&self) -> &[String] {
        &self.webhook_configuration
    }

    pub(super) fn names(&self) -> Vec<ServerName<'static>> {
        let names = self.tls_server_name.iter();
        names
            .filter_map(|OptionalName(name)| name.clone())
            .collect()
    }

    fn terms(&self) -> Result<TlsConfig, UsageError> {
        let allowed = self.client_allowed.iter();
        let allowed: BTreeSet<_> = allowed.filter(|name| !name.is_empty()).cloned().collect();
        let client_ca = match &self.client_ca {
            Some(file) => Some(ClientCa {
                file: file.clone(),
                allowed,
            }),
            None if allowed.is_empty() => None,
            None => return Err(UsageError::AllowedByNobody),
        };
        Ok(TlsConfig {
            min_version: self.tls_min_version,
            client_ca,
        })
    }
}

impl Certs {
    /// Starts to serve the certificate. A self-managed one needs a cluster for its CA.
    pub(crate) async fn start(
        self,
        cluster: Option<&Cluster>,
        observer: Arc<dyn Observer>,
    ) -> Result<Certificates, ServeError> {
        Ok(match self {
            Self::Files(files) => {
                if files.wanted.is_empty() {
                    info!(
                        "Skipping the certificate names in the readiness check, --tls-server-name is not set"
                    );
                }
                files::serve(files, observer)?
            }
            Self::SelfManaged(managed) => {
                let cluster = cluster.ok_or(UsageError::NoCluster)?;
                managed.start(cluster, observer).await?
            }
            Self::SelfSigned(terms, names) => self_signed(&terms, names)?,
        })
    }
}

impl CertificateSource {
    fn flag(self) -> &'static str {
        match self {
            Self::Files => "--certs files",
            Self::SelfManaged => "--certs self-managed",
            Self::SelfSigned => "--certs self-signed",
        }
    }
}

const MIN_VERSIONS: [NamedValue<MinVersion>; 2] =
    [("1.2", MinVersion::V1_2, ""), ("1.3", MinVersion::V1_3, "")];

fn server_name(text: &str) -> Result<OptionalName, String> {
    if text.is_empty() {
        return Ok(OptionalName(None));
    }
    let name = ServerName::try_from(text.to_owned()).map_err(|_| {
        "expected a DNS name such as olmguard.olmguard-system.svc, or an IP address".to_owned()
    });
    name.map(|name| OptionalName(Some(name)))
}

/// A certificate of a self-managed CA, as given by the flags.
#[derive(Debug)]
pub(crate) struct ManagedCertificate {
    secret: SecretName,
    configurations: Vec<String>,
    names: Vec<ServerName<'static>>,
    terms: TlsConfig,
}

/// A Secret, by default in the namespace of olmguard.
#[derive(Clone, Debug, Eq, PartialEq)]
struct SecretName {
    namespace: Option<String>,
    name: String,
}

impl ManagedCertificate {
    /// Agrees on a CA with the other replicas, and keeps serving a leaf certificate of it.
    async fn start(
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

    fn placed(self, own_namespace: &str) -> (AuthorityPlace, TlsConfig) {
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
    fn read(text: &str) -> Result<Self, String> {
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

/// The Secret that the manifests name.
impl Default for SecretName {
    fn default() -> Self {
        Self {
            namespace: None,
            name: "olmguard-tls".to_owned(),
        }
    }
}

/// The webhook configuration that the manifests name.
const CONFIGURATION: &str = "olmguard";

#[cfg(test)]
mod tests;
