//! The certificates for one host, from its directory in `certs.d`.
//!
//! ```text
//! NAME.crt             CA certificates, trusted in addition to the CA certificates of the system
//! NAME.cert, NAME.key  the certificate that the client shows, and its key
//! ```
//!
//! A text in `NAME.crt` that is not a certificate is skipped. A link to a missing file is skipped too. Upstream does the
//! same, but reads a certificate after a block without an end, which is skipped here. Upstream can choose between several
//! client certificates. Here there can be only one.
//!
//! All connections for an image use them, also a connection to the token service of the registry or to the store of its
//! blobs, as upstream does.
//!
//! Upstream: go.podman.io/image v5.40.0, [`pkg/tlsclientconfig/tlsclientconfig.go`] (`SetupCertificates`).
//!
//! [`pkg/tlsclientconfig/tlsclientconfig.go`]: https://github.com/containers/container-libs/blob/image/v5.40.0/image/pkg/tlsclientconfig/tlsclientconfig.go

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rustls::client::WantsClientCert;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};

use crate::pem_file::{PemError, PemFile, unreadable};

/// Why the certificates for a host cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HostCertsError {
    /// The directory or a file of it cannot be used.
    #[error(transparent)]
    File(#[from] PemError),
    /// A client certificate without its key, or a key without its certificate.
    #[error(
        "{}: client certificate or key without the other: expected {} too, or the ending .crt for a CA certificate",
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
pub(super) fn config(
    builder: ConfigBuilder<ClientConfig, WantsVerifier>,
    folder: &Path,
) -> Result<ClientConfig, HostCertsError> {
    let names = names(folder)?;
    with_client(builder.with_root_certificates(trusted(&names)?), &names)
}

/// The authorities of the system and of the directory.
fn trusted(paths: &[PathBuf]) -> Result<RootCertStore, HostCertsError> {
    let mut trusted = RootCertStore::empty();
    trusted.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    for path in paths.iter().filter(|path| has_ending(path, "crt")) {
        let file = match PemFile::read(path) {
            Err(PemError::Read { source, .. }) if source.kind() == ErrorKind::NotFound => continue,
            file => file?,
        };
        trusted.add_parsable_certificates(file.each_certificate().filter_map(Result::ok));
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
    let (chain, key) = (PemFile::read(path)?, PemFile::read(&key)?);
    let config = builder.with_client_auth_cert(chain.certificates()?, key.key()?);
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

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found == ending)
}

/// The files of a directory by name. A directory that cannot be read has none, as upstream does.
fn names(folder: &Path) -> Result<Vec<PathBuf>, HostCertsError> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut paths: Vec<_> = match entries {
        Ok(entries) => entries.iter().map(fs::DirEntry::path).collect(),
        Err(error) if is_skipped(&error) => Vec::new(),
        Err(source) => return Err(unreadable(folder, source).into()),
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;
    use crate::source::http::roots::builder;

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
        config(builder(), folder.path()).map_err(|error| error.to_string().replace(&root, "D"))
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
    fn what_is_not_a_certificate_hides_no_ca() {
        let ((first, _), (second, _)) = (pair(), pair());
        let folder = TempDir::new().unwrap();
        let bad = "-----BEGIN CERTIFICATE-----\n?\n-----END CERTIFICATE-----\n";
        let path = folder.path().join("ca.crt");
        fs::write(&path, format!("{first}{bad}{second}")).unwrap();
        let link = folder.path().join("old.crt");
        symlink(folder.path().join("removed"), &link).unwrap();
        let both = trusted(&[path, link.clone()]).unwrap().len();
        let none = trusted(&[link]).unwrap().len();
        assert_eq!(both - none, 2);
    }

    #[test]
    fn certificates_that_cannot_be_used_name_the_file() {
        let ((certificate, key), (_, another)) = (pair(), pair());
        let rest = "or the ending .crt for a CA certificate";
        for (files, expected) in [
            (
                vec![("a.cert", &*certificate), ("b.key", &key)],
                format!("D/b.key: client certificate or key without the other: expected D/b.cert too, {rest}"),
            ),
            (
                vec![("a.cert", &*certificate)],
                format!("D/a.cert: client certificate or key without the other: expected D/a.key too, {rest}"),
            ),
            (
                vec![("a.cert", &*certificate), ("a.key", &*key), ("b.cert", "")],
                "D/b.cert: second client certificate: expected one .cert with its .key".to_owned(),
            ),
            (
                vec![("a.cert", &*certificate), ("a.key", "x")],
                "D/a.key: no private key in it: expected PEM with BEGIN PRIVATE KEY, BEGIN RSA PRIVATE KEY or BEGIN EC \
                 PRIVATE KEY".to_owned(),
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
