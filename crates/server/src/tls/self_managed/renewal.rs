//! Renewals, for as long as the certificate is served, and the next step of one.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustls::pki_types::ServerName;
use tokio::time::{Instant, timeout};
use tracing::{debug, info, warn};

use crate::tls::leaf::utc;
use crate::tls::self_managed::state::{Authority, StoredAuthorities};
use crate::tls::self_managed::{
    AuthorityError, Keeper, LEAF_LIFE, MARGIN, PATIENCE, PROPAGATION, Store,
};
use crate::tls::{Certificates, Clock, Current, Observer, ServedCertificate, TlsConfig, TlsError};

/// How a certificate of our own authority is kept and served.
#[derive(Debug)]
pub struct SelfManaged<S> {
    /// The store of the authorities, which all replicas share.
    pub store: S,
    /// What the certificate is for: every name that clients use.
    pub names: Vec<ServerName<'static>>,
    /// On which terms connections are taken; the authorities of clients are kept up to date too.
    pub terms: TlsConfig,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
}

/// Agrees with the other replicas on an authority, and goes on serving a leaf of it. It must be
/// called within a runtime.
///
/// At first the store is waited for, for as long as it takes; later it may fail for as long as the leaf
/// that is served is valid.
///
/// # Errors
/// What another try does not mend: names, terms or stored authorities that cannot be used.
pub async fn serve<S: Store>(
    managed: SelfManaged<S>,
    observer: Arc<dyn Observer>,
) -> Result<Certificates, TlsError> {
    if managed.names.is_empty() {
        return Err(AuthorityError::NoName.into());
    }
    let names = managed.names.iter().map(|name| name.to_str().into_owned());
    let client = managed.terms.client_file()?;
    let mut keeper = Keeper {
        client,
        store: managed.store,
        clock: managed.clock,
        names: names.collect(),
        terms: managed.terms,
        remembered: StoredAuthorities::default(),
        history: AuthorityHistory::default(),
        leaf: None,
    };
    let first = first(&mut keeper, &*observer).await?;
    Ok(Certificates::new(first, managed.names, |current| {
        run(keeper, current, observer)
    }))
}

/// A process that ended because the store is away would only be started again.
async fn first<S: Store>(
    keeper: &mut Keeper<S>,
    observer: &dyn Observer,
) -> Result<ServedCertificate, TlsError> {
    let mut failures = 0;
    let mut faults = ReportedFault::default();
    loop {
        match keeper.renew().await {
            Ok(Some(served)) => {
                tokio::time::sleep(keeper.until_known()).await;
                return Ok(served);
            }
            Ok(None) => {}
            Err(error) if !is_passing(&error) => return Err(error),
            Err(error) if faults.is_news(&error) => {
                warn!(%error, "Failed to issue a certificate, retrying");
                observer.refused(&error);
            }
            Err(error) => debug!(%error, "Failed again to issue a certificate, retrying"),
        }
        failures += 1;
        tokio::time::sleep(back_off(failures)).await;
    }
}

/// Whether another try may come out differently.
fn is_passing(error: &TlsError) -> bool {
    matches!(
        error,
        TlsError::Authority(
            AuthorityError::Store(_)
                | AuthorityError::Slow { .. }
                | AuthorityError::Contended { .. }
                | AuthorityError::NoSigner
        )
    )
}

async fn run<S: Store>(mut keeper: Keeper<S>, current: Current, observer: Arc<dyn Observer>) {
    let mut failures = 0;
    let (mut renewals, mut clients) = (ReportedFault::default(), ReportedFault::default());
    loop {
        let wait = if failures == 0 {
            EVERY
        } else {
            back_off(failures)
        };
        until_due(wait, &keeper.store).await;
        clients.tell(keeper.follow_clients(), &current, &*observer);
        let renewed = keeper.renew().await;
        failures = if renewed.is_ok() { 0 } else { failures + 1 };
        renewals.tell(renewed, &current, &*observer);
    }
}

/// Waits, but no longer than until a change; whoever changes things all the time is not followed faster
/// than [`LEAST`].
async fn until_due(wait: Duration, store: &impl Store) {
    if !changes_during(LEAST.min(wait), store).await {
        // That the time is over is the other way to go on.
        let _over = timeout(wait.saturating_sub(LEAST), store.changed()).await;
    }
}

/// Whether something changes until a pause is over. Every change is taken, so that a storm of them leaves
/// none to be followed one by one after it.
async fn changes_during(pause: Duration, store: &impl Store) -> bool {
    let mut is_changed = false;
    let changes = async {
        loop {
            store.changed().await;
            is_changed = true;
        }
    };
    // It has no other end.
    let _over: Result<(), _> = timeout(pause, changes).await;
    is_changed
}

/// The fault that was told last, so that it is told once a change: a store that is away for an hour
/// is one fault.
#[derive(Default)]
struct ReportedFault(String);

impl ReportedFault {
    fn tell(
        &mut self,
        came: Result<Option<ServedCertificate>, TlsError>,
        current: &Current,
        observer: &dyn Observer,
    ) {
        match came {
            Ok(served) => {
                self.0.clear();
                if let Some(served) = served {
                    take(served, current, observer);
                }
            }
            Err(error) => self.report(&error, observer),
        }
    }

    fn report(&mut self, error: &TlsError, observer: &dyn Observer) {
        if !self.is_news(error) {
            debug!(%error, "Failed again to renew the certificate, serving the old one");
            return;
        }
        warn!(%error, "Failed to renew the certificate, serving the old one");
        observer.refused(error);
    }

    /// Whether it is not the one that was told last.
    fn is_news(&mut self, error: &TlsError) -> bool {
        let text = error.to_string();
        let is_news = text != self.0;
        self.0 = text;
        is_news
    }
}

fn take(served: ServedCertificate, current: &Current, observer: &dyn Observer) {
    let leaf = served.leaf().clone();
    current.replace(served);
    info!(
        serial = leaf.serial,
        not_after = utc(leaf.not_after),
        "Renewed certificate"
    );
    observer.reloaded(&leaf);
}

/// Doubles with each failure up to [`EVERY`], and is a little different for each replica.
fn back_off(failures: u32) -> Duration {
    let whole = EVERY.min(Duration::from_secs(1) * 2_u32.saturating_pow(failures.min(10) - 1));
    whole.mul_f64(0.5 + fastrand::f64() / 2.0)
}

/// How long after one renewal the next begins. Not one long sleep: those do not notice that the clock
/// was set, or that the machine slept.
const EVERY: Duration = Duration::from_secs(25);
/// The least time between two renewals, however much changes.
const LEAST: Duration = Duration::from_millis(500);
/// The longest that the clock may not be looked at, with a renewal that waits for the store.
const UNSEEN: Duration = Duration::from_mins(1);
const _: () = assert!(EVERY.as_secs() + PATIENCE.as_secs() <= UNSEEN.as_secs());

// === The next step, from the authorities, the time, and what this replica has seen itself ===
//
// Any replica's clock may be wrong, and what it writes with it is there for all. So a stamp alone
// decides nothing that could break another replica:
// - one signs with what it has seen published for [`PROPAGATION`] itself, as long as there is a
//   choice;
// - an authority leaves in two steps: whoever finds that its time is over marks it, and it is gone
//   [`MARGIN`] later. Meanwhile the others renew what it had signed for them, and one that would
//   sign with no other takes the mark away.

/// When an authority is of use.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Term {
    pub(super) not_before: SystemTime,
    pub(super) not_after: SystemTime,
    /// When the first bundle with it was published, if it was.
    pub(super) published: Option<SystemTime>,
    /// Whether it is marked as leaving.
    pub(super) is_leaving: bool,
    /// Whether it signed what this replica serves.
    pub(super) is_ours: bool,
    pub(super) seen: SeenSince,
}

/// Durations of each state of an authority, as far as seen.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct SeenSince {
    /// The time that it is in the bundle.
    pub(super) published: Duration,
    /// The time that it is marked as leaving.
    pub(super) marked: Duration,
    /// The time since a replica objected to its leaving, if one did.
    pub(super) needed: Option<Duration>,
}

/// What is due.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct RotationStage {
    /// What becomes of each.
    pub(super) fates: Vec<AuthorityFate>,
    /// The authority that signs, if any can.
    pub(super) signer: Option<usize>,
    /// Whether another one is to be made.
    pub(super) next: NextAuthority,
}

/// What becomes of an authority.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum AuthorityFate {
    /// The authority stays, without a mark.
    Stays,
    /// The authority is marked: replicas with a certificate from it must get another.
    Leaves,
    /// Clients trust it no more.
    Gone,
}

/// Whether another authority is to be made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum NextAuthority {
    Due,
    NotYet,
}

/// What is due with these authorities, the oldest first.
pub(super) fn stage(terms: &[Term], now: SystemTime) -> RotationStage {
    let signer = signer(terms, now);
    let newest = terms.iter().rfind(|term| term.is_usable(now));
    let is_due = newest.is_none_or(|term| is_past_two_thirds(term.not_before, term.not_after, now));
    let leaver = superseded(terms, now);
    let crowded = (is_due && terms.len() >= MOST)
        .then(|| spare(terms, signer, now))
        .flatten();
    let fates = terms.iter().enumerate().map(|(at, term)| {
        let is_over = at < leaver || Some(at) == crowded;
        term.fate(Some(at) == signer, is_over)
    });
    let fates: Vec<_> = fates.collect();
    let stay = fates
        .iter()
        .filter(|fate| **fate != AuthorityFate::Gone)
        .count();
    RotationStage {
        signer,
        next: if is_due && stay < MOST {
            NextAuthority::Due
        } else {
            NextAuthority::NotYet
        },
        fates,
    }
}

/// Whether it is time to renew what is valid from one moment to another.
pub(super) fn is_past_two_thirds(
    not_before: SystemTime,
    not_after: SystemTime,
    now: SystemTime,
) -> bool {
    let life = not_after.duration_since(not_before).unwrap_or_default();
    now >= not_before + life * 2 / 3
}

/// The newest that every client has had the time to learn of while we watched, and rather one that
/// is to leave than one that we have not watched. After a start none has been watched: the oldest is
/// the one that clients know best.
fn signer(terms: &[Term], now: SystemTime) -> Option<usize> {
    let is_known = |term: &Term| term.is_usable(now) && term.seen.published >= PROPAGATION;
    let stays = |term: &Term| is_known(term) && !term.is_leaving;
    (terms.iter().rposition(stays))
        .or_else(|| terms.iter().rposition(is_known))
        .or_else(|| terms.iter().position(|term| term.is_usable(now)))
}

/// All before this one have nothing left that they signed: it has been signing for longer than a
/// leaf is valid, by its stamp, and was seen to be there for a while.
fn superseded(terms: &[Term], now: SystemTime) -> usize {
    let long_ago = PROPAGATION + LEAF_LIFE + MARGIN;
    let successor = terms.iter().rposition(|term| {
        term.is_usable(now)
            && !term.is_leaving
            && term.has_been_published(long_ago, now)
            && term.seen.published >= PROPAGATION + MARGIN
    });
    successor.unwrap_or(0)
}

/// The authority that must leave: the oldest that is of no use, unless one is leaving already.
fn spare(terms: &[Term], signer: Option<usize>, now: SystemTime) -> Option<usize> {
    let is_spare =
        |(at, term): (usize, &Term)| Some(at) != signer && !term.is_usable(now) && term.may_leave();
    let mut all = terms.iter().enumerate();
    if terms.iter().any(|term| term.is_leaving) {
        return None;
    }
    all.position(is_spare)
}

impl AuthorityFate {
    /// That of one which is marked or not, if nothing is due.
    pub(super) fn marked(is_leaving: bool) -> Self {
        if is_leaving {
            Self::Leaves
        } else {
            Self::Stays
        }
    }
}

impl Term {
    /// An authority that is about to expire signs nothing that lasts.
    fn is_usable(&self, now: SystemTime) -> bool {
        self.not_before <= now && now + PROPAGATION < self.not_after
    }

    fn has_been_published(&self, ago: Duration, now: SystemTime) -> bool {
        self.published
            .is_some_and(|published| published + ago <= now)
    }

    fn fate(&self, is_signer: bool, is_over: bool) -> AuthorityFate {
        match self.is_leaving {
            _ if is_signer => AuthorityFate::Stays,
            true if self.seen.marked >= MARGIN && !self.is_ours => AuthorityFate::Gone,
            true => AuthorityFate::Leaves,
            false => AuthorityFate::marked(is_over && self.may_leave()),
        }
    }

    /// Nobody who needs it has said so of late.
    fn may_leave(&self) -> bool {
        !self.is_ours && self.seen.needed.is_none_or(|ago| ago >= OBJECTION)
    }
}

/// A clock that jumps to and fro makes one each time; the bundle must not grow for ever.
pub(super) const MOST: usize = 8;

/// How long an authority that another replica needs is not marked again.
const OBJECTION: Duration = Duration::from_hours(1);

// === The history of each authority, as this replica has seen it by a monotonic clock ===

/// What one replica goes by: its clock, and what it has seen.
#[derive(Clone, Copy)]
pub(super) struct ReplicaView<'a> {
    /// The time of day.
    pub(super) now: SystemTime,
    /// The same moment by the monotonic clock.
    pub(super) at: Instant,
    pub(super) history: &'a AuthorityHistory,
    /// The authority that signed the served certificate.
    pub(super) own: Option<&'a Authority>,
}

/// What was seen of the authorities that are stored now. It begins anew with each start.
#[derive(Default)]
pub(super) struct AuthorityHistory(Vec<SeenAuthority>);

struct SeenAuthority {
    of: Authority,
    published: Option<Instant>,
    marked: Option<Instant>,
    /// When its mark was taken away again.
    needed: Option<Instant>,
}

impl ReplicaView<'_> {
    pub(super) fn term(&self, authority: &Authority) -> Term {
        let (not_before, not_after) = authority.validity();
        Term {
            not_before,
            not_after,
            published: authority.published,
            is_leaving: authority.is_leaving,
            is_ours: self.own.is_some_and(|own| own.is(authority)),
            seen: self.history.of(authority, self.at),
        }
    }
}

impl AuthorityHistory {
    /// These are stored now.
    pub(super) fn stored(&mut self, authorities: &[Authority], now: Instant) {
        let entries = authorities
            .iter()
            .map(|one| SeenAuthority::new(one, self.entry(one), now));
        self.0 = entries.collect();
    }

    /// All that are stored have been published.
    pub(super) fn published(&mut self, now: Instant) {
        for entry in &mut self.0 {
            entry.published.get_or_insert(now);
        }
    }

    fn of(&self, authority: &Authority, now: Instant) -> SeenSince {
        let Some(entry) = self.entry(authority) else {
            return SeenSince::default();
        };
        let ago = |since: Instant| now - since;
        SeenSince {
            published: entry.published.map(ago).unwrap_or_default(),
            marked: entry.marked.map(ago).unwrap_or_default(),
            needed: entry.needed.map(ago),
        }
    }

    fn entry(&self, authority: &Authority) -> Option<&SeenAuthority> {
        self.0.iter().find(|entry| entry.of.is(authority))
    }
}

impl SeenAuthority {
    fn new(authority: &Authority, known: Option<&Self>, now: Instant) -> Self {
        let marked = known.and_then(|entry| entry.marked);
        let needed = known.and_then(|entry| entry.needed);
        let is_objection = marked.is_some() && !authority.is_leaving;
        Self {
            of: authority.clone(),
            published: known.and_then(|entry| entry.published),
            marked: authority.is_leaving.then(|| marked.unwrap_or(now)),
            needed: if is_objection { Some(now) } else { needed },
        }
    }
}
