//! What is stored: the authorities, the oldest first, as JSON.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::tls::self_managed::AuthorityError;
use crate::tls::self_managed::authority::Authority;
use crate::tls::self_managed::stage::{Next, Stage, Term, stage};

/// All authorities that clients have to trust, the oldest first.
#[derive(Clone, Default)]
pub(super) struct State {
    authorities: Vec<Authority>,
}

#[derive(Deserialize, Serialize)]
struct Wire {
    authorities: Vec<WireAuthority>,
}

#[derive(Deserialize, Serialize)]
struct WireAuthority {
    certificate: String,
    key: Zeroizing<String>,
    /// Seconds since 1970.
    published: Option<u64>,
}

impl State {
    /// Reads what was stored. Errors say where, and nothing of what is there.
    pub(super) fn read(content: &[u8]) -> Result<Self, AuthorityError> {
        let wire: Wire =
            serde_json::from_slice(content).map_err(|error| AuthorityError::Damaged {
                why: format!(
                    "expected JSON with authorities, found something else at line {} column {}",
                    error.line(),
                    error.column()
                ),
            })?;
        if wire.authorities.len() > MOST {
            return Err(AuthorityError::Damaged {
                why: format!("expected at most {MOST} authorities, found more"),
            });
        }
        let authorities = wire.authorities.into_iter().enumerate().map(read_one);
        Ok(Self {
            authorities: authorities.collect::<Result<_, _>>()?,
        })
    }

    /// As it is stored.
    pub(super) fn write(&self) -> Zeroizing<Vec<u8>> {
        let authorities = self.authorities.iter().map(|authority| WireAuthority {
            certificate: authority.certificate().to_owned(),
            key: authority.key().clone(),
            published: authority.published.map(seconds),
        });
        let wire = Wire {
            authorities: authorities.collect(),
        };
        Zeroizing::new(serde_json::to_vec(&wire).expect("texts and numbers can be written"))
    }

    /// What is due at this time.
    pub(super) fn stage(&self, now: SystemTime) -> Stage {
        let terms: Vec<Term> = self.authorities.iter().map(Authority::term).collect();
        stage(&terms, now)
    }

    /// Itself with what is due done, or nothing if nothing is.
    pub(super) fn advanced(&self, now: SystemTime) -> Result<Option<Self>, AuthorityError> {
        let Stage { retired, next, .. } = self.stage(now);
        let mut authorities: Vec<_> = self.authorities.iter().skip(retired).cloned().collect();
        if next == Next::Due {
            authorities.push(Authority::make(now)?);
        }
        let surplus = authorities.len().saturating_sub(MOST);
        authorities.drain(..surplus);
        let is_same = retired == 0 && next == Next::NotYet;
        Ok((!is_same).then_some(Self { authorities }))
    }

    /// Itself with all published, or nothing if all were.
    pub(super) fn published(&self, now: SystemTime) -> Option<Self> {
        let mut published = self.clone();
        let news = published.authorities.iter_mut();
        let news = news.filter(|authority| authority.published.is_none());
        let count = news
            .map(|authority| authority.published = Some(now))
            .count();
        (count > 0).then_some(published)
    }

    /// The certificates of all, PEM.
    pub(super) fn bundle(&self) -> String {
        self.authorities
            .iter()
            .map(Authority::certificate)
            .collect()
    }

    /// Which one signs at this time.
    pub(super) fn signer(&self, now: SystemTime) -> Option<&Authority> {
        self.authorities.get(self.stage(now).signer?)
    }

    /// Whether clients are told to trust it.
    pub(super) fn holds(&self, authority: &Authority) -> bool {
        let mut all = self.authorities.iter();
        all.any(|one| one.certificate() == authority.certificate())
    }
}

fn read_one((at, wire): (usize, WireAuthority)) -> Result<Authority, AuthorityError> {
    let published = wire.published.map(since_1970).transpose();
    published
        .and_then(|published| Authority::read(&wire.certificate, wire.key, published))
        .map_err(|why| AuthorityError::Damaged {
            why: format!("authority {}: {why}", at + 1),
        })
}

/// Beyond any date of a certificate it would overflow sums.
fn since_1970(seconds: u64) -> Result<SystemTime, &'static str> {
    if seconds > YEAR_9999 {
        return Err("it was published after the year 9999");
    }
    Ok(UNIX_EPOCH + Duration::from_secs(seconds))
}

fn seconds(moment: SystemTime) -> u64 {
    let since = moment.duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// A clock that jumps to and fro makes one each time; the bundle must not grow for ever.
const MOST: usize = 8;
const YEAR_9999: u64 = 253_402_300_799;

#[cfg(test)]
mod tests;
