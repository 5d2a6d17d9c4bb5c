//! The catalogs with their contents, with a progress bar where reading them takes long.

use std::fmt;
use std::io::{self, IsTerminal};
use std::mem;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::check::saved::Saved;
use crate::cli::common::CatalogArgs;
use crate::olm::Rules;
use crate::snapshot::{CatalogState, Content, Currency, Snapshot};
use crate::source::archive::ArchiveError;
use crate::source::{Progress, load_content};
use crate::version::go;

/// Every catalog, and what could not be read of them.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) snapshot: Snapshot,
    pub(super) unreadable: Vec<Unreadable>,
}

/// What gives catalogs and cannot be read.
#[derive(Debug)]
pub(super) enum Unreadable {
    /// A `--catalog`.
    Catalog { name: String, why: String },
    /// The `--snapshot`.
    Snapshot(ArchiveError),
}

/// The catalogs of the snapshot, of the objects among the inputs, and of `--catalog`.
pub(super) fn load(
    saved: Option<Saved>,
    objects: Vec<CatalogState>,
    given: &CatalogArgs,
    rules: Rules,
) -> Loaded {
    let (mut states, fault) = saved.map(|saved| saved.load(&rules)).unwrap_or_default();
    let mut contents = contents(given, &rules);
    let mut unreadable: Vec<_> = contents.iter().filter_map(Unreadable::of).collect();
    unreadable.extend(fault.map(Unreadable::Snapshot));
    replace(&mut states, &mut contents);
    describe(&mut states, objects);
    fill(&mut states, contents);
    Loaded {
        snapshot: Snapshot::new(rules, states),
        unreadable,
    }
}

/// Gives catalogs of the snapshot the contents of `--catalog`, and takes those from the list. What the
/// snapshot says about the content that it holds is not true of another one.
fn replace(saved: &mut [CatalogState], contents: &mut Vec<(&str, Content)>) {
    contents.retain_mut(|(name, content)| {
        let state = saved.iter_mut().find(|state| state.name == *name);
        let is_new = state.is_none();
        if let Some(state) = state {
            state.content = mem::replace(content, Content::Missing);
            state.image_ref = None;
            state.last_unpacked = None;
            state.currency = Currency::Current;
        }
        is_new
    });
}

/// Lets objects say what a manifest says: which labels, priority and mode a catalog has, and that there
/// is one. What an object says wrong about a catalog stays wrong, whatever its content is.
fn describe(states: &mut Vec<CatalogState>, objects: Vec<CatalogState>) {
    for object in objects {
        match states.iter_mut().find(|state| state.name == object.name) {
            None => states.push(object),
            Some(state) => {
                state.labels = object.labels;
                state.priority = object.priority;
                state.availability = object.availability;
                if let Content::Unreadable(_) = object.content {
                    state.content = object.content;
                }
            }
        }
    }
}

/// Gives the catalogs that objects describe the contents of `--catalog`; one that no object describes
/// is a catalog as well.
fn fill(states: &mut Vec<CatalogState>, contents: Vec<(&str, Content)>) {
    for (name, content) in contents {
        match states.iter_mut().find(|state| state.name == name) {
            None => states.push(CatalogState::named(name, content)),
            Some(state) if matches!(state.content, Content::Missing) => state.content = content,
            Some(_) => {}
        }
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

impl Unreadable {
    fn of((name, content): &(&str, Content)) -> Option<Self> {
        match content {
            Content::Unreadable(why) => Some(Self::Catalog {
                name: (*name).to_owned(),
                why: why.clone(),
            }),
            Content::Loaded(_) | Content::Missing | Content::Unfetched(_) => None,
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Catalog { name, why } => write!(f, "catalog {}: {why}", go::quote(name)),
            Self::Snapshot(error) => error.fmt(f),
        }
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
