//! Three questions about a server, each with its own meaning and an answer in words.
//!
//! | question | asks | a no means |
//! | --- | --- | --- |
//! | `/startupz` | has it started to take reviews | wait |
//! | `/livez` | does the process answer at all | restart it |
//! | `/readyz` | should edits be sent here | send them to another |
//!
//! `/certificate` serves the certificate in use, so a probe that sends no review can check it.
//!
//! `/livez` depends on nothing but the process: a cluster that cannot be reached is no reason to end it.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use axum::http::StatusCode;
use tokio::sync::watch;

use crate::server::connection::Phase;
use crate::telemetry::metrics::{Reload, TlsMetrics};
use crate::tls::{Certificates, Clock, Leaf, Observer, SystemClock, TlsError};
use olmguard_views::readiness::{CheckReadiness, Readiness};

/// Something that must be well for a server to be ready.
pub trait ReadinessCheck: fmt::Debug + Send + Sync + 'static {
    /// How it is, in words and for programs, both of one moment.
    fn readiness(&self) -> CheckReadiness;
}

/// The health of a server.
#[derive(Clone, Debug)]
pub(super) struct Health {
    pub(super) phase: watch::Receiver<Phase>,
    pub(super) certificate: Arc<CertificateInUse>,
    pub(super) checks: Arc<[Arc<dyn ReadinessCheck>]>,
}

/// What is said to a probe.
pub(super) type ProbeAnswer = (StatusCode, String);

impl Health {
    pub(super) fn started(&self) -> ProbeAnswer {
        match *self.phase.borrow() {
            Phase::Starting => no(format!("not started: {}\n", self.lack())),
            Phase::Serving | Phase::Leaving | Phase::Closed => yes("started\n".to_owned()),
        }
    }

    pub(super) fn alive() -> ProbeAnswer {
        yes("alive\n".to_owned())
    }

    /// The first line is the whole answer; those after it say how each thing is.
    pub(super) fn ready(&self) -> ProbeAnswer {
        let readiness = self.readiness();
        (status(&readiness), readiness.to_text())
    }

    /// The readiness as JSON, for programs.
    pub(super) fn ready_json(&self) -> ProbeAnswer {
        let readiness = self.readiness();
        let body = serde_json::to_string(&readiness).expect("string keys only");
        (status(&readiness), body)
    }

    fn readiness(&self) -> Readiness {
        let checks = self.checks.iter().map(|check| check.readiness());
        Readiness::new(self.under_way(), checks.collect())
    }

    /// The certificate that is shown, which anyone who connects is told as well.
    pub(super) fn certificate(&self) -> ProbeAnswer {
        match self.certificate.chain_pem() {
            Ok(chain) => yes(chain),
            Err(awaited) => no(format!("no certificate: {awaited}\n")),
        }
    }

    fn under_way(&self) -> Result<(), String> {
        match *self.phase.borrow() {
            Phase::Serving => Ok(()),
            Phase::Starting => Err(self.lack()),
            Phase::Leaving | Phase::Closed => Err("shutting down".to_owned()),
        }
    }

    /// Why it has not begun.
    fn lack(&self) -> String {
        let awaited = self.certificate.awaited();
        awaited.unwrap_or_else(|| "it takes no reviews yet".to_owned())
    }
}

fn status(readiness: &Readiness) -> StatusCode {
    if readiness.ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    }
}

fn yes(words: String) -> ProbeAnswer {
    (StatusCode::OK, words)
}

fn no(words: String) -> ProbeAnswer {
    (StatusCode::SERVICE_UNAVAILABLE, words)
}

// The certificate of a server: whether there is one yet, whether clients can use it, and how often it
// was read again.

/// The certificate of a server, which may be long in coming. It counts what becomes of it.
#[derive(Debug)]
pub(super) struct CertificateInUse<C = SystemClock> {
    metrics: Arc<TlsMetrics>,
    clock: C,
    certificates: OnceLock<Certificates>,
    /// Why there is none yet, if somebody said so.
    fault: Mutex<Option<String>>,
}

impl<C> CertificateInUse<C> {
    /// There is none yet.
    pub(super) fn new(metrics: Arc<TlsMetrics>, clock: C) -> Self {
        Self {
            metrics,
            clock,
            certificates: OnceLock::new(),
            fault: Mutex::default(),
        }
    }

    /// These are the certificates; those that came first stay.
    pub(super) fn came(&self, certificates: Certificates) {
        let leaf = certificates.leaf();
        self.metrics.serving(leaf.not_before, leaf.not_after);
        drop(self.certificates.set(certificates));
    }

    /// What is waited for, if there is none yet, in words of one line.
    pub(super) fn awaited(&self) -> Option<String> {
        self.there().err()
    }

    /// What is shown, as PEM with its chain; what is waited for where there is none yet.
    pub(super) fn chain_pem(&self) -> Result<String, String> {
        Ok(self.there()?.chain_pem())
    }

    fn there(&self) -> Result<&Certificates, String> {
        self.certificates.get().ok_or_else(|| {
            let fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
            match &*fault {
                Some(fault) => format!("waits for a certificate: {fault}"),
                None => "waits for a certificate".to_owned(),
            }
        })
    }
}

impl<C: Clock + 'static> ReadinessCheck for CertificateInUse<C> {
    fn readiness(&self) -> CheckReadiness {
        let fit = self.there().and_then(|certificates| {
            let fitness = certificates.fitness(self.clock.now());
            fitness.map_err(|unfit| unfit.to_string())?;
            Ok(certificates.leaf().to_string())
        });
        CheckReadiness::new("certificate", fit, None)
    }
}

impl<C: Clock + 'static> Observer for CertificateInUse<C> {
    fn reloaded(&self, leaf: &Leaf) {
        self.metrics.reloaded(Reload::Ok);
        self.metrics.serving(leaf.not_before, leaf.not_after);
    }

    fn refused(&self, error: &TlsError) {
        self.metrics.reloaded(Reload::Refused);
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        *fault = Some(error.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::Metrics;
    use crate::tls::{SystemClock, TlsConfig, self_signed};
    use olmguard_views::readiness::{CatalogCounts, CheckFacts};

    #[derive(Debug)]
    struct Fixed(&'static str, Result<&'static str, &'static str>);

    impl ReadinessCheck for Fixed {
        fn readiness(&self) -> CheckReadiness {
            let state = self.1.map(str::to_owned).map_err(str::to_owned);
            CheckReadiness::new(self.0, state, None)
        }
    }

    fn health(phase: Phase, checks: Vec<Fixed>) -> Health {
        let (_sender, phase) = watch::channel(phase);
        let checks = checks.into_iter().map(|check| Arc::new(check) as _);
        let certificate = CertificateInUse::new(Metrics::new().tls, SystemClock);
        certificate.came(self_signed(&TlsConfig::default(), Vec::new()).unwrap());
        Health {
            phase,
            certificate: Arc::new(certificate),
            checks: checks.collect(),
        }
    }

    #[track_caller]
    fn says((status, words): ProbeAnswer, expected: (u16, &str)) {
        assert_eq!((status.as_u16(), words.as_str()), expected);
    }

    #[tokio::test]
    async fn ready_is_who_serves_and_is_well() {
        let checks = || vec![Fixed("a", Ok("fine")), Fixed("b", Ok("well"))];
        let lines = "[+] a: fine\n[+] b: well\n";
        for (phase, status, first) in [
            (Phase::Serving, 200, "ready"),
            (Phase::Starting, 503, "not ready: it takes no reviews yet"),
            (Phase::Leaving, 503, "not ready: shutting down"),
            (Phase::Closed, 503, "not ready: shutting down"),
        ] {
            let expected = format!("{first}\n{lines}");
            says(health(phase, checks()).ready(), (status, &expected));
        }
    }

    #[tokio::test]
    async fn who_is_not_ready_says_why() {
        let checks = vec![Fixed("a", Ok("fine")), Fixed("b", Err("ill"))];
        says(
            health(Phase::Serving, checks).ready(),
            (503, "not ready: b: ill\n[+] a: fine\n[-] b: ill\n"),
        );
    }

    /// Knows more than words.
    #[derive(Debug)]
    struct Counted;

    impl ReadinessCheck for Counted {
        fn readiness(&self) -> CheckReadiness {
            let counts = CatalogCounts {
                available: 2,
                loaded: 2,
                ..CatalogCounts::default()
            };
            let facts = CheckFacts::Catalogs(counts);
            CheckReadiness::new("catalogs", Ok("2 of 2 loaded".to_owned()), Some(facts))
        }
    }

    #[tokio::test]
    async fn programs_are_told_the_same_as_people() {
        let mut health = health(Phase::Serving, vec![Fixed("b", Err("ill"))]);
        let checks = health.checks.iter().cloned();
        health.checks = checks.chain([Arc::new(Counted) as _]).collect();
        let (status, body) = health.ready_json();
        let read = Readiness::from_json(&body).unwrap();
        assert_eq!((status, read.to_text()), health.ready());
        let counts = read.checks[1].catalogs.unwrap();
        assert_eq!((counts.available, counts.loaded), (2, 2));
    }

    #[tokio::test]
    async fn started_and_alive_are_other_questions() {
        let ill = || vec![Fixed("a", Err("ill"))];
        says(
            health(Phase::Starting, ill()).started(),
            (503, "not started: it takes no reviews yet\n"),
        );
        for phase in [Phase::Serving, Phase::Leaving, Phase::Closed] {
            says(health(phase, ill()).started(), (200, "started\n"));
        }
        says(Health::alive(), (200, "alive\n"));
    }
}
