//! Access to the metrics: the API server checks the bearer token of each scraper.
//!
//! ```text
//! token --SHA-256--> known? --no--> a place --> TokenReview --> SubjectAccessReview: get /metrics
//!                      '--yes----------------------------------------------.        |
//!                                                                          '--> Ok, or ScrapeDenied
//! ```
//!
//! Upstream: controller-runtime, [`pkg/metrics/filters/filters.go`], and in turn Kubernetes,
//! `apiserver/pkg/authentication/token/cache`. As there, an answer is cached for a minute. Unlike there, a denial is
//! cached for less, and neither time depends on the token.
//!
//! Invariants: a token is sent only to the API server, so it is in no text, and only its hash is stored; clients can
//! use only bounded memory, and a bounded part of the API server's time.
//!
//! [`pkg/metrics/filters/filters.go`]: https://github.com/kubernetes-sigs/controller-runtime/blob/v0.24.1/pkg/metrics/filters/filters.go

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, UserInfo};
use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::api::PostParams;
use kube::{Api, Client};
use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};
use tracing::{debug, warn};

use crate::cluster::{FaultClass, Silent, WatchFault, line};
use crate::foreign_text::one_line;
use olmguard_server::telemetry::{Authorizer, Authorizing, ScrapeDenied};

/// An authorizer that asks an API server about scrapers.
#[derive(derive_more::Debug)]
#[debug("Scrapers {{ .. }}")]
pub struct Scrapers {
    client: Client,
    known: Mutex<RulingCache>,
    places: Semaphore,
    teller: DenialLog,
}

impl Scrapers {
    /// Creates an authorizer that asks the API server of this client.
    pub fn new(client: Client) -> Self {
        let (client, _) = line::open(client);
        Self {
            client,
            known: Mutex::default(),
            places: Semaphore::new(PLACES),
            teller: DenialLog::default(),
        }
    }

    async fn ruling(&self, token: &str) -> Ruling {
        let key = TokenHash::of(token);
        if let Some(ruling) = self.known().get(&key, Instant::now()) {
            return ruling;
        }
        let asked = timeout(PATIENCE, self.asked(&key, token)).await;
        let late = |_| {
            let (class, words) = (FaultClass::Silent, Silent(PATIENCE).to_string());
            Err(WatchFault { class, words })
        };
        asked.unwrap_or_else(late).unwrap_or_else(|fault| {
            self.teller.failed(&fault);
            Err(ScrapeDenied::Unavailable { class: fault.class })
        })
    }

    async fn asked(&self, key: &TokenHash, token: &str) -> Result<Ruling, WatchFault> {
        let _place = self.places.acquire().await.expect("it is never closed");
        // Another request with this token may have been answered during the wait.
        if let Some(ruling) = self.known().get(key, Instant::now()) {
            return Ok(ruling);
        }
        let ruling = review_ruling(&self.client, token).await?;
        self.known().insert(*key, ruling.clone(), Instant::now());
        Ok(ruling)
    }

    fn known(&self) -> MutexGuard<'_, RulingCache> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Authorizer for Scrapers {
    fn authorize<'a>(&'a self, token: &'a str) -> Authorizing<'a> {
        Box::pin(self.ruling(token))
    }
}

/// The number of tokens that the API server is asked about at the same time.
const PLACES: usize = 4;

/// The time limit for an answer, including the wait for a place: half of Prometheus' default scrape timeout.
const PATIENCE: Duration = Duration::from_secs(5);

// === The cache of recent answers about tokens ===

/// The answer about the bearer of a token.
type Ruling = Result<(), ScrapeDenied>;

/// The SHA-256 of a token, from which the token cannot be derived.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
struct TokenHash([u8; SHA256_OUTPUT_LEN]);

/// A cache of at most [`MOST`] rulings, each with an expiry.
#[derive(Default)]
struct RulingCache(HashMap<TokenHash, (Ruling, Instant)>);

impl TokenHash {
    fn of(token: &str) -> Self {
        let digest = digest(&SHA256, token.as_bytes());
        Self(digest.as_ref().try_into().expect("SHA-256 has that length"))
    }
}

impl RulingCache {
    /// Returns the ruling on a token, if it has not expired.
    fn get(&self, key: &TokenHash, now: Instant) -> Option<Ruling> {
        let (ruling, until) = self.0.get(key)?;
        (now < *until).then(|| ruling.clone())
    }

    /// Stores a ruling. If the cache is full, the entry that expires first is removed. So a flood of unknown tokens
    /// replaces its own entries before the entry of a scraper.
    fn insert(&mut self, key: TokenHash, ruling: Ruling, now: Instant) {
        self.0.retain(|_, (_, until)| now < *until);
        if self.0.len() >= MOST {
            let first = self.0.iter().min_by_key(|(_, (_, until))| *until);
            if let Some(first) = first.map(|(key, _)| *key) {
                self.0.remove(&first);
            }
        }
        let life = if ruling.is_ok() { ALLOWED } else { REFUSED };
        self.0.insert(key, (ruling, now + life));
    }
}

/// The most cached rulings.
const MOST: usize = 256;

/// The time for which a revoked token is still accepted.
const ALLOWED: Duration = Duration::from_mins(1);

/// The time after which a newly granted permission takes effect.
const REFUSED: Duration = Duration::from_secs(10);

// === The two requests to the API server: the user of a token, and whether that user can read the metrics ===

/// Returns the ruling of the API server on a token.
async fn review_ruling(client: &Client, token: &str) -> Result<Ruling, WatchFault> {
    let Some(user) = user(client, token).await? else {
        return Ok(Err(ScrapeDenied::Unauthenticated));
    };
    let name = one_line(user.username.as_deref().unwrap_or_default());
    if can_read(client, token, user).await? {
        return Ok(Ok(()));
    }
    debug!("Denied a metrics client, its user cannot get /metrics");
    Ok(Err(ScrapeDenied::Forbidden { user: name }))
}

/// Returns the user of a token; none if the API server does not know it. The request names no audience, so the token
/// must be for the API server, as the token of a service account in a pod is.
async fn user(client: &Client, token: &str) -> Result<Option<UserInfo>, WatchFault> {
    let review = TokenReview {
        spec: TokenReviewSpec {
            token: Some(token.to_owned()),
            audiences: None,
        },
        ..TokenReview::default()
    };
    let api: Api<TokenReview> = Api::all(client.clone());
    let answered = api.create(&PostParams::default(), &review).await;
    let status = answered.map_err(|error| fault(error, token))?.status;
    let status = status.ok_or_else(|| lacks("TokenReview", "status"))?;
    if status.authenticated != Some(true) {
        let error = status.error.unwrap_or_default();
        let error = one_line(&without(token, &error));
        debug!(error, "Denied a metrics client, its token is invalid");
        return Ok(None);
    }
    let user = status.user.filter(|user| user.username.is_some());
    user.map(Some).ok_or_else(|| lacks("TokenReview", "user"))
}

async fn can_read(client: &Client, token: &str, user: UserInfo) -> Result<bool, WatchFault> {
    let review = SubjectAccessReview {
        spec: SubjectAccessReviewSpec {
            user: user.username,
            groups: user.groups,
            uid: user.uid,
            extra: user.extra,
            non_resource_attributes: Some(NonResourceAttributes {
                path: Some("/metrics".to_owned()),
                verb: Some("get".to_owned()),
            }),
            resource_attributes: None,
        },
        ..SubjectAccessReview::default()
    };
    let api: Api<SubjectAccessReview> = Api::all(client.clone());
    let answered = api.create(&PostParams::default(), &review).await;
    let status = answered.map_err(|error| fault(error, token))?.status;
    let status = status.ok_or_else(|| lacks("SubjectAccessReview", "status"))?;
    Ok(status.allowed)
}

/// Converts an error. The answer of an API server may repeat the token that it was sent.
fn fault(error: kube::Error, token: &str) -> WatchFault {
    match error {
        kube::Error::Api(mut status) => {
            // Before the text is truncated, because truncation could leave a part of the token.
            status.message = without(token, &status.message);
            WatchFault::from(&kube::Error::Api(status))
        }
        kube::Error::SerdeError(_) => WatchFault {
            class: FaultClass::Undecodable,
            words: "an answer that is not the requested review".to_owned(),
        },
        other => WatchFault::from(&other),
    }
}

fn without(token: &str, text: &str) -> String {
    text.replace(token, "[token]")
}

fn lacks(kind: &str, field: &str) -> WatchFault {
    WatchFault {
        class: FaultClass::Undecodable,
        words: format!("the API server returned a {kind} without a {field}"),
    }
}

// === The log of scrapers. No line contains a token or a user ===

/// A log with a pause between two lines, because any client that reaches the port can cause one.
#[derive(Debug, Default)]
struct DenialLog(Mutex<Option<Instant>>);

impl DenialLog {
    /// Logs that the API server did not answer.
    fn failed(&self, fault: &WatchFault) {
        if self.is_due() {
            warn!(
                class = fault.class.as_str(),
                error = fault.words,
                "Failed to check the token of a metrics client, answering 503"
            );
        }
    }

    fn is_due(&self) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let is_due = last.is_none_or(|last| now >= last + PAUSE);
        if is_due {
            *last = Some(now);
        }
        is_due
    }
}

const PAUSE: Duration = Duration::from_mins(1);
