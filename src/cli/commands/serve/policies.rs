//! The rules of administrators that a server applies: guardrails from files, and upgrade policies of the cluster.
//!
//! Files of guardrails are read when the server starts, and again when they change. A verdict depends only on their
//! current content, so all replicas judge alike: a document that cannot be read forbids upgrades until it is fixed.
//! Only if a file itself cannot be read does its last content stay in use.

use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::sleep;
use tracing::{error, info, warn};

use crate::cli::args::heading;
use crate::cli::args::policies::GuardrailsArgs;
use crate::cli::shipped;
use crate::cluster::policies::{PolicyBoard, PolicyListener, PolicyStore, Reports, follow, report};
use crate::cluster::{Cluster, Leadership};
use crate::policy_files::{GuardrailFiles, GuardrailsFault, LoadedGuardrails};
use olmguard_catalog::guardrail::AdministratorGuardrails;
use olmguard_server::ReadinessCheck;
use olmguard_server::restart::until_lost;
use olmguard_server::telemetry::metrics::GuardrailMetrics;
use olmguard_server::telemetry::{Metrics, OncePerChange};
use olmguard_server::tls::SystemClock;
use olmguard_server::tls::files::POLL;
use olmguard_views::readiness::CheckReadiness;

/// The current guardrails, and the task that keeps them current.
#[derive(Debug)]
pub(super) struct FollowedGuardrails {
    args: GuardrailsArgs,
    /// The content of the files.
    files: Arc<GuardrailFiles>,
    board: Arc<GuardrailsCheck>,
    metrics: Arc<GuardrailMetrics>,
    store: Arc<PolicyStore>,
}

/// The state of the guardrails, for probes. Unreadable guardrails do not make the server unready: it denies the
/// upgrades that they are about, and judges all others.
#[derive(Debug, Default)]
struct GuardrailsCheck {
    /// The number of readable documents, and the unreadable ones.
    words: Mutex<String>,
    /// The error of the last attempt to read the files, if it failed.
    fault: Mutex<OncePerChange>,
}

/// The current files, already parsed; `None` if they did not change.
type ReadFiles = Result<Option<(GuardrailFiles, LoadedGuardrails)>, GuardrailsFault>;

impl FollowedGuardrails {
    /// Reads the guardrails.
    ///
    /// # Errors
    /// If a file cannot be read. Content that is not a guardrail is no error.
    pub(super) fn read(
        args: GuardrailsArgs,
        metrics: Arc<GuardrailMetrics>,
        store: Arc<PolicyStore>,
    ) -> Result<Self, GuardrailsFault> {
        let files = GuardrailFiles::load(&args.files)?;
        let read = LoadedGuardrails::of(&files);
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

    /// The readiness check of the guardrails, if there are any.
    pub(super) fn check(&self) -> Option<Arc<dyn ReadinessCheck>> {
        let is_given = !self.args.files.is_empty();
        is_given.then(|| Arc::clone(&self.board) as Arc<dyn ReadinessCheck>)
    }

    /// Starts to reload the files when they change, as long as the runtime exists.
    pub(super) fn follow(self) {
        if !self.args.files.is_empty() {
            tokio::spawn(self.run());
        }
    }

    async fn run(mut self) {
        loop {
            let looking = async {
                loop {
                    sleep(POLL).await;
                    self.look().await;
                }
            };
            until_lost("Guardrail file watcher", looking).await;
        }
    }

    /// Checks the files once. Reading large files takes long, so it runs on a blocking thread.
    async fn look(&mut self) {
        let (args, known) = (self.args.clone(), Arc::clone(&self.files));
        let looked = spawn_blocking(move || -> ReadFiles {
            let files = GuardrailFiles::load(&args.files)?;
            Ok((files != *known).then(|| {
                let read = LoadedGuardrails::of(&files);
                (files, read)
            }))
        });
        match looked.await {
            Ok(Ok(changed)) => self.found(changed),
            Ok(Err(fault)) => self.lost(&fault.to_string()),
            Err(fault) if fault.is_panic() => self.panicked(&fault),
            // The blocking task is cancelled only when the runtime ends, and so this task ends too.
            Err(_) => pending().await,
        }
    }

    fn found(&mut self, changed: Option<(GuardrailFiles, LoadedGuardrails)>) {
        if self.board.fault().is_gone() {
            info!("Guardrail files are readable again");
        }
        self.metrics.looked(true);
        if let Some((files, read)) = changed {
            self.files = Arc::new(files);
            self.take(read);
        }
    }

    /// Keeps the last good version. A repeated fault is logged once.
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

    /// Applies the content of the files from now on.
    fn take(
        &self,
        LoadedGuardrails {
            imposed, faults, ..
        }: LoadedGuardrails,
    ) {
        for fault in &faults {
            error!(%fault, "Failed to parse guardrails, denying every upgrade that they apply to");
        }
        let (read, unread) = counts(&imposed);
        self.metrics.taken(read, unread);
        if !self.args.files.is_empty() {
            info!(read, unread, "Loaded guardrails");
        }
        *self.board.words() = words(&imposed);
        self.store.put_files(imposed);
    }
}

impl GuardrailsCheck {
    /// Locks the words. No operation under the lock can fail halfway.
    fn words(&self) -> MutexGuard<'_, String> {
        self.words.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the words. No operation under the lock can fail halfway.
    fn fault(&self) -> MutexGuard<'_, OncePerChange> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReadinessCheck for GuardrailsCheck {
    fn readiness(&self) -> CheckReadiness {
        let mut words = self.words().clone();
        if let Some(fault) = self.fault().last() {
            words += "; the files cannot be read now, so the last good rules stay in use: ";
            words += fault;
        }
        CheckReadiness::new("guardrails", Ok(words))
    }
}

/// The number of readable documents, and the first unreadable one with the reason.
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

/// The numbers of readable and unreadable documents.
fn counts(imposed: &AdministratorGuardrails) -> (usize, usize) {
    let (read, unread): (Vec<_>, Vec<_>) = imposed.iter().partition(|by| by.stated.is_ok());
    (read.len(), unread.len())
}

/// The flag about the policies of the cluster.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(super) struct PolicyArgs {
    /// Do not apply the upgrade policies of the cluster
    #[arg(long, help_heading = heading::DECISIONS)]
    ignore_policies: bool,
}

/// The policies of a connected cluster, before they are followed.
#[derive(Debug)]
pub(super) struct FollowedPolicies {
    cluster: Cluster,
    board: Arc<PolicyBoard>,
}

impl PolicyArgs {
    /// The flag, if it is given. It has no meaning without a cluster.
    pub(super) fn given(self) -> Option<&'static str> {
        self.ignore_policies.then_some("--ignore-policies")
    }

    /// The policies of this cluster; `None` if they are ignored, or without a cluster.
    pub(super) fn of(self, cluster: Option<&Cluster>) -> Option<FollowedPolicies> {
        let cluster = cluster.filter(|_| !self.ignore_policies)?;
        Some(FollowedPolicies {
            cluster: cluster.clone(),
            board: Arc::default(),
        })
    }
}

impl FollowedPolicies {
    /// The check that must pass before this server receives edits.
    pub(super) fn check(&self) -> Arc<dyn ReadinessCheck> {
        Arc::clone(&self.board) as _
    }

    /// Follows the policies in tasks of their own, as long as the runtime exists. A separate task reports to the
    /// status of the objects.
    pub(super) fn follow(self, store: Arc<PolicyStore>, metrics: &Metrics, leadership: Leadership) {
        let listener = PolicyListener {
            store,
            board: self.board,
            metrics: Arc::clone(&metrics.policies),
            watches: Arc::clone(&metrics.watches),
            clock: Arc::new(SystemClock),
        };
        listener.begin();
        let (sender, reports) = watch::channel(Reports::default());
        let client = self.cluster.client;
        let reporting = report(client.clone(), leadership, Arc::new(SystemClock), reports);
        tokio::spawn(reporting);
        // The policies of an attempt that is lost stay in use until the next attempt has read as much.
        tokio::spawn(async move {
            loop {
                let (expected, listener) = (shipped::permission(), listener.clone());
                let following = follow(client.clone(), expected, listener, sender.clone());
                until_lost("Policy watcher", following).await;
            }
        });
    }
}

impl ReadinessCheck for PolicyBoard {
    fn readiness(&self) -> CheckReadiness {
        Self::readiness(self)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use olmguard_fixtures::moved::Moved;
    use olmguard_server::telemetry::Metrics;

    const RULES: &str = "\
schema: olmguard.guardrails.v1alpha1
package: lantern
rules:
- {id: slowly, kind: MaxMinorStep, step: 1}
";

    fn guardrails(file: &Path, metrics: &Metrics) -> FollowedGuardrails {
        let args = GuardrailsArgs {
            files: vec![file.to_owned()],
        };
        FollowedGuardrails::read(args, Arc::clone(&metrics.guardrails), Arc::default())
            .expect("it can be read")
    }

    fn said(guardrails: &FollowedGuardrails) -> String {
        let check = guardrails.check().expect("there are some");
        let readiness = check.readiness();
        assert!(readiness.ok, "{readiness:?}");
        readiness.message
    }

    /// The metric for whether the files can be read.
    fn is_readable(metrics: &Metrics) -> bool {
        metrics
            .render()
            .contains("\nolmguard_guardrail_files_readable 1\n")
    }

    #[tokio::test]
    async fn a_file_that_is_gone_is_told_and_what_it_held_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("rules.yaml");
        fs::write(&file, RULES).expect("written");
        let metrics = Metrics::new();
        let mut guardrails = guardrails(&file, &metrics);
        assert_eq!(said(&guardrails), "1 read");
        assert!(is_readable(&metrics));

        fs::remove_file(&file).expect("removed");
        guardrails.look().await;
        let expected = format!(
            "1 read; the files cannot be read now, so the last good rules stay in use: guardrails {}: \
         does not exist: expected a file or a directory",
            file.display()
        );
        assert_eq!(said(&guardrails), expected);
        assert!(!is_readable(&metrics));
        assert_eq!(
            guardrails
                .store
                .current()
                .load()
                .guardrails
                .on("lantern")
                .count(),
            1
        );

        fs::write(&file, RULES).expect("written");
        guardrails.look().await;
        assert_eq!(said(&guardrails), "1 read");
        assert!(is_readable(&metrics));
    }

    #[tokio::test]
    async fn what_changes_is_judged_by_from_then_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("rules.yaml");
        fs::write(&file, RULES).expect("written");
        let metrics = Metrics::new();
        let mut guardrails = guardrails(&file, &metrics);
        fs::write(&file, RULES.replace("step: 1", "step: 0")).expect("written");
        guardrails.look().await;
        assert_eq!(
            said(&guardrails),
            "0 read; 1 cannot be read and forbid upgrades; the first: rules.yaml:1: rules[0].step: expected a \
         whole number from 1, found 0"
        );
        let current = guardrails.store.current().load_full();
        let place = current.guardrails.iter().map(|by| &*by.place);
        assert_eq!(place.collect::<Vec<_>>(), ["rules.yaml:1"]);
    }

    #[tokio::test]
    async fn every_metric_of_the_files_moves() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("rules.yaml");
        fs::write(&file, RULES).expect("written");
        let metrics = Metrics::new();
        let mut moved = Moved::default();
        let mut guardrails = guardrails(&file, &metrics);
        moved.look(&metrics.render());
        fs::write(&file, RULES.replace("step: 1", "step: 0")).expect("written");
        guardrails.look().await;
        moved.look(&metrics.render());
        fs::remove_file(&file).expect("removed");
        guardrails.look().await;
        moved.look(&metrics.render());
        let rows = include_str!("../../../../tests/server/telemetry/moved/guardrails.txt");
        assert_eq!(moved.still(rows), [""; 0]);
    }

    #[test]
    fn without_policies_to_follow_none_is_unknown() {
        let ignored = PolicyArgs {
            ignore_policies: true,
        };
        assert!(ignored.of(None).is_none());
        let store = PolicyStore::default();
        assert_eq!(store.current().load().unlisted, None);
    }
}
