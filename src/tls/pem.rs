//! Sections of PEM files: certificates with their chain, and keys.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ::pem::{EncodeConfig, LineEnding, Pem, encode_many_config};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use zeroize::Zeroizing;

use crate::tls::TlsError;

/// What a file holds, wiped when dropped: it may be a key.
pub(super) struct PemFile {
    path: PathBuf,
    text: Zeroizing<Vec<u8>>,
}

impl PemFile {
    /// Reads a file, up to a limit.
    pub(super) fn read(path: &Path) -> Result<Self, TlsError> {
        let text = content(path).map_err(|source| unreadable(path, source))?;
        if text.len() as u64 > FILE_LIMIT {
            return Err(TlsError::TooLarge {
                path: path.to_owned(),
                limit: FILE_LIMIT,
            });
        }
        Ok(Self {
            path: path.to_owned(),
            text,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Everything in it, as it is.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.text
    }

    /// Every certificate, in the order written.
    pub(super) fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, TlsError> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(self.pem()).collect();
        let chain = chain.map_err(|source| self.not_pem(source))?;
        if !chain.is_empty() {
            return Ok(chain);
        }
        let is_key = self.says("PRIVATE KEY-----");
        Err(self.nothing(
            "certificate",
            "BEGIN CERTIFICATE",
            if is_key { SWAPPED } else { "" },
        ))
    }

    /// The certificates of a server, no more than clients read.
    pub(super) fn chain(&self) -> Result<Vec<CertificateDer<'static>>, TlsError> {
        let chain = self.certificates()?;
        let length = chain.iter().map(|certificate| certificate.len()).sum();
        if length <= CHAIN_LIMIT {
            return Ok(chain);
        }
        Err(TlsError::LongChain {
            path: self.path.clone(),
            certificates: chain.len(),
            length,
            limit: CHAIN_LIMIT,
        })
    }

    /// The first private key, in PKCS#1, PKCS#8 or SEC1.
    pub(super) fn key(&self) -> Result<PrivateKeyDer<'static>, TlsError> {
        match PrivateKeyDer::from_pem_slice(self.pem()) {
            Ok(key) => Ok(key),
            Err(pem::Error::NoItemsFound) => Err(self.nothing(
                "private key",
                "BEGIN PRIVATE KEY, BEGIN RSA PRIVATE KEY or BEGIN EC PRIVATE KEY",
                self.hint_for_key(),
            )),
            Err(source) => Err(self.not_pem(source)),
        }
    }

    /// A byte order mark would hide the first section.
    fn pem(&self) -> &[u8] {
        self.text
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(&self.text)
    }

    fn hint_for_key(&self) -> &'static str {
        if self.says("ENCRYPTED") {
            ENCRYPTED
        } else if self.says("BEGIN CERTIFICATE") {
            SWAPPED
        } else {
            ""
        }
    }

    fn says(&self, words: &str) -> bool {
        memchr::memmem::find(&self.text, words.as_bytes()).is_some()
    }

    fn not_pem(&self, source: pem::Error) -> TlsError {
        TlsError::Pem {
            path: self.path.clone(),
            source,
        }
    }

    fn nothing(
        &self,
        expected: &'static str,
        marker: &'static str,
        hint: &'static str,
    ) -> TlsError {
        TlsError::Nothing {
            path: self.path.clone(),
            expected,
            marker,
            hint,
        }
    }
}

/// Certificates as PEM, in their order.
pub(super) fn written(certificates: &[CertificateDer<'_>]) -> String {
    let section = |der: &CertificateDer<'_>| Pem::new("CERTIFICATE", der.as_ref());
    let sections: Vec<_> = certificates.iter().map(section).collect();
    let config = EncodeConfig::new().set_line_ending(LineEnding::LF);
    encode_many_config(&sections, config)
}

/// In a buffer that has room from the start: one that grows leaves copies behind that nobody wipes.
fn content(path: &Path) -> io::Result<Zeroizing<Vec<u8>>> {
    let file = File::open(path)?;
    let length = file.metadata()?.len().min(FILE_LIMIT);
    let room = usize::try_from(length).unwrap_or_default() + END;
    let mut text = Zeroizing::new(Vec::with_capacity(room));
    file.take(FILE_LIMIT + 1).read_to_end(&mut text)?;
    Ok(text)
}

fn unreadable(path: &Path, source: io::Error) -> TlsError {
    TlsError::Read {
        path: path.to_owned(),
        source,
    }
}

const SWAPPED: &str = "; certificate and key seem to be swapped";
const ENCRYPTED: &str = "; this key is encrypted: decrypt it first";

/// No chain is nearly as long, and no bundle of CA certificates for clients.
const FILE_LIMIT: u64 = 1 << 20;
/// The bytes of a server's certificates in DER. rustls, and older releases of Go, read 64 KiB of a handshake message at most,
/// OpenSSL 100 KiB. A quarter is left for what is around the certificates. Chains have 2 to 8 KiB; the size decides,
/// because clients have no limit to the number.
const CHAIN_LIMIT: usize = 48 << 10;
/// Enough for the reading that finds the end.
const END: usize = 64;
