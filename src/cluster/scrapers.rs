//! Access to the metrics: the API server checks the bearer token of each scraper.
//!
//! ```text
//! token --SHA-256--> known? --no--> a place --> TokenReview --> SubjectAccessReview: get /metrics
//!                      '--yes----------------------------------------------.        |
//!                                                                          '--> Ok, or Denied
//! ```
//!
//! Upstream: controller-runtime, [`pkg/metrics/filters/filters.go`], and below it Kubernetes,
//! `apiserver/pkg/authentication/token/cache`. As there an answer is kept for a minute; unlike there a
//! refusal is kept for less, and neither depends on what is in the token.
//!
//! Invariants: a token is sent to the API server and nowhere else, so it is in no text, and what is
//! kept of it is its hash; what clients send takes bounded memory, and a bounded part of the API
//! server's time.
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

use crate::cluster::{FaultClass, WatchFault, line};
use crate::foreign_text::one_line;
use olmguard_server::telemetry::{Authorizer, Authorizing, ScrapeDenied};

/// Asks an API server about scrapers.
#[derive(derive_more::Debug)]
#[debug("Scrapers {{ .. }}")]
pub struct Scrapers {
    client: Client,
    known: Mutex<RulingCache>,
    places: Semaphore,
    teller: DenialLog,
}

impl Scrapers {
    /// Asks the API server of this client.
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
        asked
            .unwrap_or_else(|_| Err(late()))
            .unwrap_or_else(|fault| {
                self.teller.failed(&fault);
                Err(ScrapeDenied::Unavailable { class: fault.class })
            })
    }

    async fn asked(&self, key: &TokenHash, token: &str) -> Result<Ruling, WatchFault> {
        let _place = self.places.acquire().await.expect("it is never closed");
        // Another request with this token may have been answered while this one waited.
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

fn late() -> WatchFault {
    WatchFault {
        class: FaultClass::Silent,
        words: format!("no answer within {} s", PATIENCE.as_secs()),
    }
}

/// How many tokens the API server is asked about at the same time.
const PLACES: usize = 4;

/// How long an answer may take, with the wait for a place: half of what Prometheus gives a scrape.
const PATIENCE: Duration = Duration::from_secs(5);

// === The answers about tokens of the last moments ===

/// What becomes of the bearer of a token.
type Ruling = Result<(), ScrapeDenied>;

/// The SHA-256 of a token, by which no token can be found.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
struct TokenHash([u8; SHA256_OUTPUT_LEN]);

/// Rulings, each for a while, [`MOST`] at most.
#[derive(Default)]
struct RulingCache(HashMap<TokenHash, (Ruling, Instant)>);

impl TokenHash {
    fn of(token: &str) -> Self {
        let digest = digest(&SHA256, token.as_bytes());
        Self(digest.as_ref().try_into().expect("SHA-256 has that length"))
    }
}

impl RulingCache {
    /// The ruling on a token, if it is still good.
    fn get(&self, key: &TokenHash, now: Instant) -> Option<Ruling> {
        let (ruling, until) = self.0.get(key)?;
        (now < *until).then(|| ruling.clone())
    }

    /// Keeps a ruling. Where there is no room the one goes that would go first anyway: a flood of
    /// tokens that nobody knows takes the places of others like it before that of a scraper.
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

    #[cfg(test)]
    fn len(&self) -> usize {
        self.0.len()
    }
}

/// How many rulings are kept.
const MOST: usize = 256;

/// How long a token that was revoked is still taken.
const ALLOWED: Duration = Duration::from_mins(1);

/// How long a right that was granted is not seen.
const REFUSED: Duration = Duration::from_secs(10);

// === The two requests to the API server: the user of a token, and whether that user can read the metrics ===

/// What the API server says of a token.
async fn review_ruling(client: &Client, token: &str) -> Result<Ruling, WatchFault> {
    let Some(user) = user(client, token).await? else {
        return Ok(Err(ScrapeDenied::Unauthenticated));
    };
    let name = one_line(user.username.as_deref().unwrap_or_default());
    if can_read(client, token, user).await? {
        return Ok(Ok(()));
    }
    log_forbidden();
    Ok(Err(ScrapeDenied::Forbidden { user: name }))
}

/// Whose it is; none if it is nobody's. It is asked without audiences, so the token has to be for the
/// API server, as the token of a service account in a pod is.
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
        log_unauthenticated(&one_line(&without(token, &error)));
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

/// Whatever an API server answers may repeat what it was sent, the token.
fn fault(error: kube::Error, token: &str) -> WatchFault {
    match error {
        kube::Error::Api(mut status) => {
            // Before the text is cut, which could leave a part of the token.
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

// === The log of scrapers. No line has a token or a user ===

/// Logs, with a pause between two lines: anyone who reaches the port can cause one.
#[derive(Debug, Default)]
struct DenialLog(Mutex<Option<Instant>>);

impl DenialLog {
    /// The API server could not be asked.
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

/// The API server does not know whose token it is, and says this about it.
fn log_unauthenticated(error: &str) {
    debug!(error, "Denied a metrics client, its token is invalid");
}

/// The API server knows the user, who has no such right.
fn log_forbidden() {
    debug!("Denied a metrics client, its user cannot get /metrics");
}

const PAUSE: Duration = Duration::from_mins(1);
