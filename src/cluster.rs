//! The cluster: how it is reached, which catalogs and which OLM are in it, and how requests to it fail.
//!
//! ```text
//! access --> kube::Client --> catalogs  ClusterCatalogs: listed, read, watched for good
//!                        |--> doctor    the guard itself, and what surrounds it
//!                        |--> configuration  the webhook configuration, as shipped or not
//!                        |--> olm       which operator-controller runs, with which gates
//!                        |--> bundle_objects  what is there of a bundle, before it is installed
//!                        |--> extensions  ClusterExtensions, by name or all of them
//!                        |--> audit     what is installed, audited at an interval by one replica
//!                        |--> images    the bundles that extensions can be upgraded to, read ahead
//!                        |--> policies  UpgradePolicies and UpgradeGuardrails, watched for good
//!                        |--> look      the catalogs as they are now, with contents, and what OLM v0 has there
//!                        |--> scrapers  who can read the metrics
//!                        '--> authority the certificate authority of the replicas, and who trusts it
//! ```
//!
//! Invariants: nothing here ends because the API server is away, and none of it is asked in a tight
//! loop; an object that cannot be read costs that object alone; no credential is in any text.

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

use crate::foreign_text::one_line;

// === Failures of requests to the API server, by class and in words ===

/// Why a watch does not tell anything at the moment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WatchFault {
    /// The class of the failure.
    pub class: FaultClass,
    /// What there is to say about it, in one line.
    pub words: String,
}

/// The API server did not answer for this long.
#[derive(Debug, thiserror::Error)]
#[error("no answer within {} s", self.0.as_secs())]
struct Silent(Duration);

/// The API server sent more than is read.
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
    /// What to do if a list fails so, behind what it says; empty if that is not known.
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

/// What was tried in vain.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("cannot {action}: {why}")]
pub struct FailedOperation {
    /// What was tried.
    pub action: String,
    /// What became of it.
    pub why: String,
}

impl FailedOperation {
    /// For an error of a request that was part of this.
    fn to(action: &str) -> impl Fn(kube::Error) -> Self {
        move |error| Self {
            action: action.to_owned(),
            why: fault_words(&error),
        }
    }
}

/// What an error of kube's client says, in one line of bounded length and without credentials.
///
/// Its own text of an answer holds the answer twice, and that of a connection not what became of it.
fn fault_words(error: &kube::Error) -> String {
    let text = match error {
        kube::Error::Api(status) if status.message.is_empty() => {
            format!("the API server answers {}", status.code)
        }
        kube::Error::Api(status) => {
            format!("the API server answers {}: {}", status.code, status.message)
        }
        // What a request fails of comes as the cause of another error.
        other => match cause::<AuthError>(other) {
            Some(error) => credential_words(error),
            None => causes(other),
        },
    };
    one_line(&text)
}

/// What went wrong with credentials, in one line.
///
/// kube's own texts hold the output of a plugin, its command, or the place in its answer where reading it failed: each of
/// them may be a token. So only what is known to hold none is passed on.
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

/// The causes of an error from the outermost inwards, each text once.
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
