//! A certificate from files that something else renews: cert-manager, service-ca or an administrator.
//!
//! The files are read every few seconds and compared by content. A watch on their directories only shortens the wait.
//! This is deliberate: the kubelet changes a mounted Secret by renaming a symlink next to the files (`..data`, in
//! [`pkg/volume/util/atomic_writer.go`]). A watch on the files themselves sees at most the first such change, and some
//! machines provide no watch.
//!
//! [`pkg/volume/util/atomic_writer.go`]: https://github.com/kubernetes/kubernetes/blob/v1.35.4/pkg/volume/util/atomic_writer.go

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::future::pending;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use ring::digest::{SHA256, digest};
use rustls::pki_types::ServerName;
use tokio::sync::Notify;
use tracing::{error, info, warn};

use crate::pem_file::PemFile;
use crate::restart::until_lost;
use crate::tls::leaf::utc;
use crate::tls::{
    Certificates, Current, Observer, ServedCertificate, ServerIdentity, TlsConfig, TlsError,
};

/// The paths of the files, and how they are served.
#[derive(Clone, Debug)]
pub struct CertificateFiles {
    /// PEM: the certificate, its chain after it.
    pub cert: PathBuf,
    /// PEM: the key of the certificate.
    pub key: PathBuf,
    /// The terms of connections. The CA certificates for clients are kept up to date too.
    pub terms: TlsConfig,
    /// The names that clients use. A certificate without one of them is reported as unfit, but still served.
    pub wanted: Vec<ServerName<'static>>,
    /// The interval at which the files are read even without a change event.
    pub poll: Duration,
}

/// The default interval. A change is seen within 10 s, with some time left to act on it.
pub const POLL: Duration = Duration::from_secs(9);

/// Reads the files, and keeps serving their contents. Must be called within a runtime.
///
/// A file that cannot be used is an error at first. Later it is only reported, and the last good content stays in use.
/// The pair and the CA certificates for clients are separate, so a fault of one does not delay the other.
pub fn serve(
    files: CertificateFiles,
    observer: Arc<dyn Observer>,
) -> Result<Certificates, TlsError> {
    serve_by(files, observer, Means::default())
}

fn serve_by(
    files: CertificateFiles,
    observer: Arc<dyn Observer>,
    means: Means,
) -> Result<Certificates, TlsError> {
    let found = (means.read)(&files);
    let (mark, identity, client) = (found.mark, found.identity?, found.client?);
    let first = ServedCertificate::new(&identity, &files.terms, client.as_ref())?;
    let wanted = files.wanted.clone();
    let renewal = Renewal {
        files: Arc::new(files),
        means,
        mark,
        identity,
        client,
        observer,
    };
    Ok(Certificates::new(first, wanted, |current| {
        renewal.run(current)
    }))
}

/// The functions that read and watch files.
struct Means {
    read: fn(&CertificateFiles) -> FoundFiles,
    watch: Start,
}

/// The task that reads the files again.
struct Renewal {
    files: Arc<CertificateFiles>,
    means: Means,
    /// The content that was found last, served or not.
    mark: PairMark,
    /// The last good certificate, which is served.
    identity: ServerIdentity,
    client: Option<PemFile>,
    observer: Arc<dyn Observer>,
}

impl Renewal {
    async fn run(mut self, current: Current) {
        loop {
            until_lost("Certificate renewal", self.renew(&current)).await;
        }
    }

    async fn renew(&mut self, current: &Current) {
        let watch = FileWatch::start(&self.files, self.means.watch);
        loop {
            watch.wait(self.files.poll).await;
            let (files, read) = (Arc::clone(&self.files), self.means.read);
            match tokio::task::spawn_blocking(move || read(&files)).await {
                Ok(found) => self.take(found, current),
                Err(error) if error.is_panic() => {
                    error!(%error, "Panicked while reading the certificate files, serving the old one");
                }
                // The read is cancelled only when the runtime ends, and this task ends with it.
                Err(_) => pending().await,
            }
        }
    }

    fn take(&mut self, found: FoundFiles, current: &Current) {
        let before = std::mem::replace(&mut self.mark, found.mark);
        let is_pair_new = before.pair != self.mark.pair;
        let is_client_new = before.client != self.mark.client;
        let identity = is_pair_new.then(|| self.good(found.identity, CERTIFICATE));
        let client = is_client_new.then(|| self.good(found.client, CLIENT_CA));
        let (identity, client) = (identity.flatten(), client.flatten());
        let parts = match (&identity, &client) {
            (None, None) => return,
            (Some(_), None) => CERTIFICATE,
            (None, Some(_)) => CLIENT_CA,
            (Some(_), Some(_)) => "certificate and client CA",
        };
        self.identity = identity.unwrap_or_else(|| self.identity.clone());
        if let Some(client) = client {
            self.client = client;
        }
        self.replace(current, parts);
    }

    /// Returns what was found, or reports why it cannot be used.
    fn good<T>(&self, found: Result<T, TlsError>, parts: &str) -> Option<T> {
        let refused = found.inspect_err(|error| {
            warn!(%error, parts, "Failed to load new TLS files, using the old ones");
            self.observer.refused(error);
        });
        refused.ok()
    }

    fn replace(&self, current: &Current, parts: &str) {
        let served =
            ServedCertificate::new(&self.identity, &self.files.terms, self.client.as_ref());
        let Some(served) = self.good(served, parts) else {
            return;
        };
        let leaf = served.leaf().clone();
        current.replace(served);
        info!(
            parts,
            serial = leaf.serial,
            not_after = utc(leaf.not_after),
            "Reloaded TLS files"
        );
        self.observer.reloaded(&leaf);
    }
}

impl Default for Means {
    fn default() -> Self {
        Self {
            read: settled,
            watch: watcher,
        }
    }
}

// === The contents of the files at one moment ===

/// The files as read, each part usable or not for a reason of its own.
struct FoundFiles {
    mark: PairMark,
    identity: Result<ServerIdentity, TlsError>,
    /// The CA certificates for clients, if clients must present a certificate.
    client: Result<Option<PemFile>, TlsError>,
}

/// A digest of what was found, to detect changes without keeping the contents.
#[derive(Clone, Debug, Eq, PartialEq)]
struct PairMark {
    pair: FoundFile,
    client: FoundFile,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum FoundFile {
    Content(Vec<u8>),
    Fault(String),
}

struct ReadFile {
    pair: Result<[PemFile; 2], TlsError>,
    client: Result<Option<PemFile>, TlsError>,
}

/// Reads until two readings agree, because a reading during a swap can return the old certificate with the new key. If
/// the files keep changing, the last reading is used, and the next poll reads them again.
fn settled(files: &CertificateFiles) -> FoundFiles {
    let mut read = ReadFile::new(files);
    for _ in 0..READINGS {
        let again = ReadFile::new(files);
        if again.mark() == read.mark() {
            break;
        }
        read = again;
    }
    FoundFiles {
        mark: read.mark(),
        identity: read
            .pair
            .and_then(|[cert, key]| ServerIdentity::from_pem(&cert, &key)),
        client: read.client,
    }
}

impl ReadFile {
    fn new(files: &CertificateFiles) -> Self {
        Self {
            pair: pair(files),
            client: files.terms.client_file(),
        }
    }

    fn mark(&self) -> PairMark {
        PairMark {
            pair: FoundFile::of(&self.pair),
            client: FoundFile::of(&self.client),
        }
    }
}

fn pair(files: &CertificateFiles) -> Result<[PemFile; 2], TlsError> {
    Ok([
        PemFile::read_again(&files.cert)?,
        PemFile::read_again(&files.key)?,
    ])
}

impl FoundFile {
    fn of<'a, F>(found: &'a Result<F, TlsError>) -> Self
    where
        &'a F: IntoIterator<Item = &'a PemFile>,
    {
        match found {
            Ok(files) => Self::Content(files.into_iter().flat_map(sum).collect()),
            Err(error) => Self::Fault(error.to_string()),
        }
    }
}

fn sum(file: &PemFile) -> Vec<u8> {
    digest(&SHA256, file.bytes()).as_ref().to_vec()
}

const READINGS: usize = 3;

const CERTIFICATE: &str = "certificate";

const CLIENT_CA: &str = "client CA";

// === A watch of the directories of the files, if the system provides one ===

/// A watch that reports possible changes. Without a watch, polling remains.
struct FileWatch {
    changed: Arc<Notify>,
    /// Dropping the watcher would end the watch.
    _watcher: Option<RecommendedWatcher>,
}

/// A function that starts a watch on these directories and signals each change.
type Start = fn(&BTreeSet<PathBuf>, Arc<Notify>) -> Result<RecommendedWatcher, notify::Error>;

impl FileWatch {
    /// Watches the directory of each file, which also contains `..data`.
    fn start(files: &CertificateFiles, start: Start) -> Self {
        let changed = Arc::new(Notify::new());
        let watcher = start(&folders(files), Arc::clone(&changed));
        let watcher = watcher.inspect_err(|error| {
            warn!(%error, poll = ?files.poll, "Failed to watch the certificate files, polling them");
        });
        Self {
            changed,
            _watcher: watcher.ok(),
        }
    }

    /// Returns after a change, with a delay to let it become complete, or otherwise after `poll`.
    async fn wait(&self, poll: Duration) {
        let changed = tokio::time::timeout(poll, self.changed.notified()).await;
        if changed.is_ok() {
            tokio::time::sleep(SETTLING).await;
        }
    }
}

fn watcher(
    folders: &BTreeSet<PathBuf>,
    changed: Arc<Notify>,
) -> Result<RecommendedWatcher, notify::Error> {
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        if event.map_or(true, |event| is_change(event.kind)) {
            changed.notify_one();
        }
    })?;
    for folder in folders {
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
    }
    Ok(watcher)
}

fn folders(files: &CertificateFiles) -> BTreeSet<PathBuf> {
    let client = files.terms.client_ca.as_ref().map(|ca| &ca.file);
    let files = [&files.cert, &files.key].into_iter().chain(client);
    files.map(|file| folder(file)).collect()
}

/// Returns the directory of a file; for a bare file name, the current one.
fn folder(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        Some(_) | None => PathBuf::from("."),
    }
}

/// Whether the event is a change. Reading the files is an event too, and would wake the task forever.
fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        _ => true,
    }
}

/// The delay after a change. The files of a pair are written one after the other, and this also limits how often events
/// cause a read.
const SETTLING: Duration = Duration::from_millis(100);
