//! A clock that tests set, and clients that go by it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls::{ClientConfig, RootCertStore};
use tokio::time::Instant;

use super::Clock;

/// A clock that follows the time of the runtime, and jumps.
#[derive(Debug)]
pub struct TestClock {
    begun: Instant,
    ahead: Mutex<i64>,
}

impl TestClock {
    /// A clock that is ahead of the time of the runtime by these seconds or, below zero, behind it.
    pub fn ahead(seconds: i64) -> Self {
        Self {
            begun: Instant::now(),
            ahead: Mutex::new(seconds),
        }
    }

    /// A second clock, which is ahead of this one by these seconds or, below zero, behind it.
    #[must_use]
    pub fn other(&self, seconds: i64) -> Self {
        Self {
            begun: self.begun,
            ahead: Mutex::new(self.seconds_ahead() + seconds),
        }
    }

    /// Sets the clock forwards or, below zero, back.
    pub fn jump(&self, seconds: i64) {
        *self.ahead.lock().unwrap_or_else(PoisonError::into_inner) += seconds;
    }

    fn seconds_ahead(&self) -> i64 {
        *self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for TestClock {
    fn now(&self) -> SystemTime {
        let seconds = (1 << 31) + self.seconds_ahead();
        UNIX_EPOCH + Duration::from_secs(seconds.unsigned_abs()) + self.begun.elapsed()
    }
}

impl TimeProvider for TestClock {
    fn current_time(&self) -> Option<UnixTime> {
        let since = self.now().duration_since(UNIX_EPOCH).ok()?;
        Some(UnixTime::since_unix_epoch(since))
    }
}

/// A client that trusts this CA bundle, by this clock.
///
/// # Panics
/// If the bundle is not PEM with certificates of CAs.
#[expect(clippy::unwrap_used, reason = "a test fails there")]
pub fn client(bundle: &str, clock: &Arc<TestClock>) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(bundle.as_bytes()) {
        roots.add(certificate.unwrap()).unwrap();
    }
    let provider = Arc::new(ring::default_provider());
    let time = Arc::clone(clock) as Arc<dyn TimeProvider>;
    let config = ClientConfig::builder_with_details(provider, time)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    Arc::new(config)
}
