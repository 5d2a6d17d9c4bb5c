//! How far the reading of catalogs is, shown to whoever waits at a terminal.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::source::Progress;

/// Does `work`, and shows how far it is where that takes long and somebody looks on.
pub(crate) fn shown<T: Send>(progress: &Progress, work: impl FnOnce() -> T + Send) -> T {
    if io::stderr().is_terminal() {
        watched(progress, work)
    } else {
        work()
    }
}

/// Runs `work`, and shows how far it is once it has taken longer than [`PATIENCE`].
fn watched<T: Send>(progress: &Progress, work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let (done, ended) = mpsc::channel::<()>();
        let worker = scope.spawn(move || {
            let result = work();
            drop(done);
            result
        });
        let started = Instant::now();
        let mut bar = None;
        while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            if started.elapsed() >= PATIENCE {
                show(bar.get_or_insert_with(|| new_bar(progress)), progress);
            }
        }
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        worker
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// What is fetched has no length that is known before.
fn new_bar(progress: &Progress) -> ProgressBar {
    let template = match progress.total() {
        0 => "loading catalogs {spinner} {bytes}",
        _ => "loading catalogs {wide_bar} {bytes}/{total_bytes}",
    };
    let style = ProgressStyle::with_template(template);
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn show(bar: &ProgressBar, progress: &Progress) {
    bar.set_length(progress.total());
    bar.set_position(progress.done());
}

const PATIENCE: Duration = Duration::from_millis(500);
const TICK: Duration = Duration::from_millis(100);
