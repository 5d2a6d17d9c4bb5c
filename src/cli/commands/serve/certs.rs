//! Which certificate is shown, and on which terms: flags that have to agree.

mod managed;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use clap::ValueEnum;
use clap::builder::BoolishValueParser;
use rustls::pki_types::ServerName;
use tracing::info;

use crate::cli::args::catalogs::UsageError;
use crate::cli::args::cluster::object_name;
use crate::cli::commands::serve::ServeError;
use crate::cluster::Cluster;
use crate::tls::files::{self, Files, POLL};
use crate::tls::{Certificates, ClientCa, MinVersion, Observer, TlsConfig, self_signed};
use managed::{ManagedCertificate, SecretName};

/// The flags about certificates.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct CertsArgs {
    /// Where the certificate comes from; --tls-cert with --tls-key, --self-signed, and --tls-secret
    /// or --webhook-configuration for a self-managed one, say it as well
    #[arg(long, value_name = "SOURCE", value_enum)]
    certs: Option<CertificateSource>,

    /// For trying out: make a certificate for localhost and this machine's loopback addresses
    #[arg(long, value_parser = BoolishValueParser::new())]
    self_signed: bool,

    /// The certificate that is shown, PEM, its chain after it; followed when it changes
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,

    /// The key of the certificate, PEM; followed when it changes
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,

    /// The Secret that a self-managed authority is kept in; olmguard-tls in this program's own
    /// namespace if none is named
    #[arg(long, value_name = "[NAMESPACE/]NAME", value_parser = SecretName::read)]
    tls_secret: Option<SecretName>,

    /// The validating webhook configuration that is compared with the shipped one; with a self-managed
    /// certificate its webhooks trust the CA; may be repeated, the first is compared [default: olmguard]
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = object_name
    )]
    webhook_configuration: Vec<String>,

    /// The oldest version of TLS that is spoken
    #[arg(long, value_name = "VERSION", value_enum, default_value_t)]
    tls_min_version: OldestTls,

    /// A name that the certificate must hold, such as olmguard.olmguard-system.svc; may be repeated
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = server_name
    )]
    tls_server_name: Vec<OptionalName>,

    /// Take only clients with a certificate of one of these authorities, PEM; the API server has to
    /// be set up to show one; followed when it changes, but read once if self-signed
    #[arg(long, value_name = "FILE")]
    client_ca: Option<PathBuf>,

    /// A common name, DNS name or URI of clients that are taken; any of --client-ca if there is
    /// none; may be repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    client_allowed: Vec<String>,
}

/// A name, or none where a variable of the environment is set to nothing.
#[derive(Clone, Debug)]
struct OptionalName(Option<ServerName<'static>>);

/// Where a certificate comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum CertificateSource {
    /// From --tls-cert and --tls-key
    Files,
    /// Of an authority that the replicas keep in their cluster
    SelfManaged,
    /// Made at each start, for trying out
    SelfSigned,
}

/// [`MinVersion`] as a flag.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
enum OldestTls {
    #[default]
    #[value(name = "1.2")]
    V1_2,
    #[value(name = "1.3")]
    V1_3,
}

/// What the flags say when they agree.
#[derive(Debug)]
pub(crate) enum Certs {
    Files(Files),
    SelfManaged(ManagedCertificate),
    SelfSigned(TlsConfig, Vec<ServerName<'static>>),
}

impl CertsArgs {
    /// What they say together, or which of them contradict each other.
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
        // With files it names what is compared; who writes its bundles is another question.
        let agrees = |flag: &str, other| {
            other == source
                || (source == CertificateSource::Files && flag == "--webhook-configuration")
        };
        match said.find(|(flag, other)| !agrees(flag, *other)) {
            None => Ok(source),
            Some((other, _)) => Err(UsageError::TwoTls { one, other }),
        }
    }

    fn files(self) -> Result<Files, UsageError> {
        let (terms, wanted) = (self.terms()?, self.names());
        let half = |missing| UsageError::HalfTls { missing };
        Ok(Files {
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
            configurations.push(managed::CONFIGURATION.to_owned());
        }
        Ok(ManagedCertificate {
            secret: self.tls_secret.unwrap_or_default(),
            configurations,
            names,
            terms,
        })
    }

    /// The webhook configurations that are named.
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
            min_version: self.tls_min_version.into(),
            client_ca,
        })
    }
}

impl Certs {
    /// Starts to serve them; those of an authority in a cluster need one.
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

impl From<OldestTls> for MinVersion {
    fn from(oldest: OldestTls) -> Self {
        match oldest {
            OldestTls::V1_2 => Self::V1_2,
            OldestTls::V1_3 => Self::V1_3,
        }
    }
}

fn server_name(text: &str) -> Result<OptionalName, String> {
    if text.is_empty() {
        return Ok(OptionalName(None));
    }
    let name = ServerName::try_from(text.to_owned()).map_err(|_| {
        "expected a DNS name such as olmguard.olmguard-system.svc, or an IP address".to_owned()
    });
    name.map(|name| OptionalName(Some(name)))
}

#[cfg(test)]
mod tests;
