//! Access to the cluster: its catalogs, the OLM in it, and how requests to it fail.
//!
//! ```text
//! access --> kube::Client --> catalogs  ClusterCatalogs: listed, read, or watched until the program ends
//!                        |--> doctor    the webhook itself, and its surroundings
//!                        |--> configuration  the webhook configuration, and whether it is as shipped
//!                        |--> olm       the operator-controller that runs, with its feature gates
//!                        |--> bundle_objects  the objects of a bundle that exist before it is installed
//!                        |--> extensions  ClusterExtensions, by name or all of them
//!                        |--> audit     the installed extensions, audited at an interval by one replica
//!                        |--> images    the bundles that extensions can be upgraded to, read ahead
//!                        |--> policies  UpgradePolicies and UpgradeGuardrails, watched until the program ends
//!                        |--> look      the catalogs as they are now, with contents, and the objects of OLM v0
//!                        |--> scrapers  the clients that can read the metrics
//!                        '--> authority the CA of the replicas, and the clients that trust it
//! ```
//!
//! Invariants: no task here ends because the API server is unavailable, and none sends requests in a tight loop; an
//! unreadable object affects only itself; no text contains a credential.

pub mod access;
pub mod audit;
pub mod authority;
pub mod bundle_objects;
pub mod catalogs;
pub mod configuration;
pub mod doctor;
pub mod events;
pub mod extensions;
pub mod follow;
pub mod images;
mod lease;
mod line;
pub mod look;
mod object;
pub mod olm;
pub mod policies;
pub mod scrapers;
#[cfg(test)]
pub(crate) mod tests;
mod watch;

pub use access::{Access, Caller, Cluster, ConnectError, connect};
pub use lease::Leadership;
pub use olmguard_server::telemetry::metrics::FaultClass;
pub use watch::WatchEvent;

use std::error::Error;
use std::time::Duration;

use kube::client::AuthError;
use kube::runtime::watcher;
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::{Instant, sleep};

use crate::foreign_text::one_line;

// === Work on everything in a cluster, which no edit waits for ===

/// Works on these items in chunks, each on a blocking thread, and returns the result of each chunk.
///
/// After each chunk, the work pauses for as long as the chunk took, so it uses at most half of a core.
///
/// # Errors
/// Fails if the work panics, or if the runtime is shutting down.
async fn in_chunks<T, R>(
    items: impl IntoIterator<Item = T>,
    work: impl Fn(Vec<T>) -> R + Clone + Send + 'static,
) -> Result<Vec<R>, JoinError>
where
    T: Send + 'static,
    R: Send + 'static,
{
    let mut items = items.into_iter();
    let mut done = Vec::new();
    loop {
        let chunk: Vec<T> = items.by_ref().take(CHUNK).collect();
        if chunk.is_empty() {
            return Ok(done);
        }
        let (begun, work) = (Instant::now(), work.clone());
        done.push(spawn_blocking(move || work(chunk)).await?);
        sleep(begun.elapsed()).await;
    }
}

/// The number of items without a pause, which take some milliseconds.
const CHUNK: usize = 10;

// === Failures of requests to the API server, by class and in words ===

/// The reason why a watch currently delivers nothing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WatchFault {
    /// The class of the failure.
    pub class: FaultClass,
    /// The description, in one line.
    pub words: String,
}

/// The API server did not answer for this long.
#[derive(Debug, thiserror::Error)]
#[error("no answer within {} s", self.0.as_secs())]
struct Silent(Duration);

/// The API server sent more than the limit.
#[derive(Debug, thiserror::Error)]
#[error("an answer of more than {limit} {unit}")]
struct ResponseTooLarge {
    limit: usize,
    unit: &'static str,
}

fn class_of_code(code: u16) -> FaultClass {
    match code {
        401 => FaultClass::Unauthorized,
        403 => FaultClass::Forbidden,
        404 => FaultClass::NotServed,
        410 => FaultClass::Gone,
        429 => FaultClass::Throttled,
        500..=599 => FaultClass::Server,
        _ => FaultClass::Refused,
    }
}

fn class(error: &kube::Error) -> FaultClass {
    match error {
        kube::Error::Api(status) => class_of_code(status.code),
        kube::Error::SerdeError(_)
        | kube::Error::FromUtf8(_)
        | kube::Error::LinesCodecMaxLineLengthExceeded
        | kube::Error::Discovery(_) => FaultClass::Undecodable,
        other if cause::<AuthError>(other).is_some() => FaultClass::Unauthorized,
        other if cause::<ResponseTooLarge>(other).is_some() => FaultClass::Undecodable,
        other if cause::<Silent>(other).is_some() => FaultClass::Silent,
        _ => FaultClass::Unreachable,
    }
}

impl WatchFault {
    /// Returns the fix to append if a list fails like this; empty if none is known.
    fn way_out_of_list(&self) -> &'static str {
        match self.class {
            FaultClass::Forbidden => "; grant the verb \"list\" on them",
            _ => "",
        }
    }
}

impl From<&kube::Error> for WatchFault {
    fn from(error: &kube::Error) -> Self {
        Self {
            class: class(error),
            words: fault_words(error),
        }
    }
}

impl From<watcher::Error> for WatchFault {
    fn from(error: watcher::Error) -> Self {
        match error {
            watcher::Error::InitialListFailed(error)
            | watcher::Error::WatchStartFailed(error)
            | watcher::Error::WatchFailed(error) => Self::from(&error),
            watcher::Error::WatchError(status) => Self::from(&kube::Error::Api(status)),
            watcher::Error::NoResourceVersion => Self {
                class: FaultClass::Undecodable,
                words: "the API server sent an object without metadata.resourceVersion".to_owned(),
            },
        }
    }
}

/// An operation that failed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("cannot {action}: {why}")]
pub struct FailedOperation {
    /// The attempted action.
    pub action: String,
    /// The cause.
    pub why: String,
}

impl FailedOperation {
    /// Converts an error of a request that was part of an action.
    fn to(action: &str) -> impl Fn(kube::Error) -> Self {
        move |error| Self {
            action: action.to_owned(),
            why: fault_words(&error),
        }
    }
}

/// Describes an error of kube's client, in one line of bounded length and without credentials.
///
/// kube's own text for a response contains the response twice, and the text for a connection omits the cause.
fn fault_words(error: &kube::Error) -> String {
    let text = match error {
        kube::Error::Api(status) if status.message.is_empty() => {
            format!("the API server answers {}", status.code)
        }
        kube::Error::Api(status) => {
            format!("the API server answers {}: {}", status.code, status.message)
        }
        // The cause of a failed request is wrapped in another error.
        other => match cause::<AuthError>(other) {
            Some(error) => credential_words(error),
            None => causes(other),
        },
    };
    one_line(&text)
}

/// Describes a failure of credentials, in one line.
///
/// kube's own texts contain the output of a plugin, its command, or the position at which its answer could not be
/// parsed. Each of them may be a token, so only texts that are known to contain none are passed on.
fn credential_words(error: &AuthError) -> String {
    match error {
        AuthError::AuthExecParse(_) => {
            "the credential plugin did not return an ExecCredential".to_owned()
        }
        AuthError::AuthExecRun { out, .. } => {
            format!("the credential plugin exited with {}", out.status)
        }
        AuthError::AuthExecStart(error) => {
            format!("the credential plugin cannot be run: {error}")
        }
        AuthError::ReadTokenFile(..)
        | AuthError::ExecPluginFailed
        | AuthError::MissingCommand
        | AuthError::ExecMissingClusterInfo
        | AuthError::InvalidBasicAuth(_)
        | AuthError::InvalidBearerToken(_)
        | AuthError::UnrefreshableTokenResponse => error.to_string(),
        _ => "the credentials are unavailable: their provider gave an unexpected answer".to_owned(),
    }
}

/// Joins the causes of an error from the outermost inwards, each text once.
fn causes(error: &kube::Error) -> String {
    let mut said: Vec<String> = Vec::new();
    for cause in chain(error).skip(1).map(ToString::to_string) {
        if !said.iter().any(|before| before.contains(&cause)) {
            said.push(cause);
        }
    }
    if said.is_empty() {
        return error.to_string();
    }
    said.join(": ")
}

fn cause<E: Error + 'static>(error: &kube::Error) -> Option<&E> {
    chain(error).find_map(<dyn Error>::downcast_ref)
}

fn chain(error: &kube::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let first: &(dyn Error + 'static) = error;
    std::iter::successors(Some(first), |error| (*error).source())
}
