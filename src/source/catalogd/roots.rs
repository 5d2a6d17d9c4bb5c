//! Whom a catalogd must be vouched for by.
//!
//! A CA's file is read again before each try and compared by its content: it is a mounted Secret or
//! `ConfigMap`, which changes by the renaming of links beside it. What cannot be used is told once,
//! and what was good last stays.

mod ca;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hyper_rustls::ConfigBuilderExt;
use ring::digest::{self, SHA256};
use rustls::client::Resumption;
use rustls::crypto::ring as provider;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};
use tracing::{info, warn};

pub use ca::CatalogdError;

/// On which terms connections are made, as of the last look.
#[derive(Debug)]
pub(super) struct Roots(RootsKind);

#[derive(Debug)]
enum RootsKind {
    /// What the system trusted at the start.
    System(Arc<ClientConfig>),
    /// A file or folder.
    Path(PathBuf, Mutex<RootsState>),
}

/// What was found last, and what was good last.
#[derive(Debug)]
struct RootsState {
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
            return Ok(Self(RootsKind::System(Arc::new(system()))));
        };
        let content = ca::read(path);
        let mark = Mark::of(&content);
        let config = Arc::new(trusting(ca::roots(path, &content?)?));
        let seen = Mutex::new(RootsState { mark, config });
        Ok(Self(RootsKind::Path(path.to_owned(), seen)))
    }

    /// The terms of now. It reads files.
    pub(super) fn config(&self) -> Arc<ClientConfig> {
        match &self.0 {
            RootsKind::System(config) => Arc::clone(config),
            RootsKind::Path(path, seen) => {
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                seen.look_again(path);
                Arc::clone(&seen.config)
            }
        }
    }

    /// Where those come from who are trusted, as messages name it.
    pub(super) fn trusted(&self) -> String {
        match &self.0 {
            RootsKind::System(_) => "the system's store".to_owned(),
            RootsKind::Path(path, _) => path.display().to_string(),
        }
    }
}

impl RootsState {
    fn look_again(&mut self, path: &Path) {
        let content = ca::read(path);
        let mark = Mark::of(&content);
        if mark == self.mark {
            return;
        }
        self.mark = mark;
        match content.and_then(|content| ca::roots(path, &content)) {
            Ok(roots) => {
                self.config = Arc::new(trusting(roots));
                info!(path = %path.display(), "Reloaded the CA certificates for catalogd");
            }
            Err(error) => {
                warn!(%error, "Failed to load the new CA certificates for catalogd, keeping the old ones");
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
    match builder().with_native_roots() {
        Ok(config) => finish(config.with_no_client_auth()),
        Err(_) => trusting(RootCertStore::empty()),
    }
}

fn trusting(roots: RootCertStore) -> ClientConfig {
    let config = builder().with_root_certificates(roots);
    finish(config.with_no_client_auth())
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

#[cfg(test)]
mod tests;
