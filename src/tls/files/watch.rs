//! A watch on the folders of the files, where the system has one to give.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;
use tracing::warn;

use crate::tls::files::Files;

/// Tells that something may have changed. Without one there is still the poll.
pub(super) struct FileWatch {
    changed: Arc<Notify>,
    /// Kept for what it sends.
    _watcher: Option<RecommendedWatcher>,
}

/// How a watch begins on these folders, that tells of each change.
pub(super) type Start =
    fn(&BTreeSet<PathBuf>, Arc<Notify>) -> Result<RecommendedWatcher, notify::Error>;

impl FileWatch {
    /// Watches the folder of each file, where `..data` is as well.
    pub(super) fn start(files: &Files, start: Start) -> Self {
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

    /// Returns after a change, once it has had time to become whole, or else after this time.
    pub(super) async fn wait(&self, poll: Duration) {
        let changed = tokio::time::timeout(poll, self.changed.notified()).await;
        if changed.is_ok() {
            tokio::time::sleep(SETTLING).await;
        }
    }
}

pub(super) fn watcher(
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

fn folders(files: &Files) -> BTreeSet<PathBuf> {
    let client = files.terms.client_ca.as_ref().map(|ca| &ca.file);
    let files = [&files.cert, &files.key].into_iter().chain(client);
    files.map(|file| folder(file)).collect()
}

/// That of a bare name is where we are.
fn folder(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        Some(_) | None => PathBuf::from("."),
    }
}

/// Reading the files is an event too, and would wake us for ever.
fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        _ => true,
    }
}

/// A pair is written one file after the other; also, nobody makes us read more often than this.
const SETTLING: Duration = Duration::from_millis(100);
