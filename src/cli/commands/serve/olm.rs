//! The OLM to judge edits for: set by flags, otherwise detected in the cluster.
//!
//! A detected OLM counts until another one is detected. An unreachable cluster, or a Deployment that is missing for a
//! while, changes no verdict.

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kube::Client;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tracing::{info, warn};

use crate::cluster::olm::{self, FindError, OlmAssumption, OlmEvent, RunningOlm, compare};
use crate::facts::olm::OlmRequest;
use olmguard_catalog::olm::{PreflightMode, Rules};
use olmguard_server::ReadinessCheck;
use olmguard_server::telemetry::Metrics;
use olmguard_server::telemetry::metrics::{WatchMetrics, WatchedResource};
use olmguard_server::tls::{Clock, SystemClock};
use olmguard_views::readiness::{CheckReadiness, OlmEvidence};

/// The flags about the OLM.
#[derive(Clone, Debug)]
pub(super) struct OlmFlags {
    pub(super) request: OlmRequest,
    pub(super) namespace: Option<String>,
    /// The result for an edit whose bundle cannot be installed.
    pub(super) preflight: PreflightMode,
}

/// The OLM in use, in words for probes.
#[derive(Debug, Default)]
pub(super) struct OlmBoard(Mutex<OlmWords>);

#[derive(Debug, Default)]
struct OlmWords {
    taken: Option<String>,
    /// Whether none of this is assumed.
    is_certain: bool,
    /// The rules of the last detected OLM. They outlive a restart of the tasks that detect it.
    found: Option<Rules>,
    /// The reason why OLM no longer seems to exist.
    missing: Option<String>,
    /// The reason why the current state is unknown.
    fault: Option<String>,
}

/// The rules of a release, with the reason for choosing it.
#[derive(Debug)]
struct ChosenRelease {
    rules: Rules,
    words: String,
    is_certain: bool,
}

/// The state between two events about the OLM.
struct OlmFollower {
    asked: OlmFlags,
    board: Arc<OlmBoard>,
    watches: Arc<WatchMetrics>,
}

impl OlmFlags {
    /// Detects the OLM, and detects changes of it, in tasks of their own.
    pub(super) fn watch(
        self,
        client: Client,
        board: &Arc<OlmBoard>,
        metrics: &Metrics,
        rules: mpsc::Sender<Rules>,
        tasks: &mut JoinSet<()>,
    ) {
        let (events, mut received) = mpsc::channel(1);
        tasks.spawn(olm::watch(client, self.namespace.clone(), events));
        let mut follower = OlmFollower {
            asked: self,
            board: Arc::clone(board),
            watches: Arc::clone(&metrics.watches),
        };
        tasks.spawn(async move {
            while let Some(event) = received.recv().await {
                if let Some(now) = follower.take(event)
                    && rules.send(now).await.is_err()
                {
                    return;
                }
            }
        });
    }

    /// The release of the flags, otherwise the detected release.
    fn found(&self, found: &RunningOlm) -> ChosenRelease {
        let taken = self.request.release.unwrap_or(found.release);
        let set = self.request.gates(taken).unwrap_or_else(|error| {
            warn!(%error, "Ignoring --olm-feature-gates, using the feature gates of the running OLM");
            None
        });
        let differences = compare(found, self.request.release, set);
        info!(%found, "Detected OLM");
        let warnings: Vec<&OlmAssumption> = found.warnings.iter().chain(&differences).collect();
        for warning in &warnings {
            warn!(%warning, "Detected OLM with a warning");
        }
        ChosenRelease {
            rules: found
                .rules_unless(self.request.release, set)
                .with_preflight(self.preflight),
            words: words(found, &warnings),
            is_certain: warnings.is_empty(),
        }
    }

    /// The release of the flags, otherwise the newest release.
    fn not_found(&self, error: &FindError) -> ChosenRelease {
        let taken = self.request.release.unwrap_or_default();
        warn!(%error, release = taken.name(), "Failed to detect the OLM release, assuming this one");
        let how = match self.request.release {
            Some(_) => "set with --olm-release",
            None => "the newest known release",
        };
        // Gates that this release does not know are reported once the release is certain.
        let gates = self.request.gates(taken).ok().flatten();
        ChosenRelease {
            rules: Rules::new(taken, gates.unwrap_or_default()).with_preflight(self.preflight),
            words: format!("checked as OLM {taken}, {how}: {error}"),
            is_certain: false,
        }
    }
}

impl OlmFollower {
    /// The rules from now on, if they may have changed.
    fn take(&mut self, event: OlmEvent) -> Option<Rules> {
        match event {
            OlmEvent::Found(found) => {
                let taken = self.asked.found(&found);
                let rules = taken.rules.clone();
                Some(self.board.put(taken, Some(rules)))
            }
            OlmEvent::NotFound(error) => Some(match self.board.found() {
                Some(rules) => {
                    warn!(%error, "Failed to detect the OLM release, keeping the last one detected");
                    self.board.missing(error.to_string());
                    rules
                }
                None => self.board.put(self.asked.not_found(&error), None),
            }),
            OlmEvent::Alive => {
                self.watches
                    .heard(WatchedResource::Deployment, SystemClock.now());
                self.board.fault(None);
                None
            }
            OlmEvent::Lost(fault) => {
                self.watches.lost(WatchedResource::Deployment);
                self.watches
                    .failed(WatchedResource::Deployment, fault.class);
                self.board.fault(Some(fault.words));
                None
            }
        }
    }
}

fn words(found: &RunningOlm, warnings: &[&OlmAssumption]) -> String {
    let found = std::iter::once(found.to_string());
    let all: Vec<_> = found
        .chain(warnings.iter().map(ToString::to_string))
        .collect();
    all.join("; ")
}

impl OlmBoard {
    /// Shows the chosen release, and keeps the rules of a detected one.
    fn put(&self, taken: ChosenRelease, found: Option<Rules>) -> Rules {
        *self.words() = OlmWords {
            taken: Some(taken.words),
            is_certain: taken.is_certain,
            found,
            ..OlmWords::default()
        };
        taken.rules
    }

    fn found(&self) -> Option<Rules> {
        self.words().found.clone()
    }

    fn missing(&self, why: String) {
        self.words().missing = Some(why);
    }

    fn fault(&self, fault: Option<String>) {
        self.words().fault = fault;
    }

    /// Locks the words. No operation under the lock can fail halfway.
    fn words(&self) -> MutexGuard<'_, OlmWords> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A missing OLM never makes the server unready. The OLM detected earlier is used, or the newest release.
impl ReadinessCheck for OlmBoard {
    fn readiness(&self) -> CheckReadiness {
        let words = self.words();
        CheckReadiness {
            olm: Some(words.evidence()),
            ..CheckReadiness::new("olm", Ok(words.line()))
        }
    }
}

impl OlmWords {
    fn line(&self) -> String {
        let taken = self.taken.as_deref().unwrap_or("not known yet");
        match (&self.fault, &self.missing) {
            (Some(fault), _) => format!("{taken}; the cluster cannot be asked now: {fault}"),
            (None, Some(missing)) => format!("{taken}; not found any more: {missing}"),
            (None, None) => taken.to_owned(),
        }
    }

    fn evidence(&self) -> OlmEvidence {
        let is_now = self.fault.is_none() && self.missing.is_none();
        match (&self.taken, self.is_certain) {
            (None, _) => OlmEvidence::Pending,
            (Some(_), false) => OlmEvidence::Assumed,
            (Some(_), true) if is_now => OlmEvidence::Found,
            (Some(_), true) => OlmEvidence::Earlier,
        }
    }
}
