//! The guardrails of a server: read when it starts, and again when their files change.
//!
//! What is judged by depends on what the files hold, never on what they held before, so that all
//! replicas judge alike: a document that cannot be read forbids upgrades until it is mended. Only
//! where a file itself cannot be read, what was read of it last goes on.

use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tracing::{error, info, warn};

use crate::cli::guardrails::{Files, GuardrailsArgs, GuardrailsFault, ReadGuardrails};
use crate::guardrail::Imposed;
use crate::server::Check;
use crate::telemetry::metrics::GuardrailMetrics;
use crate::tls::files::POLL;

/// The guardrails of the moment, and what keeps them so.
#[derive(Debug)]
pub(super) struct Guardrails {
    args: GuardrailsArgs,
    /// What the files hold.
    files: Files,
    current: Arc<ArcSwap<Imposed>>,
    metrics: Arc<GuardrailMetrics>,
}

/// How the guardrails are, for probes. Those that cannot be read are no reason not to be ready: what
/// they are about is refused, all else is judged.
#[derive(Debug)]
struct GuardrailsCheck(Arc<ArcSwap<Imposed>>);

impl Guardrails {
    /// Reads them.
    ///
    /// # Errors
    /// If a file cannot be read. What it holds may be no guardrails all the same.
    pub(super) fn read(
        args: GuardrailsArgs,
        metrics: Arc<GuardrailMetrics>,
    ) -> Result<Self, GuardrailsFault> {
        let guardrails = Self {
            files: args.contents()?,
            args,
            current: Arc::default(),
            metrics,
        };
        guardrails.take();
        Ok(guardrails)
    }

    /// What is judged by.
    pub(super) fn current(&self) -> Arc<ArcSwap<Imposed>> {
        Arc::clone(&self.current)
    }

    /// What there is to say of them to probes, if there are any.
    pub(super) fn check(&self) -> Option<Arc<dyn Check>> {
        let check = GuardrailsCheck(self.current());
        self.args.is_given().then(|| Arc::new(check) as _)
    }

    /// Goes on reading them, for as long as the runtime lasts.
    pub(super) fn follow(self) {
        if self.args.is_given() {
            tokio::spawn(self.run());
        }
    }

    async fn run(mut self) {
        loop {
            sleep(POLL).await;
            let args = self.args.clone();
            match spawn_blocking(move || args.contents()).await {
                Ok(Ok(files)) if files == self.files => {}
                Ok(Ok(files)) => {
                    self.files = files;
                    self.take();
                }
                Ok(Err(fault)) => warn!(%fault, "Cannot read guardrails, those read last go on"),
                Err(fault) if fault.is_panic() => {
                    error!(%fault, "Cannot look at guardrails, those read last go on");
                }
                // It is cancelled when the runtime ends, and so is this.
                Err(_) => return,
            }
        }
    }

    /// Judges by what the files hold from now on.
    fn take(&self) {
        let ReadGuardrails { imposed, faults } = ReadGuardrails::of(&self.files);
        for fault in &faults {
            error!(%fault, "Guardrails cannot be read and forbid every upgrade of what they are about");
        }
        let (read, unread) = counts(&imposed);
        self.metrics.taken(read, unread);
        if self.args.is_given() {
            info!(read, unread, "Took guardrails");
        }
        self.current.store(Arc::new(imposed));
    }
}

impl Check for GuardrailsCheck {
    fn name(&self) -> &'static str {
        "guardrails"
    }

    fn state(&self) -> Result<String, String> {
        let (read, unread) = counts(&self.0.load());
        Ok(match unread {
            0 => format!("{read} read"),
            unread => format!("{read} read; {unread} cannot be read and forbid upgrades"),
        })
    }
}

/// How many documents can be read, and how many cannot.
fn counts(imposed: &Imposed) -> (usize, usize) {
    let (read, unread): (Vec<_>, Vec<_>) = imposed.iter().partition(|by| by.stated.is_ok());
    (read.len(), unread.len())
}
