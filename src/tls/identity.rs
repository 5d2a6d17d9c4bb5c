//! A certificate with its chain and its key, checked against each other.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use zeroize::Zeroizing;

use crate::tls::pem::PemFile;
use crate::tls::{Leaf, TlsError};

/// What a server shows: a certificate with its chain, and the key that belongs to it.
///
/// Invariant: the key is the certificate's.
#[derive(Clone)]
pub struct Identity {
    pair: Arc<CertifiedKey>,
    leaf: Arc<Leaf>,
}

/// Where an identity comes from, for errors.
#[derive(Clone, Debug)]
pub(super) enum IdentityOrigin {
    Files { cert: PathBuf, key: PathBuf },
    Made,
}

impl Identity {
    /// Reads PEM files: a certificate with its chain, the leaf first, and its key in PKCS#1, PKCS#8
    /// or SEC1.
    pub fn from_files(cert: &Path, key: &Path) -> Result<Self, TlsError> {
        Self::from_pem(&PemFile::read(cert)?, &PemFile::read(key)?)
    }

    pub(super) fn from_pem(cert: &PemFile, key: &PemFile) -> Result<Self, TlsError> {
        let origin = IdentityOrigin::Files {
            cert: cert.path().to_owned(),
            key: key.path().to_owned(),
        };
        Self::new(cert.chain()?, key.key()?, &origin)
    }

    pub(super) fn new(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
        origin: &IdentityOrigin,
    ) -> Result<Self, TlsError> {
        let key = Zeroizing::new(key);
        let refused = |source| origin.refused(source);
        let key = any_supported_type(&key).map_err(refused)?;
        let pair = CertifiedKey::new(chain, key);
        pair.keys_match().map_err(refused)?;
        let leaf = Leaf::read(pair.end_entity_cert().map_err(refused)?).map_err(refused)?;
        Ok(Self {
            pair: Arc::new(pair),
            leaf: Arc::new(leaf),
        })
    }

    /// What the certificate says.
    pub fn leaf(&self) -> &Arc<Leaf> {
        &self.leaf
    }

    pub(super) fn pair(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.pair)
    }
}

/// Without the key.
impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity")
            .field("leaf", &self.leaf)
            .finish_non_exhaustive()
    }
}

impl IdentityOrigin {
    fn refused(&self, source: rustls::Error) -> TlsError {
        match self {
            Self::Files { cert, key } => TlsError::Pair {
                cert: cert.clone(),
                key: key.clone(),
                source,
            },
            Self::Made => TlsError::Made(source.to_string()),
        }
    }
}
