//! The certificate of a server: whether it is fit to be shown, and how often it was read anew.

use std::sync::Arc;

use crate::server::health::Check;
use crate::telemetry::metrics::{Reload, TlsMetrics};
use crate::tls::{Certificates, Clock, Leaf, Observer, TlsError};

/// Whether clients can use the certificate that is shown.
#[derive(Debug)]
pub(super) struct CertificateCheck<C> {
    pub(super) certificates: Certificates,
    pub(super) clock: C,
}

impl<C: Clock + 'static> Check for CertificateCheck<C> {
    fn name(&self) -> &'static str {
        "certificate"
    }

    fn state(&self) -> Result<String, String> {
        let fitness = self.certificates.fitness(self.clock.now());
        fitness.map_err(|unfit| unfit.to_string())?;
        Ok(self.certificates.leaf().to_string())
    }
}

/// Counts what becomes of certificates.
#[derive(Clone, Debug)]
pub struct CountReloads(pub Arc<TlsMetrics>);

impl Observer for CountReloads {
    fn reloaded(&self, leaf: &Leaf) {
        self.0.reloaded(Reload::Ok);
        self.0.serving(leaf.not_before, leaf.not_after);
    }

    fn refused(&self, _: &TlsError) {
        self.0.reloaded(Reload::Refused);
    }
}
