//! Runs renewals for as long as the certificate is served, and decides the next step of each.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustls::pki_types::ServerName;
use tokio::time::{Instant, timeout};
use tracing::{debug, info, warn};

use crate::restart::until_lost;
use crate::tls::leaf::utc;
use crate::tls::self_managed::state::{Authority, StoredAuthorities};
use crate::tls::self_managed::{
    AuthorityError, Keeper, LEAF_LIFE, MARGIN, PATIENCE, PROPAGATION, Store,
};
use crate::tls::{Certificates, Clock, Current, Observer, ServedCertificate, TlsConfig, TlsError};

/// The configuration of a self-managed certificate.
#[derive(Debug)]
pub struct SelfManaged<S> {
    /// The store of the authorities, which all replicas share.
    pub store: S,
    /// Every name that clients use, for the certificate.
    pub names: Vec<ServerName<'static>>,
    /// The terms of connections. The CA certificates for clients are kept up to date too.
    pub terms: TlsConfig,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
}

/// Agrees with the other replicas on an authority, and keeps serving a leaf from it. Must be called within a runtime.
///
/// At first this waits for the store without a limit. Later the store can be unavailable for as long as the served leaf
/// is valid.
///
/// # Errors
/// Fails if another attempt cannot help: names, terms or stored authorities that cannot be used.
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

/// Obtains the first certificate, and retries without a limit. If the process ended because the store is unavailable,
/// it would only be restarted.
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

/// Whether another attempt can have another result.
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
    loop {
        let renewing = renew(&mut keeper, &current, &*observer);
        until_lost("Certificate renewal", renewing).await;
    }
}

async fn renew<S: Store>(keeper: &mut Keeper<S>, current: &Current, observer: &dyn Observer) {
    let mut failures = 0;
    let (mut renewals, mut clients) = (ReportedFault::default(), ReportedFault::default());
    loop {
        let wait = if failures == 0 {
            EVERY
        } else {
            back_off(failures)
        };
        until_due(wait, &keeper.store).await;
        clients.tell(keeper.follow_clients(), current, observer);
        let renewed = keeper.renew().await;
        failures = if renewed.is_ok() { 0 } else { failures + 1 };
        renewals.tell(renewed, current, observer);
    }
}

/// Waits for `wait`, or until a change. However often changes come, renewals are at least [`LEAST`] apart.
async fn until_due(wait: Duration, store: &impl Store) {
    if !changes_during(LEAST.min(wait), store).await {
        // A timeout is the other normal end of the wait.
        let _over = timeout(wait.saturating_sub(LEAST), store.changed()).await;
    }
}

/// Whether anything changes during a pause. Every change is consumed, so that a burst of changes causes only one
/// renewal.
async fn changes_during(pause: Duration, store: &impl Store) -> bool {
    let mut is_changed = false;
    let changes = async {
        loop {
            store.changed().await;
            is_changed = true;
        }
    };
    // The loop has no other end.
    let _over: Result<(), _> = timeout(pause, changes).await;
    is_changed
}

/// The last reported fault. A fault is reported once, until it changes: a store that is unavailable for an hour is one
/// fault.
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

    /// Whether the error differs from the last reported one.
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

/// Doubles with each failure up to [`EVERY`], with a random part, so replicas do not retry in step.
fn back_off(failures: u32) -> Duration {
    let whole = EVERY.min(Duration::from_secs(1) * 2_u32.saturating_pow(failures.min(10) - 1));
    whole.mul_f64(0.5 + fastrand::f64() / 2.0)
}

/// The time between two renewals. It is short, because one long sleep would not notice that the clock was set or that
/// the machine was suspended.
const EVERY: Duration = Duration::from_secs(25);
/// The least time between two renewals, however often changes come.
const LEAST: Duration = Duration::from_millis(500);
/// The longest time without a look at the clock, with a renewal that waits for the store.
const UNSEEN: Duration = Duration::from_mins(1);
const _: () = assert!(EVERY.as_secs() + PATIENCE.as_secs() <= UNSEEN.as_secs());

// === The next step, from the authorities, the time, and the observations of this replica ===
//
// The clock of any replica may be wrong, and all replicas read the stamps that it writes. So a stamp alone decides
// nothing that could break another replica:
// - A replica signs with an authority that it has itself seen published for [`PROPAGATION`], if it has a
//   choice.
// - An authority leaves in two steps. A replica that finds it expired or superseded marks it, and it is removed
//   [`MARGIN`] later. In the meantime the other replicas replace the leaves that it signed. A replica
//   without another usable authority removes the mark.

/// The facts of an authority that decide its use.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Term {
    pub(super) not_before: SystemTime,
    pub(super) not_after: SystemTime,
    /// The time at which the first bundle with it was published, if any.
    pub(super) published: Option<SystemTime>,
    /// Whether it is marked as leaving.
    pub(super) is_leaving: bool,
    /// Whether it signed the leaf that this replica serves.
    pub(super) is_ours: bool,
    pub(super) seen: SeenSince,
}

/// The time for which this replica has seen an authority in each state.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct SeenSince {
    /// The time since it was published in the bundle.
    pub(super) published: Duration,
    /// The time since it was marked as leaving.
    pub(super) marked: Duration,
    /// The time since a replica removed its mark, if one did.
    pub(super) needed: Option<Duration>,
}

/// The next step of the rotation.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct RotationStage {
    /// The next state of each authority.
    pub(super) fates: Vec<AuthorityFate>,
    /// The authority that signs, if any can.
    pub(super) signer: Option<usize>,
    /// Whether another authority must be made.
    pub(super) next: NextAuthority,
}

/// The next state of an authority.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum AuthorityFate {
    /// The authority stays, without a mark.
    Stays,
    /// The authority is marked: replicas with a leaf from it must get another one.
    Leaves,
    /// The authority is removed, so clients no longer trust it.
    Gone,
}

/// Whether another authority must be made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum NextAuthority {
    Due,
    NotYet,
}

/// Returns the next step for these authorities, which are ordered from oldest to newest.
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

/// Whether two thirds of a validity have passed, so that a renewal is due.
pub(super) fn is_past_two_thirds(
    not_before: SystemTime,
    not_after: SystemTime,
    now: SystemTime,
) -> bool {
    let life = not_after.duration_since(not_before).unwrap_or_default();
    now >= not_before + life * 2 / 3
}

/// Returns the authority that signs: the newest one that all clients have had time to learn while this replica watched.
/// A watched authority that is leaving is preferred to one that was not watched. After a start, none has been watched;
/// then the oldest is the one that clients know best.
fn signer(terms: &[Term], now: SystemTime) -> Option<usize> {
    let is_known = |term: &Term| term.is_usable(now) && term.seen.published >= PROPAGATION;
    let stays = |term: &Term| is_known(term) && !term.is_leaving;
    (terms.iter().rposition(stays))
        .or_else(|| terms.iter().rposition(is_known))
        .or_else(|| terms.iter().position(|term| term.is_usable(now)))
}

/// Returns the index of the newest authority that supersedes all earlier ones. By its stamp, it has been signing for
/// longer than a leaf is valid, and this replica has seen it for a while. So no leaf of the earlier ones is still in
/// use.
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

/// Returns the authority to remove if there are too many: the oldest unusable one, unless another is leaving already.
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
    /// Returns the state of an authority, by its mark, if nothing is due.
    pub(super) fn marked(is_leaving: bool) -> Self {
        if is_leaving {
            Self::Leaves
        } else {
            Self::Stays
        }
    }
}

impl Term {
    /// Whether the authority can sign now. One that is about to expire cannot.
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

    /// Whether the authority can be marked: it did not sign the served leaf, and no replica objected recently.
    fn may_leave(&self) -> bool {
        !self.is_ours && self.seen.needed.is_none_or(|ago| ago >= OBJECTION)
    }
}

/// The most authorities. A clock that jumps back and forth makes a new one each time, and the bundle must not grow
/// without bound.
pub(super) const MOST: usize = 8;

/// The time for which an authority that another replica needs is not marked again.
const OBJECTION: Duration = Duration::from_hours(1);

// === The history of each authority, as this replica has seen it by a monotonic clock ===

/// The view of one replica: its clock, and its observations.
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

/// The observations of the stored authorities by this process.
#[derive(Default)]
pub(super) struct AuthorityHistory(Vec<SeenAuthority>);

struct SeenAuthority {
    of: Authority,
    published: Option<Instant>,
    marked: Option<Instant>,
    /// The time at which its mark was removed.
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
    /// Records the authorities that are stored now.
    pub(super) fn stored(&mut self, authorities: &[Authority], now: Instant) {
        let entries = authorities
            .iter()
            .map(|one| SeenAuthority::new(one, self.entry(one), now));
        self.0 = entries.collect();
    }

    /// Records that all stored authorities have been published.
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
