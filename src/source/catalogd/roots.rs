//! Whom a catalogd must be vouched for by.
//!
//! A CA's file is read again before each try and compared by its content: it is a mounted Secret or
//! `ConfigMap`, which changes by the renaming of links beside it. What cannot be used is told once,
//! and what was good last stays.
//!
//! A folder is taken as operator-controller takes its `--catalogd-cas-dir`: every file in it, those
//! without certificates passed over, since a mounted Secret may hold keys too.
//!
//! Upstream: operator-controller, `internal/shared/util/http/certutil.go`.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hyper_rustls::ConfigBuilderExt;
use ring::digest::{self, SHA256};
use rustls::client::Resumption;
use rustls::crypto::ring as provider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject};
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};
use tracing::{info, warn};

/// Why the certificates of a CA cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogdError {
    /// It cannot be read.
    #[error("{}: cannot read: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is larger than any that is of use.
    #[error("{}: too large: expected PEM of at most {limit} bytes", path.display())]
    TooLarge {
        /// The file or folder.
        path: PathBuf,
        /// What is read at most, in bytes.
        limit: u64,
    },
    /// It is no PEM.
    #[error("{}: not PEM: {source}", path.display())]
    Pem {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong.
        source: pem::Error,
    },
    /// There is no certificate in it.
    #[error("{}: no certificate in it: expected PEM with BEGIN CERTIFICATE", path.display())]
    Nothing {
        /// The file or folder.
        path: PathBuf,
    },
    /// One of its certificates cannot be trusted.
    #[error("{}: certificate {number} cannot be used: {why}", path.display())]
    Certificate {
        /// The file or folder.
        path: PathBuf,
        /// Which, counted from 1, files of a folder in the order of their names.
        number: usize,
        /// What rustls says.
        why: Box<str>,
    },
}

/// On which terms connections are made, as of the last look.
#[derive(Debug)]
pub(super) struct Roots(Kind);

#[derive(Debug)]
enum Kind {
    /// What the system trusted at the start.
    System(Arc<ClientConfig>),
    /// A file or folder.
    Path(PathBuf, Mutex<Seen>),
}

/// What was found last, and what was good last.
#[derive(Debug)]
struct Seen {
    mark: Mark,
    config: Arc<ClientConfig>,
}

/// What tells whether something changed: the content's digest, or why there is none.
#[derive(Debug, Eq, PartialEq)]
enum Mark {
    Content([u8; 32]),
    Fault(String),
}

impl Roots {
    pub(super) fn new(ca: Option<&Path>) -> Result<Self, CatalogdError> {
        let Some(path) = ca else {
            return Ok(Self(Kind::System(Arc::new(system()))));
        };
        let content = read(path);
        let mark = Mark::of(&content);
        let config = Arc::new(trusting(path, &content?)?);
        let seen = Mutex::new(Seen { mark, config });
        Ok(Self(Kind::Path(path.to_owned(), seen)))
    }

    /// The terms of now. It reads files.
    pub(super) fn config(&self) -> Arc<ClientConfig> {
        match &self.0 {
            Kind::System(config) => Arc::clone(config),
            Kind::Path(path, seen) => {
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                seen.look_again(path);
                Arc::clone(&seen.config)
            }
        }
    }

    /// Where those come from who are trusted, as messages name it.
    pub(super) fn trusted(&self) -> String {
        match &self.0 {
            Kind::System(_) => "the system's store".to_owned(),
            Kind::Path(path, _) => path.display().to_string(),
        }
    }
}

impl Seen {
    fn look_again(&mut self, path: &Path) {
        let content = read(path);
        let mark = Mark::of(&content);
        if mark == self.mark {
            return;
        }
        self.mark = mark;
        match content.and_then(|content| trusting(path, &content)) {
            Ok(config) => {
                self.config = Arc::new(config);
                info!(path = %path.display(), "Reloaded the authorities of catalogd");
            }
            Err(error) => {
                warn!(%error, "Cannot use the new authorities of catalogd, the old ones stay");
            }
        }
    }
}

impl Mark {
    fn of(content: &Result<Vec<u8>, CatalogdError>) -> Self {
        match content {
            Ok(content) => {
                let digest = digest::digest(&SHA256, content);
                Self::Content(digest.as_ref().try_into().expect("SHA-256 has 32 bytes"))
            }
            Err(error) => Self::Fault(error.to_string()),
        }
    }
}

/// What the system trusts. Where it trusts nobody, no certificate will do; without TLS that is no
/// matter, so it is no fault here.
fn system() -> ClientConfig {
    let config = match builder().with_native_roots() {
        Ok(config) => config,
        Err(_) => builder().with_root_certificates(RootCertStore::empty()),
    };
    finish(config.with_no_client_auth())
}

fn trusting(path: &Path, content: &[u8]) -> Result<ClientConfig, CatalogdError> {
    let mut roots = RootCertStore::empty();
    for (at, certificate) in CertificateDer::pem_slice_iter(content).enumerate() {
        let path = || path.to_owned();
        let certificate = certificate.map_err(|source| CatalogdError::Pem {
            path: path(),
            source,
        })?;
        let added = roots.add(certificate);
        added.map_err(|error| CatalogdError::Certificate {
            path: path(),
            number: at + 1,
            why: error.to_string().into(),
        })?;
    }
    if roots.is_empty() {
        let path = path.to_owned();
        return Err(CatalogdError::Nothing { path });
    }
    Ok(finish(
        builder()
            .with_root_certificates(roots)
            .with_no_client_auth(),
    ))
}

fn builder() -> ConfigBuilder<ClientConfig, WantsVerifier> {
    ClientConfig::builder_with_provider(Arc::new(provider::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring has ciphers for TLS 1.2 and 1.3")
}

/// Every connection verifies anew: a session that is resumed would outlive its certificate.
fn finish(mut config: ClientConfig) -> ClientConfig {
    config.resumption = Resumption::disabled();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}

/// The text of the file, or of all files of the folder.
fn read(path: &Path) -> Result<Vec<u8>, CatalogdError> {
    let failed = |source| CatalogdError::Read {
        path: path.to_owned(),
        source,
    };
    let mut content = Vec::new();
    for file in files(path).map_err(failed)? {
        let room = (LIMIT + 1).saturating_sub(content.len() as u64);
        let file = File::open(file).map_err(failed)?;
        file.take(room).read_to_end(&mut content).map_err(failed)?;
        content.push(b'\n');
    }
    if content.len() as u64 > LIMIT {
        let path = path.to_owned();
        return Err(CatalogdError::TooLarge { path, limit: LIMIT });
    }
    Ok(content)
}

/// The path itself, or the files in it by name. Links are followed.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path)? {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The authorities that the public web trusts take a quarter of it.
const LIMIT: u64 = 1 << 20;

#[cfg(test)]
mod tests;
