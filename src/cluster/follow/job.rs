//! One content to load, and its result.

use std::sync::Arc;

use crate::cluster::follow::confidence::{Disbelief, HeldBack, KnownContent};
use crate::cluster::follow::content::LoadedContent;
use crate::source::digest::Sha256;
use crate::source::http::{FetchClass, FetchError};
use crate::telemetry::metrics::LoadFailure;
use olmguard_catalog::olm::Rules;

/// What makes content: the digest of its image, and the rules it was read by.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct ContentKey {
    pub(super) digest: String,
    /// The number of the rules, as the table counts them.
    pub(super) generation: u32,
}

/// The content that a catalog wants: of the digest that its object names.
#[derive(Clone, Debug)]
pub(super) struct Want {
    pub(super) key: ContentKey,
    /// The catalog.
    pub(super) name: String,
    /// The URL at which catalogd serves the content.
    pub(super) base: String,
    pub(super) image_ref: Option<String>,
    pub(super) last_unpacked: Option<String>,
}

/// Content to be loaded.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) want: Want,
    /// What it is read by.
    pub(super) rules: Rules,
    pub(super) task: Task,
}

/// What is to be done.
#[derive(Clone, Debug)]
pub(super) enum Task {
    /// Load the content.
    Load(KnownContent),
    /// Fetch again what is loaded and was fetched once, to see whether it has this SHA-256.
    Confirm(Sha256),
}

/// What came of a job.
#[derive(Debug)]
pub(super) enum LoadOutcome {
    /// Content, and the object names its digest still.
    Loaded(Arc<LoadedContent>),
    /// What is loaded is what catalogd serves.
    Confirmed,
    /// Nothing, for this reason.
    Failed(Failure),
}

/// Why content could not be loaded, in words of one line.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// Nothing was fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// Something was fetched that is not believed.
    #[error("{why}")]
    HeldBack { why: Disbelief, held: HeldBack },
    /// The object named other content by then.
    #[error("its digest changed while it was fetched")]
    Moved,
    /// The task that loaded it panicked.
    #[error("internal fault while it was loaded, see the log; please report this")]
    Panicked,
}

impl Failure {
    /// The label of metrics.
    pub(super) fn class(&self) -> LoadFailure {
        match self {
            Self::Fetch(error) => error.class().into(),
            Self::HeldBack { .. } => LoadFailure::Implausible,
            Self::Moved => LoadFailure::Moved,
            Self::Panicked => LoadFailure::Other,
        }
    }
}

impl From<FetchClass> for LoadFailure {
    fn from(class: FetchClass) -> Self {
        match class {
            FetchClass::Address => Self::Address,
            FetchClass::Connect => Self::Connect,
            FetchClass::Tls => Self::Tls,
            FetchClass::Timeout => Self::Timeout,
            FetchClass::Status => Self::Status,
            FetchClass::Truncated => Self::Truncated,
            FetchClass::TooLarge => Self::TooLarge,
            FetchClass::Content => Self::Content,
            FetchClass::Other => Self::Other,
        }
    }
}

/// Whether a job may begin beside these: a slow catalog does not hold up the others, and content
/// that is held twice, the old and the new, is that of one catalog at a time.
pub(super) fn may_begin(job: &Job, running: &[Job]) -> bool {
    let replacing = running.iter().any(Job::replaces);
    running.len() < MOST_AT_ONCE && !(job.replaces() && replacing)
}

impl Job {
    /// Whether content of the catalog is in use, and stays so if this fails.
    pub(super) fn is_loaded(&self) -> bool {
        match &self.task {
            Task::Load(known) => known.loaded.is_some(),
            Task::Confirm(_) => true,
        }
    }

    /// Whether other content of the catalog is held meanwhile.
    fn replaces(&self) -> bool {
        matches!(&self.task, Task::Load(known) if known.loaded.is_some())
    }
}

const MOST_AT_ONCE: usize = 2;
