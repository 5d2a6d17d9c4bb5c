//! What was said of tokens a moment ago.

use std::collections::HashMap;
use std::time::Duration;

use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};
use tokio::time::Instant;

use crate::telemetry::ScrapeDenied;

/// What becomes of the bearer of a token.
pub(super) type Ruling = Result<(), ScrapeDenied>;

/// The SHA-256 of a token, by which no token can be found.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub(super) struct Key([u8; SHA256_OUTPUT_LEN]);

/// Rulings, each for a while, [`MOST`] at most.
#[derive(Default)]
pub(super) struct RulingCache(HashMap<Key, (Ruling, Instant)>);

impl Key {
    pub(super) fn of(token: &str) -> Self {
        let digest = digest(&SHA256, token.as_bytes());
        Self(digest.as_ref().try_into().expect("SHA-256 has that length"))
    }
}

impl RulingCache {
    /// The ruling on a token, if it is still good.
    pub(super) fn get(&self, key: &Key, now: Instant) -> Option<Ruling> {
        let (ruling, until) = self.0.get(key)?;
        (now < *until).then(|| ruling.clone())
    }

    /// Keeps a ruling. Where there is no room the one goes that would go first anyway: a flood of
    /// tokens that nobody knows takes the places of others like it before that of a scraper.
    pub(super) fn insert(&mut self, key: Key, ruling: Ruling, now: Instant) {
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
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// How many rulings are kept.
pub(super) const MOST: usize = 256;

/// How long a token that was revoked is still taken.
pub(super) const ALLOWED: Duration = Duration::from_mins(1);

/// How long a right that was granted is not seen.
pub(super) const REFUSED: Duration = Duration::from_secs(10);
