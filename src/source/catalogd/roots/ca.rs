//! The certificates of a CA, from a file or a folder.
//!
//! A folder is taken as operator-controller takes its `--catalogd-cas-dir`: every file in it, those
//! without certificates passed over, since a mounted Secret may hold keys too.
//!
//! Upstream: operator-controller, [`internal/shared/util/http/certutil.go`].
//!
//! [`internal/shared/util/http/certutil.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/shared/util/http/certutil.go

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject};

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

/// The authorities whose certificates are in `content`, which is that of `path`.
pub(super) fn roots(path: &Path, content: &[u8]) -> Result<RootCertStore, CatalogdError> {
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
    Ok(roots)
}

/// The text of the file, or of all files of the folder.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, CatalogdError> {
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
