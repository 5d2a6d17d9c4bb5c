//! Sections of PEM files: certificates with their chain, and keys.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ::pem::{EncodeConfig, LineEnding, Pem, encode_many_config};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use zeroize::Zeroizing;

use olmguard_catalog::version::go;

/// The reason why a PEM file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PemError {
    /// The file cannot be read.
    #[error("{}: cannot read: {source}", path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The path is a pipe, a socket or a device, although the file must be read again when it changes.
    #[error("{}: not a regular file: expected PEM", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The file is larger than any useful one.
    #[error("{}: too large: expected PEM of at most {limit} bytes", path.display())]
    TooLarge {
        /// The file or directory.
        path: PathBuf,
        /// The maximum size in bytes.
        limit: u64,
    },
    /// The file is not PEM.
    #[error("{}: not PEM: {}", path.display(), fault(source))]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The PEM error.
        source: pem::Error,
    },
    /// The file does not contain the expected section.
    #[error("{}: no {expected} in it: expected PEM with {marker}{hint}", path.display())]
    Nothing {
        /// The file or directory.
        path: PathBuf,
        /// The expected content.
        expected: &'static str,
        /// The start of the expected section.
        marker: &'static str,
        /// A hint at the probable cause.
        hint: &'static str,
    },
}

/// The content of a file. It can contain a key, so it is wiped when dropped and never shown.
#[derive(derive_more::Debug)]
#[debug("PemFile({})", path.display())]
pub struct PemFile {
    path: PathBuf,
    text: Zeroizing<Vec<u8>>,
}

impl PemFile {
    /// Reads a file that is read again when it changes. Refuses a pipe, which may never end and is empty the second
    /// time.
    pub fn read_again(path: &Path) -> Result<Self, PemError> {
        let metadata = path.metadata().map_err(|source| unreadable(path, source))?;
        if !(metadata.is_file() || metadata.is_dir()) {
            let path = path.to_owned();
            return Err(PemError::NotAFile { path });
        }
        Self::read(path)
    }

    /// Reads a file, up to a limit.
    pub fn read(path: &Path) -> Result<Self, PemError> {
        let text = content(path).map_err(|source| unreadable(path, source))?;
        if text.len() as u64 > FILE_LIMIT {
            return Err(too_large(path));
        }
        let path = path.to_owned();
        Ok(Self { path, text })
    }

    /// The path that the file was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The complete content, unchanged.
    pub fn bytes(&self) -> &[u8] {
        &self.text
    }

    /// Returns every certificate, in the order written.
    pub fn each_certificate(
        &self,
    ) -> impl Iterator<Item = Result<CertificateDer<'static>, PemError>> {
        let certificates = CertificateDer::pem_slice_iter(self.pem());
        certificates.map(|one| one.map_err(|source| self.not_pem(source)))
    }

    /// Returns all certificates, at least one.
    pub fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, PemError> {
        let chain: Vec<_> = self.each_certificate().collect::<Result<_, _>>()?;
        if !chain.is_empty() {
            return Ok(chain);
        }
        let is_key = self.says("PRIVATE KEY-----");
        let hint = if is_key { SWAPPED } else { "" };
        Err(no_certificate(&self.path, hint))
    }

    /// The first private key, in PKCS#1, PKCS#8 or SEC1.
    pub fn key(&self) -> Result<PrivateKeyDer<'static>, PemError> {
        match PrivateKeyDer::from_pem_slice(self.pem()) {
            Ok(key) => Ok(key),
            Err(pem::Error::NoItemsFound) => Err(self.no_key()),
            // Headers of encrypted keys are not base64, so the parser fails at them.
            Err(_) if self.says("Proc-Type: 4,ENCRYPTED") => Err(self.no_key()),
            Err(source) => Err(self.not_pem(source)),
        }
    }

    fn no_key(&self) -> PemError {
        PemError::Nothing {
            path: self.path.clone(),
            expected: "private key",
            marker: "BEGIN PRIVATE KEY, BEGIN RSA PRIVATE KEY or BEGIN EC PRIVATE KEY",
            hint: self.hint_for_key(),
        }
    }

    /// Returns the content without a byte order mark, which would hide the first section.
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

    fn not_pem(&self, source: pem::Error) -> PemError {
        let path = self.path.clone();
        PemError::Syntax { path, source }
    }
}

/// Words a PEM error: the library prints the bytes of a label as numbers.
fn fault(source: &pem::Error) -> String {
    match source {
        pem::Error::MissingSectionEnd { end_marker } => {
            let label = String::from_utf8_lossy(end_marker);
            format!("a section has no end: expected -----END {label}-----")
        }
        pem::Error::IllegalSectionStart { line } => {
            let line = String::from_utf8_lossy(line);
            format!(
                "found {}: expected five hyphens at its end too",
                go::quote(&line)
            )
        }
        source => source.to_string(),
    }
}

/// Encodes certificates as PEM, in their order.
pub fn written(certificates: &[impl AsRef<[u8]>]) -> String {
    let section = |der: &_| Pem::new("CERTIFICATE", AsRef::<[u8]>::as_ref(der));
    let sections: Vec<_> = certificates.iter().map(section).collect();
    let config = EncodeConfig::new().set_line_ending(LineEnding::LF);
    encode_many_config(&sections, config)
}

/// Reads a file into a buffer with sufficient room from the start. A growing buffer would leave copies that are never
/// wiped.
fn content(path: &Path) -> io::Result<Zeroizing<Vec<u8>>> {
    let file = File::open(path)?;
    let length = file.metadata()?.len().min(FILE_LIMIT);
    let room = usize::try_from(length).unwrap_or_default() + END;
    let mut text = Zeroizing::new(Vec::with_capacity(room));
    file.take(FILE_LIMIT + 1).read_to_end(&mut text)?;
    Ok(text)
}

/// A file without a certificate, with what may be the matter.
pub fn no_certificate(path: &Path, hint: &'static str) -> PemError {
    PemError::Nothing {
        path: path.to_owned(),
        expected: "certificate",
        marker: "BEGIN CERTIFICATE",
        hint,
    }
}

/// A file larger than [`FILE_LIMIT`].
pub fn too_large(path: &Path) -> PemError {
    let (path, limit) = (path.to_owned(), FILE_LIMIT);
    PemError::TooLarge { path, limit }
}

/// A file that cannot be read, with the reason.
pub fn unreadable(path: &Path, source: io::Error) -> PemError {
    let path = path.to_owned();
    PemError::Read { path, source }
}

const SWAPPED: &str = "; certificate and key seem to be swapped";
const ENCRYPTED: &str = "; this key is encrypted: decrypt it first";

/// The maximum size of a file in bytes. All CA certificates that the public web trusts need a quarter of it.
pub const FILE_LIMIT: u64 = 1 << 20;
/// Room for the read that detects the end of the file.
const END: usize = 64;
