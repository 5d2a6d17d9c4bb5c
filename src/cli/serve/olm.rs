//! Which OLM edits are judged for: what flags say, and what runs in the cluster where they do not.

use std::sync::{Arc, Mutex, PoisonError};

use kube::Client;
use tokio::sync::mpsc;
use tracing::{info, warn};

use crate::cli::common::OlmArgs;
use crate::cluster::olm::{self, FindError, Found, Warning, compare};
use crate::olm::{OlmRelease, Rules};
use crate::server::Check;
use crate::telemetry::metrics::{WatchFailure, WatchMetrics, Watched};
use crate::tls::{Clock, SystemClock};

/// What flags say about the OLM.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) args: OlmArgs,
    pub(super) namespace: Option<String>,
}

/// Which OLM was taken, in words for probes.
#[derive(Debug, Default)]
pub(super) struct OlmBoard(Mutex<Option<String>>);

/// Finds out which OLM there is, as often as it is another one.
pub(super) fn watch(
    client: Client,
    asked: Asked,
    board: Arc<OlmBoard>,
    watches: Arc<WatchMetrics>,
) -> mpsc::Receiver<Rules> {
    let (answers, mut received) = mpsc::channel(1);
    tokio::spawn(olm::watch(client, asked.namespace.clone(), answers));
    let (rules, taken) = mpsc::channel(1);
    tokio::spawn(async move {
        while let Some(answer) = received.recv().await {
            count(&answer, &watches);
            let now = asked.judge(answer);
            board.put(now.words);
            if rules.send(now.rules).await.is_err() {
                return;
            }
        }
    });
    taken
}

/// What is taken, and why.
#[derive(Debug)]
struct Taken {
    rules: Rules,
    words: String,
}

impl Asked {
    /// What flags say counts, then what was found, then the newest.
    fn judge(&self, answer: Result<Found, FindError>) -> Taken {
        let release = self.args.release();
        match answer {
            Ok(found) => self.found(release, &found),
            Err(error) => self.not_found(release, &error),
        }
    }

    fn found(&self, release: Option<OlmRelease>, found: &Found) -> Taken {
        let taken = release.unwrap_or(found.release);
        let set = self.args.gates(taken).unwrap_or_else(|error| {
            warn!(%error, "Takes the gates that OLM runs with");
            None
        });
        let differences = compare(found, release, set);
        info!(%found, "Found OLM");
        say(found.warnings.iter().chain(&differences));
        let warnings = found.warnings.iter().chain(&differences);
        Taken {
            rules: found.rules_unless(release, set),
            words: words(found, warnings),
        }
    }

    fn not_found(&self, release: Option<OlmRelease>, error: &FindError) -> Taken {
        let taken = release.unwrap_or_default();
        warn!(%error, release = taken.name(), "Cannot tell which OLM runs");
        // Whether the gates are good was looked at when the flags were read.
        let gates = self.args.gates(taken).ok().flatten().unwrap_or_default();
        let how = match release {
            Some(_) => "set by hand",
            None => "the newest that is known",
        };
        Taken {
            rules: Rules::new(taken, gates),
            words: format!("judged as OLM {taken}, {how}: {error}"),
        }
    }
}

fn count(answer: &Result<Found, FindError>, watches: &WatchMetrics) {
    match answer {
        Ok(_) => watches.heard(Watched::Deployment, SystemClock.now()),
        Err(error) => {
            watches.lost(Watched::Deployment);
            watches.failed(Watched::Deployment, failure(error));
        }
    }
}

fn failure(error: &FindError) -> WatchFailure {
    match error {
        FindError::Nowhere { .. } => WatchFailure::NotServed,
        FindError::NoContainer { .. } => WatchFailure::Object,
        FindError::Failed { .. } => WatchFailure::Other,
    }
}

fn say<'a>(warnings: impl Iterator<Item = &'a Warning>) {
    for warning in warnings {
        warn!(%warning, "Not certain about OLM");
    }
}

fn words<'a>(found: &Found, warnings: impl Iterator<Item = &'a Warning>) -> String {
    let found = std::iter::once(found.to_string());
    let all: Vec<_> = found.chain(warnings.map(ToString::to_string)).collect();
    all.join("; ")
}

impl OlmBoard {
    fn put(&self, words: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(words);
    }
}

/// It is never a reason not to be ready: the newest release is taken where nothing is known.
impl Check for OlmBoard {
    fn name(&self) -> &'static str {
        "olm"
    }

    fn state(&self) -> Result<String, String> {
        let words = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(words
            .clone()
            .unwrap_or_else(|| "being found out".to_owned()))
    }
}
