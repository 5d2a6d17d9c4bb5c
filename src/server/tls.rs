//! The certificate that the server shows, from files or made for trying out.
//!
//! Texts name files and what is wrong with them, never anything of a key.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::{TLS12, TLS13};

/// A certificate with its chain, and its key.
#[derive(Debug)]
pub struct TlsIdentity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    origin: Origin,
}

/// Where an identity comes from, for errors.
#[derive(Clone, Debug)]
enum Origin {
    Files { cert: PathBuf, key: PathBuf },
    SelfSigned,
}

/// Why a certificate or its key cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{}: cannot read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file is no PEM.
    #[error("{}: not PEM: {source}", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: pem::Error,
    },
    /// A file holds nothing of what it should.
    #[error("{}: no {expected} in it: expected PEM with {marker}{hint}", path.display())]
    Nothing {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        expected: &'static str,
        /// How that begins.
        marker: &'static str,
        /// What may be the matter.
        hint: &'static str,
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
    /// No certificate can be made here.
    #[error("cannot make a certificate: {0}")]
    SelfSigned(String),
}

impl TlsIdentity {
    /// Reads PEM files: a certificate with its chain, the leaf first, and its key in PKCS#1, PKCS#8
    /// or SEC1.
    pub fn from_files(cert: &Path, key: &Path) -> Result<Self, TlsError> {
        Ok(Self {
            chain: read_chain(cert)?,
            key: read_key(key)?,
            origin: Origin::Files {
                cert: cert.to_owned(),
                key: key.to_owned(),
            },
        })
    }

    /// Makes a certificate for `localhost`, `127.0.0.1` and `::1` that vouches for itself.
    pub fn self_signed() -> Result<Self, TlsError> {
        let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let made = rcgen::generate_simple_self_signed(names).map_err(|e| unmakeable(&e))?;
        Ok(Self {
            chain: vec![made.cert.der().clone()],
            key: PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into()),
            origin: Origin::SelfSigned,
        })
    }

    /// The certificate, without its chain.
    pub fn certificate(&self) -> Option<&CertificateDer<'static>> {
        self.chain.first()
    }

    /// TLS 1.2 or later, HTTP/1.1 only.
    pub(super) fn server_config(self) -> Result<ServerConfig, TlsError> {
        let versions = &[&TLS13, &TLS12];
        let provider = Arc::new(ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .expect("the provider has suites for TLS 1.2 and 1.3")
            .with_no_client_auth()
            .with_single_cert(self.chain, self.key)
            .map_err(|source| self.origin.refused(source))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

impl Origin {
    fn refused(self, source: rustls::Error) -> TlsError {
        match self {
            Self::Files { cert, key } => TlsError::Pair { cert, key, source },
            Self::SelfSigned => TlsError::SelfSigned(source.to_string()),
        }
    }
}

fn unmakeable(error: &rcgen::Error) -> TlsError {
    TlsError::SelfSigned(error.to_string())
}

fn read_chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let text = read(path)?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let chain = chain.map_err(|source| not_pem(path, source))?;
    if !chain.is_empty() {
        return Ok(chain);
    }
    Err(TlsError::Nothing {
        path: path.to_owned(),
        expected: "certificate",
        marker: "BEGIN CERTIFICATE",
        hint: if says(&text, "PRIVATE KEY-----") {
            SWAPPED
        } else {
            ""
        },
    })
}

fn read_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let text = read(path)?;
    match PrivateKeyDer::from_pem_slice(&text) {
        Ok(key) => Ok(key),
        Err(pem::Error::NoItemsFound) => Err(TlsError::Nothing {
            path: path.to_owned(),
            expected: "private key",
            marker: "BEGIN PRIVATE KEY, BEGIN RSA PRIVATE KEY or BEGIN EC PRIVATE KEY",
            hint: if says(&text, "ENCRYPTED") {
                ENCRYPTED
            } else if says(&text, "BEGIN CERTIFICATE") {
                SWAPPED
            } else {
                ""
            },
        }),
        Err(source) => Err(not_pem(path, source)),
    }
}

fn not_pem(path: &Path, source: pem::Error) -> TlsError {
    TlsError::Pem {
        path: path.to_owned(),
        source,
    }
}

/// A byte order mark would hide the first section.
fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    let mut text = Vec::new();
    File::open(path)
        .and_then(|file| file.take(FILE_LIMIT).read_to_end(&mut text))
        .map_err(|source| TlsError::Read {
            path: path.to_owned(),
            source,
        })?;
    Ok(match text.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => rest.to_vec(),
        None => text,
    })
}

fn says(text: &[u8], words: &str) -> bool {
    memchr::memmem::find(text, words.as_bytes()).is_some()
}

const EXPECTED: &str =
    "expected a key of the certificate: RSA of 2048 bits or more, ECDSA P-256 or P-384, or Ed25519";
const SWAPPED: &str = "; certificate and key seem to be swapped";
const ENCRYPTED: &str = "; this key is encrypted: decrypt it first";

/// No chain is nearly as long.
const FILE_LIMIT: u64 = 1 << 20;

#[cfg(test)]
mod tests;
