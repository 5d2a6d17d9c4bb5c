//! The guardrails of a server: read when it starts, and again when their files change.
//!
//! What is judged by depends on what the files hold, never on what they held before, so that all
//! replicas judge alike: a document that cannot be read forbids upgrades until it is mended. Only
//! where a file itself cannot be read, what was read of it last goes on.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::{JoinError, spawn_blocking};
use tokio::time::sleep;
use tracing::{error, info, warn};

use crate::cli::args::policies::GuardrailsArgs;
use crate::cluster::policies::PolicyStore;
use crate::guardrail_files::{GuardrailFiles, GuardrailsFault, ReadGuardrails};
use crate::once_per_change::OncePerChange;
use crate::server::Check;
use crate::telemetry::metrics::GuardrailMetrics;
use crate::tls::files::POLL;
use olmguard_catalog::guardrail::AdministratorGuardrails;
use olmguard_views::readiness::CheckReadiness;

/// The guardrails of the moment, and what keeps them so.
#[derive(Debug)]
pub(super) struct Guardrails {
    args: GuardrailsArgs,
    /// What the files hold.
    files: Arc<GuardrailFiles>,
    board: Arc<GuardrailsStatus>,
    metrics: Arc<GuardrailMetrics>,
    store: Arc<PolicyStore>,
}

/// How the guardrails are, for probes. Those that cannot be read are no reason not to be ready: what
/// they are about is refused, all else is judged.
#[derive(Debug, Default)]
struct GuardrailsStatus {
    /// How many documents can be read, and which cannot.
    words: Mutex<String>,
    /// Why the files could not be read when they were last looked at.
    fault: Mutex<OncePerChange>,
}

/// What the files hold by now, read; none where they hold what they held.
type ReadFiles = Result<Option<(GuardrailFiles, ReadGuardrails)>, GuardrailsFault>;

impl Guardrails {
    /// Reads them.
    ///
    /// # Errors
    /// If a file cannot be read. What it holds may be no guardrails all the same.
    pub(super) fn read(
        args: GuardrailsArgs,
        metrics: Arc<GuardrailMetrics>,
        store: Arc<PolicyStore>,
    ) -> Result<Self, GuardrailsFault> {
        let files = args.contents()?;
        let read = ReadGuardrails::of(&files);
        let guardrails = Self {
            files: Arc::new(files),
            args,
            board: Arc::default(),
            metrics,
            store,
        };
        guardrails.metrics.looked(true);
        guardrails.take(read);
        Ok(guardrails)
    }

    /// What there is to say of them to probes, if there are any.
    pub(super) fn check(&self) -> Option<Arc<dyn Check>> {
        self.args
            .is_given()
            .then(|| Arc::clone(&self.board) as Arc<dyn Check>)
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
            if self.look().await.is_break() {
                return;
            }
        }
    }

    /// Looks at the files once. Reading them takes as long as they are large, so that is done apart.
    async fn look(&mut self) -> ControlFlow<()> {
        let (args, known) = (self.args.clone(), Arc::clone(&self.files));
        let looked = spawn_blocking(move || -> ReadFiles {
            let files = args.contents()?;
            Ok((files != *known).then(|| {
                let read = ReadGuardrails::of(&files);
                (files, read)
            }))
        });
        match looked.await {
            Ok(Ok(changed)) => self.found(changed),
            Ok(Err(fault)) => self.lost(&fault.to_string()),
            Err(fault) if fault.is_panic() => self.panicked(&fault),
            // It is cancelled when the runtime ends, and so is this.
            Err(_) => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    fn found(&mut self, changed: Option<(GuardrailFiles, ReadGuardrails)>) {
        if self.board.fault().is_gone() {
            info!("Guardrail files are readable again");
        }
        self.metrics.looked(true);
        if let Some((files, read)) = changed {
            self.files = Arc::new(files);
            self.take(read);
        }
    }

    /// What was read last goes on. Said once, for as long as it is the same.
    fn lost(&self, fault: &str) {
        self.metrics.looked(false);
        if self.board.fault().is_new(fault) {
            warn!(
                fault,
                "Failed to read guardrail files, keeping the last good version"
            );
        }
    }

    fn panicked(&self, fault: &JoinError) {
        error!(%fault, "Panicked while reading guardrail files, keeping the last good version");
        self.lost("a fault of this program, which is in its log");
    }

    /// Judges by what the files hold from now on.
    fn take(
        &self,
        ReadGuardrails {
            imposed, faults, ..
        }: ReadGuardrails,
    ) {
        for fault in &faults {
            error!(%fault, "Failed to parse guardrails, denying every upgrade that they apply to");
        }
        let (read, unread) = counts(&imposed);
        self.metrics.taken(read, unread);
        if self.args.is_given() {
            info!(read, unread, "Loaded guardrails");
        }
        *self.board.words() = words(&imposed);
        self.store.put_files(imposed);
    }
}

impl GuardrailsStatus {
    /// Nothing that is done under the lock can fail half-way.
    fn words(&self) -> MutexGuard<'_, String> {
        self.words.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same.
    fn fault(&self) -> MutexGuard<'_, OncePerChange> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Check for GuardrailsStatus {
    fn readiness(&self) -> CheckReadiness {
        let mut words = self.words().clone();
        if let Some(fault) = self.fault().last() {
            words += "; the files cannot be read now, so the last good rules stay in use: ";
            words += fault;
        }
        CheckReadiness::new("guardrails", Ok(words), None)
    }
}

/// How many documents can be read; which one cannot, and why.
fn words(imposed: &AdministratorGuardrails) -> String {
    let (read, unread) = counts(imposed);
    let mut faults = imposed
        .iter()
        .filter_map(|by| Some((&by.place, by.stated.as_ref().err()?)));
    match faults.next() {
        None => format!("{read} read"),
        Some((place, why)) => format!(
            "{read} read; {unread} cannot be read and forbid upgrades; the first: {place}: {why}"
        ),
    }
}

/// How many documents can be read, and how many cannot.
fn counts(imposed: &AdministratorGuardrails) -> (usize, usize) {
    let (read, unread): (Vec<_>, Vec<_>) = imposed.iter().partition(|by| by.stated.is_ok());
    (read.len(), unread.len())
}

#[cfg(test)]
mod tests;
