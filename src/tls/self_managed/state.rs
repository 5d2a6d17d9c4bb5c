//! What is stored: the authorities, the oldest first, as JSON.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::tls::self_managed::authority::Authority;
use crate::tls::self_managed::authority_history::View;
use crate::tls::self_managed::stage::{Fate, MOST, Next, RotationStage, Term, stage};
use crate::tls::self_managed::{AUTHORITY_LIFE, AuthorityError};

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
    leaving: bool,
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
            leaving: authority.is_leaving,
        });
        let wire = Wire {
            authorities: authorities.collect(),
        };
        let mut content = Zeroizing::new(Vec::with_capacity(self.room()));
        serde_json::to_writer(&mut *content, &wire).expect("texts and numbers can be written");
        content
    }

    /// What it takes to write it at most: a buffer that grows leaves copies behind that nobody wipes.
    fn room(&self) -> usize {
        let texts = self.authorities.iter();
        let texts = texts.map(|one| one.certificate().len() + one.key().len() + AROUND);
        // A line break is two characters in JSON.
        AROUND + texts.map(|length| length * 2).sum::<usize>()
    }

    /// What is due, as this replica sees it.
    fn stage(&self, view: View<'_>) -> RotationStage {
        let terms = self
            .authorities
            .iter()
            .map(|authority| view.term(authority));
        stage(&terms.collect::<Vec<Term>>(), view.now)
    }

    /// Itself with what is due done, or nothing if nothing is.
    pub(super) fn advanced(&self, view: View<'_>) -> Result<Option<Self>, AuthorityError> {
        let RotationStage { fates, next, .. } = self.stage(view);
        let marks = self.authorities.iter().map(|one| one.is_leaving);
        let is_same = marks.map(Fate::marked).eq(fates.iter().copied());
        if is_same && next == Next::NotYet {
            return Ok(None);
        }
        let mut authorities: Vec<_> = self.authorities.iter().zip(fates).filter_map(met).collect();
        if next == Next::Due {
            authorities.push(Authority::make(view.now)?);
        }
        Ok(Some(Self { authorities }))
    }

    /// Itself with all published, or nothing if all were.
    pub(super) fn published(&self, now: SystemTime) -> Option<Self> {
        let stamp = self.stamp(now);
        let mut published = self.clone();
        let news = published.authorities.iter_mut();
        let news = news.filter(|authority| authority.published.is_none());
        let count = news
            .map(|authority| authority.published = Some(stamp))
            .count();
        (count > 0).then_some(published)
    }

    /// What is published last is not stamped as if it had been there before: a clock may be behind.
    /// One that is out of reason has no say for ever.
    fn stamp(&self, now: SystemTime) -> SystemTime {
        let stamps = self.authorities.iter().filter_map(|one| one.published);
        let stamps = stamps.filter(|stamp| *stamp <= now + AUTHORITY_LIFE);
        stamps.fold(now, SystemTime::max)
    }

    /// The certificates of all, PEM.
    pub(super) fn bundle(&self) -> String {
        self.authorities
            .iter()
            .map(Authority::certificate)
            .collect()
    }

    /// Which one signs, as this replica sees it.
    pub(super) fn signer(&self, view: View<'_>) -> Option<&Authority> {
        self.authorities.get(self.stage(view).signer?)
    }

    /// All of them, the oldest first.
    pub(super) fn authorities(&self) -> &[Authority] {
        &self.authorities
    }
}

/// What is left of it.
fn met((authority, fate): (&Authority, Fate)) -> Option<Authority> {
    let mut authority = authority.clone();
    authority.is_leaving = match fate {
        Fate::Stays => false,
        Fate::Leaves => true,
        Fate::Gone => return None,
    };
    Some(authority)
}

fn read_one((at, wire): (usize, WireAuthority)) -> Result<Authority, AuthorityError> {
    let damaged = |why| AuthorityError::Damaged {
        why: format!("authority {}: {why}", at + 1),
    };
    let mut authority = Authority::read(&wire.certificate, wire.key).map_err(damaged)?;
    authority.published = wire
        .published
        .map(since_1970)
        .transpose()
        .map_err(damaged)?;
    authority.is_leaving = wire.leaving;
    Ok(authority)
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

/// More than is written around the texts of an authority.
const AROUND: usize = 64;
const YEAR_9999: u64 = 253_402_300_799;

#[cfg(test)]
mod tests;
