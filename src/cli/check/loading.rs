//! The catalogs with their contents, with a progress bar where reading them takes long.

use std::fmt;
use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::common::CatalogArgs;
use crate::olm::Rules;
use crate::snapshot::{CatalogState, Content, Snapshot};
use crate::source::{Progress, load_content};
use crate::version::go;

/// Every catalog, and which of `--catalog` could not be read.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) snapshot: Snapshot,
    pub(super) unreadable: Vec<UnreadableCatalog>,
}

/// A `--catalog` whose content cannot be read.
#[derive(Debug)]
pub(super) struct UnreadableCatalog {
    name: String,
    why: String,
}

/// Gives the catalogs that objects describe the contents of `--catalog`; one that no object
/// describes is a catalog as well.
///
/// What an object says wrong about a catalog stays wrong, whatever its content is.
pub(super) fn load(mut states: Vec<CatalogState>, given: &CatalogArgs, rules: Rules) -> Loaded {
    let mut unreadable = Vec::new();
    for (name, content) in contents(given, &rules) {
        if let Content::Unreadable(why) = &content {
            unreadable.push(UnreadableCatalog {
                name: name.to_owned(),
                why: why.clone(),
            });
        }
        match states.iter_mut().find(|state| state.name == name) {
            None => states.push(CatalogState::named(name, content)),
            Some(state) if matches!(state.content, Content::Missing) => state.content = content,
            Some(_) => {}
        }
    }
    Loaded {
        snapshot: Snapshot::new(rules, states),
        unreadable,
    }
}

/// The content of each catalog, in the order of the flags.
fn contents<'a>(given: &'a CatalogArgs, rules: &Rules) -> Vec<(&'a str, Content)> {
    let progress = Progress::default();
    let load = || {
        let catalogs = given.iter();
        catalogs
            .map(|catalog| {
                let content = load_content(&catalog.path, rules, &progress);
                (catalog.name.as_str(), content)
            })
            .collect()
    };
    if io::stderr().is_terminal() {
        watched(&progress, load)
    } else {
        load()
    }
}

impl fmt::Display for UnreadableCatalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "catalog {}: {}", go::quote(&self.name), self.why)
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
