//! The certificates for one host, from its directory in `certs.d`.
//!
//! ```text
//! NAME.crt             CA certificates, which are trusted in addition to those of the system
//! NAME.cert, NAME.key  the certificate that the client shows, and its key
//! ```
//!
//! A text in `NAME.crt` that is not a certificate is left out, as upstream does. Upstream can choose between several
//! client certificates. Here there can be only one.
//!
//! Upstream: go.podman.io/image v5.40.0, [`pkg/tlsclientconfig/tlsclientconfig.go`] (`SetupCertificates`).
//!
//! [`pkg/tlsclientconfig/tlsclientconfig.go`]: https://github.com/containers/container-libs/blob/image/v5.40.0/image/pkg/tlsclientconfig/tlsclientconfig.go

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use rustls::client::WantsClientCert;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ConfigBuilder, RootCertStore};
use zeroize::Zeroizing;

use super::roots;

/// Why the certificates for a host cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostCertsError {
    /// The system gives none of it.
    #[error("{}: cannot read it: {source}", .path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is larger than any useful one.
    #[error("{}: too large: expected PEM of at most {PEM_BYTES} bytes", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// A client certificate without its key, or a key without its certificate.
    #[error(
        "{}: client certificate or key without the other: expected {} too; the certificate of a CA has the ending .crt",
        .found.display(), .missing.display()
    )]
    Half {
        /// The file.
        found: PathBuf,
        /// The file that belongs to it.
        missing: PathBuf,
    },
    /// Several client certificates.
    #[error("{}: second client certificate: expected one .cert with its .key", .path.display())]
    Several {
        /// The second.
        path: PathBuf,
    },
    /// The file is not PEM.
    #[error("{}: not a client certificate or key in PEM: {source}", .path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// The fault of the PEM.
        source: pem::Error,
    },
    /// Certificate and key do not fit.
    #[error("{}: client certificate cannot be used: {source}", .path.display())]
    Client {
        /// The certificate.
        path: PathBuf,
        /// The error of rustls.
        source: rustls::Error,
    },
}

/// The terms of connections for the host with this directory.
pub(super) fn config(folder: &Path) -> Result<ClientConfig, HostCertsError> {
    let names = names(folder)?;
    let builder = roots::builder().with_root_certificates(trusted(&names)?);
    Ok(roots::finish(with_client(builder, &names)?))
}

/// The authorities of the system and of the directory.
fn trusted(paths: &[PathBuf]) -> Result<RootCertStore, HostCertsError> {
    let mut trusted = RootCertStore::empty();
    trusted.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    for path in paths.iter().filter(|path| has_ending(path, "crt")) {
        let content = read(path)?;
        let certificates = CertificateDer::pem_slice_iter(&content);
        trusted.add_parsable_certificates(certificates.map_while(Result::ok));
    }
    Ok(trusted)
}

/// The terms with the client certificate of the directory, if it has one.
fn with_client(
    builder: ConfigBuilder<ClientConfig, WantsClientCert>,
    paths: &[PathBuf],
) -> Result<ClientConfig, HostCertsError> {
    let keys = paths.iter().filter(|path| has_ending(path, "key"));
    keys.map(|key| other(key, "cert", paths))
        .collect::<Result<Vec<_>, _>>()?;
    let mut certificates = paths.iter().filter(|path| has_ending(path, "cert"));
    let Some(path) = certificates.next() else {
        return Ok(builder.with_no_client_auth());
    };
    if let Some(path) = certificates.next().cloned() {
        return Err(HostCertsError::Several { path });
    }
    let key = other(path, "key", paths)?;
    let config = builder.with_client_auth_cert(chain(path)?, private_key(&key)?);
    config.map_err(|source| HostCertsError::Client {
        path: path.clone(),
        source,
    })
}

/// The file that belongs to a certificate or a key.
fn other(path: &Path, ending: &str, paths: &[PathBuf]) -> Result<PathBuf, HostCertsError> {
    let missing = path.with_extension(ending);
    if paths.contains(&missing) {
        return Ok(missing);
    }
    let found = path.to_owned();
    Err(HostCertsError::Half { found, missing })
}

fn chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, HostCertsError> {
    let content = read(path)?;
    let chain = CertificateDer::pem_slice_iter(&content).collect::<Result<_, _>>();
    chain.map_err(|source| not_pem(path, source))
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, HostCertsError> {
    let content = Zeroizing::new(read(path)?);
    PrivateKeyDer::from_pem_slice(&content).map_err(|source| not_pem(path, source))
}

fn not_pem(path: &Path, source: pem::Error) -> HostCertsError {
    let path = path.to_owned();
    HostCertsError::Pem { path, source }
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found == ending)
}

/// The files of a directory by name. A directory that cannot be read has none, as upstream does.
fn names(folder: &Path) -> Result<Vec<PathBuf>, HostCertsError> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut paths: Vec<_> = match entries {
        Ok(entries) => entries.iter().map(fs::DirEntry::path).collect(),
        Err(error) if is_skipped(&error) => Vec::new(),
        Err(source) => return Err(failed(folder, source)),
    };
    paths.sort();
    Ok(paths)
}

fn is_skipped(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::PermissionDenied
    )
}

fn read(path: &Path) -> Result<Vec<u8>, HostCertsError> {
    let mut content = Vec::new();
    let read = File::open(path).and_then(|file| file.take(PEM_BYTES + 1).read_to_end(&mut content));
    read.map_err(|source| failed(path, source))?;
    if content.len() as u64 > PEM_BYTES {
        let path = path.to_owned();
        return Err(HostCertsError::TooLarge { path });
    }
    Ok(content)
}

fn failed(path: &Path, source: io::Error) -> HostCertsError {
    let path = path.to_owned();
    HostCertsError::Read { path, source }
}

/// The authorities that the public web trusts take a quarter of it.
const PEM_BYTES: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// A certificate and its key.
    fn pair() -> (String, String) {
        let pair = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        (pair.cert.pem(), pair.signing_key.serialize_pem())
    }

    /// The terms by a directory with these files.
    fn of(files: &[(&str, &str)]) -> Result<ClientConfig, String> {
        let folder = TempDir::new().unwrap();
        for (name, content) in files {
            fs::write(folder.path().join(name), content).unwrap();
        }
        let root = folder.path().display().to_string();
        config(folder.path()).map_err(|error| error.to_string().replace(&root, "D"))
    }

    #[test]
    fn a_client_certificate_is_shown_with_its_key() {
        let (certificate, key) = pair();
        let without = of(&[("ca.crt", &certificate), ("README", "x")]).unwrap();
        assert!(!without.client_auth_cert_resolver.has_certs());
        let with = of(&[("a.cert", &certificate), ("a.key", &key)]).unwrap();
        assert!(with.client_auth_cert_resolver.has_certs());
    }

    #[test]
    fn a_text_that_is_not_a_certificate_is_left_out() {
        let (certificate, _) = pair();
        for text in ["", "x", "-----BEGIN CERTIFICATE-----\nx", &certificate] {
            assert!(of(&[("ca.crt", text)]).is_ok(), "{text}");
        }
    }

    #[test]
    fn certificates_that_cannot_be_used_name_the_file() {
        let ((certificate, key), (_, another)) = (pair(), pair());
        let rest = "the certificate of a CA has the ending .crt";
        for (files, expected) in [
            (
                vec![("a.cert", &*certificate), ("b.key", &key)],
                format!("D/b.key: client certificate or key without the other: expected D/b.cert too; {rest}"),
            ),
            (
                vec![("a.cert", &*certificate)],
                format!("D/a.cert: client certificate or key without the other: expected D/a.key too; {rest}"),
            ),
            (
                vec![("a.cert", &*certificate), ("a.key", &*key), ("b.cert", "")],
                "D/b.cert: second client certificate: expected one .cert with its .key".to_owned(),
            ),
            (
                vec![("a.cert", &*certificate), ("a.key", "x")],
                "D/a.key: not a client certificate or key in PEM: no items found".to_owned(),
            ),
            (
                vec![("a.cert", &*certificate), ("a.key", &*another)],
                "D/a.cert: client certificate cannot be used: keys may not be consistent: KeyMismatch".to_owned(),
            ),
        ] {
            assert_eq!(of(&files).map(|_| ()), Err(expected));
        }
    }
}
