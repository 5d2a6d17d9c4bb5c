//! A certificate from files that somebody else renews: cert-manager, service-ca, a person.
//!
//! The files are read every few seconds and compared by their content; a watch on their folders only
//! shortens the wait. That is the other way round than it seems natural, and on purpose: the kubelet
//! changes a mounted Secret by renaming a symlink beside the files (`..data`, in
//! `pkg/volume/util/atomic_writer.go`), of which a watch on the files themselves sees the first time
//! at best, and on some machines no watch is to be had.

mod found;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use tracing::{info, warn};

use crate::tls::certificates::Current;
use crate::tls::fitness::utc;
use crate::tls::{Certificates, Observer, Terms, TlsError};
use found::{Found, Mark};
use watch::Watch;

/// Where the files are, and how they are served.
#[derive(Clone, Debug)]
pub struct Files {
    /// PEM: the certificate, its chain after it.
    pub cert: PathBuf,
    /// PEM: the key of the certificate.
    pub key: PathBuf,
    /// On which terms connections are taken; the authorities of clients are kept up to date too.
    pub terms: Terms,
    /// The names that the certificate must be for to be fit; it is served all the same.
    pub wanted: Vec<ServerName<'static>>,
    /// How often the files are read without any sign of a change.
    pub poll: Duration,
}

/// A change is seen within 10 s, with some time left to act on it.
pub const POLL: Duration = Duration::from_secs(9);

/// Reads the files, and goes on serving what they hold. It must be called within a runtime.
///
/// What cannot be used is an error at first, and later reported while what was served before still
/// is.
pub fn serve(files: Files, observer: Arc<dyn Observer>) -> Result<Certificates, TlsError> {
    let found = found::settled(&files);
    let (wanted, mark) = (files.wanted.clone(), found.mark());
    let first = found.served(&files)?;
    let renewal = Renewal {
        files: Arc::new(files),
        mark,
        observer,
    };
    Ok(Certificates::new(first, wanted, |current| {
        renewal.run(current)
    }))
}

/// What looks for changes.
struct Renewal {
    files: Arc<Files>,
    /// What was found last, served or not.
    mark: Mark,
    observer: Arc<dyn Observer>,
}

impl Renewal {
    async fn run(mut self, current: Current) {
        let watch = Watch::start(&self.files);
        loop {
            watch.wait(self.files.poll).await;
            let files = Arc::clone(&self.files);
            let look = tokio::task::spawn_blocking(move || found::settled(&files));
            // It is cancelled when the runtime ends, and so is this.
            let Ok(found) = look.await else { return };
            self.take(found, &current);
        }
    }

    fn take(&mut self, found: Found, current: &Current) {
        let mark = found.mark();
        if mark == self.mark {
            return;
        }
        self.mark = mark;
        match found.served(&self.files) {
            Ok(served) => {
                let leaf = served.leaf().clone();
                current.replace(served);
                info!(
                    serial = leaf.serial,
                    not_after = utc(leaf.not_after),
                    "Reloaded certificate"
                );
                self.observer.reloaded(&leaf);
            }
            Err(error) => {
                warn!(%error, "Cannot use the new certificate, the old one is still served");
                self.observer.refused(&error);
            }
        }
    }
}

#[cfg(test)]
mod tests;
