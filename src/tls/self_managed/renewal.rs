//! Renewals, for as long as the certificate is served.

use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::time::timeout;
use tracing::{debug, info, warn};

use crate::tls::leaf::utc;
use crate::tls::self_managed::stage::AuthorityHistory;
use crate::tls::self_managed::state::StoredAuthorities;
use crate::tls::self_managed::{AuthorityError, Keeper, PATIENCE, Store};
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
