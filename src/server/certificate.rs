//! The certificate of a server: whether there is one yet, whether it is fit to be shown, and how often
//! it was read anew.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::server::health::Check;
use crate::telemetry::metrics::{Reload, TlsMetrics};
use crate::tls::{Certificates, Clock, Leaf, Observer, SystemClock, TlsError};
use olmguard_views::readiness::CheckReadiness;

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

impl<C: Clock + 'static> Check for CertificateInUse<C> {
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
