//! The CA certificates that servers are verified with.
//!
//! The file of a CA is read again before each request and compared by its content. It is usually a mounted Secret or
//! `ConfigMap`, which changes by renaming the symbolic link to its directory. A fault is logged once, and the last good
//! certificates stay in use.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hyper_rustls::ConfigBuilderExt;
use rustls::client::{Resumption, WantsClientCert};
use rustls::crypto::ring as provider;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};
use tracing::{info, warn};

use crate::source::digest::Sha256;
use olmguard_server::pem_file::{
    FILE_LIMIT, PemError, PemFile, no_certificate, too_large, unreadable,
};

/// The TLS configuration of connections, from the last reading of the CA.
#[derive(Debug)]
pub(super) struct Roots {
    /// The origin of the trusted CAs, as messages name it.
    pub(super) trusted: String,
    config: RootsConfig,
}

#[derive(Debug)]
enum RootsConfig {
    /// The certificates that were read at the start.
    Fixed(Arc<ClientConfig>),
    /// Certificates in a file or a directory, which is read again.
    Followed(PathBuf, Mutex<RootsState>),
}

/// The content read last, and the last good configuration.
#[derive(Debug)]
struct RootsState {
    /// The mark of the content.
    mark: Result<Vec<Sha256>, String>,
    config: Arc<ClientConfig>,
}

impl Roots {
    pub(super) fn new(ca: Option<&Path>) -> Result<Self, RootsError> {
        let Some(path) = ca else {
            return Ok(Self::fixed(SYSTEM.to_owned(), system()));
        };
        let content = read_ca(path);
        let mark = mark(&content);
        let config = Arc::new(trusting(roots(path, &content?)?));
        let seen = Mutex::new(RootsState { mark, config });
        Ok(Self {
            trusted: path.display().to_string(),
            config: RootsConfig::Followed(path.to_owned(), seen),
        })
    }

    /// Trusts the CAs of the system and the certificates in the directory of a host in `certs.d`.
    pub(super) fn of_host(folder: &Path) -> Result<Self, HostCertsError> {
        let trusted = format!("{SYSTEM} and {}", folder.display());
        Ok(Self::fixed(trusted, finish(config(builder(), folder)?)))
    }

    fn fixed(trusted: String, config: ClientConfig) -> Self {
        let config = RootsConfig::Fixed(Arc::new(config));
        Self { trusted, config }
    }

    /// Returns the current configuration. Reads files, so it can block.
    pub(super) fn config(&self) -> Arc<ClientConfig> {
        match &self.config {
            RootsConfig::Fixed(config) => Arc::clone(config),
            RootsConfig::Followed(path, seen) => {
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                seen.look_again(path);
                Arc::clone(&seen.config)
            }
        }
    }
}

impl RootsState {
    fn look_again(&mut self, path: &Path) {
        let content = read_ca(path);
        let mark = mark(&content);
        if mark == self.mark {
            return;
        }
        self.mark = mark;
        match content.and_then(|content| roots(path, &content)) {
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

/// Returns a mark that changes with the content: the digest of each file, or the reason why it cannot be read.
fn mark(files: &Result<Vec<PemFile>, RootsError>) -> Result<Vec<Sha256>, String> {
    let files = files.as_ref().map_err(ToString::to_string)?;
    let bytes = files.iter().map(PemFile::bytes);
    Ok(bytes.map(Sha256::of).collect())
}

const SYSTEM: &str = "the system's store";

/// Trusts the CA certificates of the system. If it has none, no certificate is accepted. That is not an error here,
/// because plain HTTP still works.
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

pub(super) fn builder() -> ConfigBuilder<ClientConfig, WantsVerifier> {
    ClientConfig::builder_with_provider(Arc::new(provider::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring has ciphers for TLS 1.2 and 1.3")
}

/// Disables session resumption, so each connection verifies the certificate: a resumed session could outlive it.
fn finish(mut config: ClientConfig) -> ClientConfig {
    config.resumption = Resumption::disabled();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}

// === The certificates of a CA, from a file or a directory ===
//
// A directory is read as operator-controller reads its `--catalogd-cas-dir`: every file in it. Files without
// certificates are skipped, because a mounted Secret can also contain keys.
//
// Upstream: operator-controller, [`internal/shared/util/http/certutil.go`].
//
// [`internal/shared/util/http/certutil.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/shared/util/http/certutil.go

/// Why the certificates of a CA cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RootsError {
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] PemError),
    /// One of the certificates cannot be used as a CA.
    #[error("{}: certificate {number} cannot be used: {why}", path.display())]
    Certificate {
        /// The file or directory.
        path: PathBuf,
        /// The number of the certificate, counted from 1, with the files of a directory in the order of names.
        number: usize,
        /// The error of rustls.
        why: Box<str>,
    },
}

/// Collects the certificates of these files, which are at `path`.
fn roots(path: &Path, files: &[PemFile]) -> Result<RootCertStore, RootsError> {
    let mut roots = RootCertStore::empty();
    let certificates = files.iter().flat_map(PemFile::each_certificate);
    for (at, certificate) in certificates.enumerate() {
        let added = roots.add(certificate?);
        added.map_err(|error| RootsError::Certificate {
            path: path.to_owned(),
            number: at + 1,
            why: error.to_string().into(),
        })?;
    }
    if roots.is_empty() {
        return Err(no_certificate(path, "").into());
    }
    Ok(roots)
}

/// Reads the file, or all files of the directory.
fn read_ca(path: &Path) -> Result<Vec<PemFile>, RootsError> {
    let (mut read, mut bytes) = (Vec::new(), 0);
    for file in files(path).map_err(|source| unreadable(path, source))? {
        let file = PemFile::read(&file)?;
        bytes += file.bytes().len() as u64;
        if bytes > FILE_LIMIT {
            return Err(too_large(path).into());
        }
        read.push(file);
    }
    Ok(read)
}

/// Returns the path itself, or the files of the directory in the order of names. Symbolic links are followed.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = entries(path)?;
    files.retain(|path| path.is_file());
    Ok(files)
}

/// Lists a directory in the order of names.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths: Vec<_> = entries.collect::<io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}

// === The certificates for one host, from its directory in `certs.d` ===
//
// ```text
// NAME.crt             CA certificates, trusted in addition to the CA certificates of the system
// NAME.cert, NAME.key  the client certificate and its key
// ```
//
// Text in `NAME.crt` that is not a certificate is skipped, and so is a link to a missing file. Upstream does the same,
// but it also reads a certificate after a block without an end, which is skipped here. Upstream can choose between
// several client certificates. Here there can be only one.
//
// The certificates are used for all connections for an image, including those to the token service of the registry and
// to its blob store. Upstream does the same.
//
// Upstream: go.podman.io/image v5.40.0, [`pkg/tlsclientconfig/tlsclientconfig.go`] (`SetupCertificates`).
//
// [`pkg/tlsclientconfig/tlsclientconfig.go`]: https://github.com/containers/container-libs/blob/image/v5.40.0/image/pkg/tlsclientconfig/tlsclientconfig.go

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
        /// The second certificate.
        path: PathBuf,
    },
    /// The certificate and the key do not match.
    #[error("{}: client certificate cannot be used: {source}", .path.display())]
    Client {
        /// The certificate.
        path: PathBuf,
        /// The error of rustls.
        source: rustls::Error,
    },
}

/// Builds the TLS configuration for the host with this directory.
pub(super) fn config(
    builder: ConfigBuilder<ClientConfig, WantsVerifier>,
    folder: &Path,
) -> Result<ClientConfig, HostCertsError> {
    let names = names(folder)?;
    with_client(builder.with_root_certificates(trusted(&names)?), &names)
}

/// Returns the CAs of the system and of the directory.
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

/// Adds the client certificate of the directory, if it has one.
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

/// Returns the file that belongs to a certificate or a key.
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

/// Lists the directory of a host. One that does not exist or must not be read is empty, as it is upstream.
fn names(folder: &Path) -> Result<Vec<PathBuf>, HostCertsError> {
    let skipped = [ErrorKind::NotFound, ErrorKind::PermissionDenied];
    match entries(folder) {
        Err(error) if skipped.contains(&error.kind()) => Ok(Vec::new()),
        names => names.map_err(|source| unreadable(folder, source).into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{self, Write};
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;
    use tracing_subscriber::fmt::MakeWriter;

    use super::*;

    /// A log whose text the test reads.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl MakeWriter<'_> for Log {
        type Writer = Self;

        fn make_writer(&self) -> Self {
            self.clone()
        }
    }

    impl Log {
        /// Returns the lines that are logged while `act` runs, without the time.
        fn of(act: impl FnOnce()) -> Vec<String> {
            let log = Self::default();
            let format = tracing_subscriber::fmt().without_time().with_ansi(false);
            let subscriber = format.with_writer(log.clone()).finish();
            tracing::subscriber::with_default(subscriber, act);
            let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
            text.lines().map(str::to_owned).collect()
        }
    }

    fn pem() -> String {
        let names = ["localhost".to_owned()];
        rcgen::generate_simple_self_signed(names)
            .unwrap()
            .cert
            .pem()
    }

    fn file(folder: &TempDir, text: &str) -> PathBuf {
        let path = folder.path().join("ca.crt");
        fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn damage_is_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder, &pem());
        let roots = Roots::new(Some(&path)).unwrap();
        let first = roots.config();
        let lines = Log::of(|| {
            for text in ["", "", "# another nothing"] {
                file(&folder, text);
                assert!(Arc::ptr_eq(&first, &roots.config()), "the old ones stay");
            }
            fs::remove_file(&path).unwrap();
            assert!(Arc::ptr_eq(&first, &roots.config()), "the old ones stay");
            roots.config();
        });
        let kept =
            "Failed to load the new CA certificates for catalogd, keeping the old ones error=";
        let of = |why| {
            format!(
                " WARN olmguard::source::http::roots: {kept}{}: {why}",
                path.display()
            )
        };
        let nothing = of("no certificate in it: expected PEM with BEGIN CERTIFICATE");
        let gone = of("cannot read: No such file or directory (os error 2)");
        assert_eq!(lines, [nothing.clone(), nothing, gone]);
    }

    #[test]
    fn what_is_new_is_taken_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder, &pem());
        let roots = Roots::new(Some(&path)).unwrap();
        let first = roots.config();
        assert!(Arc::ptr_eq(&first, &roots.config()), "nothing is new");
        let lines = Log::of(|| {
            file(&folder, &pem());
            let second = roots.config();
            assert!(!Arc::ptr_eq(&first, &second));
            assert!(Arc::ptr_eq(&second, &roots.config()), "nothing is new");
        });
        assert_eq!(lines.len(), 1, "{lines:?}");
    }

    #[test]
    fn no_session_is_resumed_and_only_http1_is_spoken() {
        for config in [system(), Arc::unwrap_or_clone(of_file())] {
            assert_eq!(config.alpn_protocols, [b"http/1.1"]);
            let resumption = format!("{:?}", config.resumption);
            assert_eq!(resumption, format!("{:?}", Resumption::disabled()));
        }
    }

    fn of_file() -> Arc<ClientConfig> {
        let folder = tempfile::tempdir().unwrap();
        Roots::new(Some(&file(&folder, &pem()))).unwrap().config()
    }

    /// A certificate and its key.
    fn pair() -> (String, String) {
        let pair = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        (pair.cert.pem(), pair.signing_key.serialize_pem())
    }

    /// Returns the configuration for a directory with these files.
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
