//! The CA certificates by which a server is trusted.
//!
//! A CA's file is read again before each try and compared by its content: it is a mounted Secret or
//! `ConfigMap`, which changes by the renaming of links beside it. What cannot be used is told once,
//! and what was good last stays.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hyper_rustls::ConfigBuilderExt;
use rustls::client::Resumption;
use rustls::crypto::ring as provider;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};
use tracing::{info, warn};

use super::host_certs::{self, HostCertsError};
use crate::pem_file::{FILE_LIMIT, PemError, PemFile, no_certificate, too_large, unreadable};
use crate::source::digest::Sha256;

/// The TLS configuration of connections, from the last reading of the CA.
#[derive(Debug)]
pub(super) struct Roots(RootsKind);

#[derive(Debug)]
enum RootsKind {
    /// What the system trusted at the start.
    System(Arc<ClientConfig>),
    /// The same, with the certificates for a host in a directory.
    Host(PathBuf, Arc<ClientConfig>),
    /// A file or folder.
    Path(PathBuf, Mutex<RootsState>),
}

/// What was found last, and what was good last.
#[derive(Debug)]
struct RootsState {
    mark: ContentMark,
    config: Arc<ClientConfig>,
}

/// A mark that changes with the content: the digest of each file, or why there is none.
#[derive(Debug, Eq, PartialEq)]
enum ContentMark {
    Content(Vec<Sha256>),
    Fault(String),
}

impl Roots {
    pub(super) fn new(ca: Option<&Path>) -> Result<Self, RootsError> {
        let Some(path) = ca else {
            return Ok(Self(RootsKind::System(Arc::new(system()))));
        };
        let content = read_ca(path);
        let mark = ContentMark::of(&content);
        let config = Arc::new(trusting(roots(path, &content?)?));
        let seen = Mutex::new(RootsState { mark, config });
        Ok(Self(RootsKind::Path(path.to_owned(), seen)))
    }

    /// The CAs of the system, and the certificates for a host in its directory of `certs.d`.
    pub(super) fn of_host(folder: &Path) -> Result<Self, HostCertsError> {
        let config = Arc::new(finish(host_certs::config(builder(), folder)?));
        Ok(Self(RootsKind::Host(folder.to_owned(), config)))
    }

    /// The terms of now. It reads files.
    pub(super) fn config(&self) -> Arc<ClientConfig> {
        match &self.0 {
            RootsKind::System(config) | RootsKind::Host(_, config) => Arc::clone(config),
            RootsKind::Path(path, seen) => {
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                seen.look_again(path);
                Arc::clone(&seen.config)
            }
        }
    }

    /// The origin of the trusted CAs, as messages name it.
    pub(super) fn trusted(&self) -> String {
        match &self.0 {
            RootsKind::System(_) => "the system's store".to_owned(),
            RootsKind::Host(folder, _) => {
                format!("the system's store and {}", folder.display())
            }
            RootsKind::Path(path, _) => path.display().to_string(),
        }
    }
}

impl RootsState {
    fn look_again(&mut self, path: &Path) {
        let content = read_ca(path);
        let mark = ContentMark::of(&content);
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

impl ContentMark {
    fn of(files: &Result<Vec<PemFile>, RootsError>) -> Self {
        match files {
            Ok(files) => {
                let bytes = files.iter().map(PemFile::bytes);
                Self::Content(bytes.map(Sha256::of).collect())
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

pub(super) fn builder() -> ConfigBuilder<ClientConfig, WantsVerifier> {
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

// === The certificates of a CA, from a file or a folder ===
//
// A directory is read as operator-controller reads its `--catalogd-cas-dir`: every file in it, without
// those that have no certificates, because a mounted Secret can hold keys too.
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
        /// The file or folder.
        path: PathBuf,
        /// Which, counted from 1, files of a folder in the order of their names.
        number: usize,
        /// What rustls says.
        why: Box<str>,
    },
}

/// The CAs whose certificates are in these files, which are at `path`.
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

/// The file, or all files of the folder.
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{self, Write};

    use tempfile::TempDir;
    use tracing_subscriber::fmt::MakeWriter;

    use super::*;

    /// A log that a test reads.
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
        /// What is logged while `act` runs, a line each, without the time.
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
}
