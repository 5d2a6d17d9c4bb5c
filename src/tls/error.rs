//! Reasons why a certificate, its key, or the terms around them cannot be used.
//!
//! Texts name files and what is wrong with them, never anything of a key.

use std::path::PathBuf;

use crate::pem_file::PemError;
use crate::tls::self_managed::AuthorityError;

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
