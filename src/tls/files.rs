//! A certificate from files that somebody else renews: cert-manager, service-ca, a person.
//!
//! The files are read every few seconds and compared by their content; a watch on their folders only
//! shortens the wait. That is the other way round than it seems natural, and on purpose: the kubelet
//! changes a mounted Secret by renaming a symlink beside the files (`..data`, in
//! [`pkg/volume/util/atomic_writer.go`]), of which a watch on the files themselves sees the first time
//! at best, and on some machines no watch is to be had.
//!
//! [`pkg/volume/util/atomic_writer.go`]: https://github.com/kubernetes/kubernetes/blob/v1.35.4/pkg/volume/util/atomic_writer.go

mod found;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use tracing::{error, info, warn};

use crate::tls::certificates::{Current, ServedCertificate};
use crate::tls::fitness::utc;
use crate::tls::pem::PemFile;
use crate::tls::{Certificates, Identity, Observer, TlsConfig, TlsError};
use found::{FoundFiles, Mark};
use watch::FileWatch;

/// Where the files are, and how they are served.
#[derive(Clone, Debug)]
pub struct Files {
    /// PEM: the certificate, its chain after it.
    pub cert: PathBuf,
    /// PEM: the key of the certificate.
    pub key: PathBuf,
    /// On which terms connections are taken; the authorities of clients are kept up to date too.
    pub terms: TlsConfig,
    /// The names that the certificate must be for to be fit; it is served all the same.
    pub wanted: Vec<ServerName<'static>>,
    /// How often the files are read without any sign of a change.
    pub poll: Duration,
}

/// A change is seen within 10 s, with some time left to act on it.
pub const POLL: Duration = Duration::from_secs(9);

/// Reads the files, and goes on serving what they hold. It must be called within a runtime.
///
/// What cannot be used is an error at first, and later reported while what was good last goes on: the
/// pair and the authorities of clients each for themselves, so that a fault of one does not hold up
/// the other.
pub fn serve(files: Files, observer: Arc<dyn Observer>) -> Result<Certificates, TlsError> {
    serve_by(files, observer, Means::default())
}

fn serve_by(
    files: Files,
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

/// How files are read and watched.
struct Means {
    read: fn(&Files) -> FoundFiles,
    watch: watch::Start,
}

/// What looks for changes.
struct Renewal {
    files: Arc<Files>,
    means: Means,
    /// What was found last, served or not.
    mark: Mark,
    /// What was good last, and is served.
    identity: Identity,
    client: Option<PemFile>,
    observer: Arc<dyn Observer>,
}

impl Renewal {
    async fn run(mut self, current: Current) {
        let watch = FileWatch::start(&self.files, self.means.watch);
        loop {
            watch.wait(self.files.poll).await;
            let (files, read) = (Arc::clone(&self.files), self.means.read);
            match tokio::task::spawn_blocking(move || read(&files)).await {
                Ok(found) => self.take(found, &current),
                Err(error) if error.is_panic() => {
                    error!(%error, "Panicked while reading the certificate files, serving the old one");
                }
                // It is cancelled when the runtime ends, and so is this.
                Err(_) => return,
            }
        }
    }

    fn take(&mut self, found: FoundFiles, current: &Current) {
        let before = std::mem::replace(&mut self.mark, found.mark);
        let is_pair_new = before.pair != self.mark.pair;
        let is_client_new = before.client != self.mark.client;
        let identity = is_pair_new.then(|| self.good(found.identity)).flatten();
        let client = is_client_new.then(|| self.good(found.client)).flatten();
        if identity.is_none() && client.is_none() {
            return;
        }
        self.identity = identity.unwrap_or_else(|| self.identity.clone());
        if let Some(client) = client {
            self.client = client;
        }
        self.replace(current);
    }

    /// What was found, or nothing after saying why.
    fn good<T>(&self, found: Result<T, TlsError>) -> Option<T> {
        let refused = found.inspect_err(|error| {
            warn!(%error, "Failed to load the new certificate, serving the old one");
            self.observer.refused(error);
        });
        refused.ok()
    }

    fn replace(&self, current: &Current) {
        let served =
            ServedCertificate::new(&self.identity, &self.files.terms, self.client.as_ref());
        let Some(served) = self.good(served) else {
            return;
        };
        let leaf = served.leaf().clone();
        current.replace(served);
        info!(
            serial = leaf.serial,
            not_after = utc(leaf.not_after),
            "Reloaded certificate"
        );
        self.observer.reloaded(&leaf);
    }
}

impl Default for Means {
    fn default() -> Self {
        Self {
            read: found::settled,
            watch: watch::watcher,
        }
    }
}

#[cfg(test)]
mod tests;
