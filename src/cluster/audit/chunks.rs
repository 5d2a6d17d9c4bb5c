//! The audit itself: chunk by chunk, on a thread that no edit waits for, with a pause after each.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use crate::live_facts::FactsOfMoment;
use olmguard_engine::audit::{Audit, Concern, as_set_now};
use olmguard_engine::extension::Extension;
use olmguard_engine::judge::Requester;
use olmguard_views::audit_report::ExtensionReport;

/// What is found of all extensions.
#[derive(Debug, Default)]
pub(super) struct Audited {
    pub(super) extensions: usize,
    /// How many extensions have each finding.
    pub(super) findings: BTreeMap<Concern, usize>,
    /// The extensions in words, if they are reported.
    pub(super) reports: Vec<ExtensionReport>,
}

/// Audits all of them by the same facts; none if that panics.
///
/// After each chunk there is a pause as long as the chunk took, so an audit has at most half of a core.
pub(super) async fn audited(
    facts: FactsOfMoment,
    extensions: Vec<Extension>,
    requester: Requester,
    in_words: bool,
) -> Option<Audited> {
    let requester = Arc::new(requester);
    let mut all = Audited::default();
    let mut left = extensions.into_iter();
    loop {
        let chunk: Vec<_> = left.by_ref().take(CHUNK).collect();
        if chunk.is_empty() {
            return Some(all);
        }
        let (facts, requester) = (facts.clone(), Arc::clone(&requester));
        let begun = Instant::now();
        let auditing = move || Audited::of(&facts, &chunk, &requester, in_words);
        all.add(spawn_blocking(auditing).await.ok()?);
        sleep(begun.elapsed()).await;
    }
}

impl Audited {
    fn of(
        facts: &FactsOfMoment,
        extensions: &[Extension],
        requester: &Requester,
        in_words: bool,
    ) -> Self {
        let basis = facts.basis(&facts.snapshot);
        let mut all = Self::default();
        for extension in extensions {
            let edit = as_set_now(extension, requester);
            let audit = Audit::of(basis, &edit);
            all.count(&audit.concerns());
            let report = in_words.then(|| ExtensionReport::of(&edit, &audit));
            all.reports.extend(report);
        }
        all
    }

    fn count(&mut self, concerns: &[Concern]) {
        self.extensions += 1;
        for concern in concerns {
            *self.findings.entry(*concern).or_default() += 1;
        }
    }

    fn add(&mut self, other: Self) {
        self.extensions += other.extensions;
        for (concern, count) in other.findings {
            *self.findings.entry(concern).or_default() += count;
        }
        self.reports.extend(other.reports);
    }
}

/// How many extensions are audited without a pause: some milliseconds.
const CHUNK: usize = 10;
