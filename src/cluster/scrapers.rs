//! Whether a scraper can read the metrics: what the API server says of its bearer token.
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

mod known;
mod review;
mod tell;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kube::Client;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use crate::cluster::fault::{FaultClass, WatchFault};
use crate::cluster::line;
use crate::telemetry::{Authorizer, Authorizing, ScrapeDenied};
use known::{Key, Ruling, RulingCache};
use tell::DenialLog;

/// Asks an API server about scrapers.
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
        let key = Key::of(token);
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

    async fn asked(&self, key: &Key, token: &str) -> Result<Ruling, WatchFault> {
        let _place = self.places.acquire().await.expect("it is never closed");
        // Another request with this token may have been answered while this one waited.
        if let Some(ruling) = self.known().get(key, Instant::now()) {
            return Ok(ruling);
        }
        let ruling = review::ruling(&self.client, token).await?;
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

impl fmt::Debug for Scrapers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scrapers").finish_non_exhaustive()
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
