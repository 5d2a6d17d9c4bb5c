//! The contents of the catalogs that `--catalog` names, with a progress bar where that takes long.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::check::args::CheckArgs;
use crate::olm::Rules;
use crate::snapshot::Content;
use crate::source::{Progress, load_content};

/// The content of each catalog, in the order of the flags.
pub(super) fn contents(args: &CheckArgs, rules: &Rules) -> Vec<(String, Content)> {
    let progress = Progress::default();
    let load = || {
        let catalogs = args.common.catalog.iter();
        catalogs
            .map(|catalog| {
                (
                    catalog.name.clone(),
                    load_content(&catalog.path, rules, &progress),
                )
            })
            .collect()
    };
    if io::stderr().is_terminal() {
        watched(&progress, load)
    } else {
        load()
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
                show(bar.get_or_insert_with(new_bar), progress);
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

fn new_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("loading catalogs {wide_bar} {bytes}/{total_bytes}");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn show(bar: &ProgressBar, progress: &Progress) {
    bar.set_length(progress.total());
    bar.set_position(progress.done());
}

const PATIENCE: Duration = Duration::from_millis(500);
const TICK: Duration = Duration::from_millis(100);
