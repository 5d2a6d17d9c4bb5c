//! The version and the configuration with which the extension can be created.

use crate::migrate::draft::{ExtensionDraft, WantedConfig, reads_watched};
use crate::migrate::objects::{Approval, ClassicObjects, WatchScope};
use crate::migrate::plan::{MigrationFacts, MovePlan};
use crate::migrate::words::{MoveChange, MoveNeed, Obstacle};
use crate::migrate::{Attempt, named};
use olmguard_catalog::olm::{InstallGate, Rules};
use olmguard_engine::judge::{Token, pin};
use olmguard_engine::resolve::{Choice, Offer};

impl<'a> MovePlan<'a> {
    /// Chooses the fields of the extension, and records what its creation needs and changes.
    pub(super) fn settle(&mut self, facts: &MigrationFacts<'a>) {
        let rules = facts.basis.snapshot.rules();
        let start = self.installed.or_else(|| self.starting(facts));
        self.draft.version = start.and_then(pin);
        let watched = self.watched(facts.objects);
        let wanted = WantedConfig::of(self.subscription, watched);
        let Some(best) = Attempt::best(facts, wanted.drafts(&self.draft, rules)) else {
            return;
        };
        let best = self.without_pin(facts, &best, start).unwrap_or(best);
        self.record(&best, rules);
        if best.refusal.is_none() {
            self.record_losses(&best.draft, wanted);
        }
        self.draft = best.draft;
    }

    /// Tries the draft without a version. Upgrades stay automatic if OLM v1 then installs the same bundle.
    fn without_pin(
        &self,
        facts: &MigrationFacts<'a>,
        best: &Attempt<'a>,
        start: Option<Choice<'a>>,
    ) -> Option<Attempt<'a>> {
        let start = start.filter(|_| self.approval == Approval::Automatic)?;
        let draft = ExtensionDraft {
            version: None,
            ..best.draft.clone()
        };
        Some(Attempt::new(facts, draft)).filter(|attempt| attempt.gives(start))
    }

    /// Returns the bundle at which a Subscription starts that waits for its first approval.
    fn starting(&self, facts: &MigrationFacts<'a>) -> Option<Choice<'a>> {
        let name = self.subscription.starting_csv.as_deref()?;
        let is_new =
            self.subscription.status.is_some() && self.subscription.installed_name().is_none();
        let waits = is_new && self.approval == Approval::Manual;
        let filter = self.draft.filter().filter(|_| waits)?;
        named(&Offer::of_package(facts.basis.snapshot, &filter), name)
    }

    /// Returns the namespace that the operator must watch, if it is a single one.
    fn watched(&mut self, objects: &ClassicObjects) -> Option<String> {
        let namespace = &self.subscription.key.namespace;
        let modes = self.modes();
        let is_known = modes.is_some();
        let all = modes.is_none_or(|modes| modes.all_namespaces);
        let modes = modes.unwrap_or_default();
        match objects.scope(namespace) {
            WatchScope::All => None,
            WatchScope::Own if modes.own_namespace => Some(namespace.clone()),
            WatchScope::Single(watched) if modes.single_namespace => Some(watched),
            WatchScope::Own => self.widened(all, vec![namespace.clone()]),
            WatchScope::Single(watched) => self.widened(all, vec![watched]),
            WatchScope::Several(watched) if all => self.widened(all, watched),
            WatchScope::Several(watched) => {
                self.obstacles.push(Obstacle::SeveralNamespaces(watched));
                None
            }
            WatchScope::Unknown if is_known && !modes.own_namespace && !modes.single_namespace => {
                self.changes.push(MoveChange::ScopeAssumed);
                None
            }
            WatchScope::Unknown if !all && !modes.single_namespace => Some(namespace.clone()),
            WatchScope::Unknown => {
                self.obstacles.push(Obstacle::NamespaceUnknown);
                None
            }
        }
    }

    /// Lets the operator watch all namespaces if it can. Otherwise the creation of the extension is denied.
    fn widened(&mut self, all: bool, watched: Vec<String>) -> Option<String> {
        if all {
            self.changes.push(MoveChange::WatchesAll(watched));
        }
        None
    }

    fn record(&mut self, attempt: &Attempt<'a>, rules: &Rules) {
        if let Some(refused) = attempt.refusal.clone() {
            if !self.is_for_want_of_scope(&refused) {
                self.obstacles.push(refused);
            }
        } else {
            let free = attempt.draft.version.is_none() && self.approval == Approval::Manual;
            let lost = self.installed.filter(|it| free || !attempt.gives(*it));
            self.obstacles
                .extend(lost.map(|installed| Obstacle::NotPinned {
                    bundle: installed.bundle().name.to_string(),
                }));
            if free && self.installed.is_none() {
                self.changes.push(MoveChange::NoApproval);
            }
        }
        for check in &attempt.doubts {
            self.need_for(*check);
        }
        self.record_needs(&attempt.draft, rules);
    }

    /// Whether a refusal only results from the unknown namespaces: another extension may be meant.
    fn is_for_want_of_scope(&self, refused: &Obstacle) -> bool {
        refused.is_by(Token::Preflight) && self.obstacles.contains(&Obstacle::NamespaceUnknown)
    }

    fn record_needs(&mut self, draft: &ExtensionDraft<'_>, rules: &Rules) {
        let mut installs = rules.installs.iter();
        let is_ignored = installs.any(|settings| !reads_watched(*settings, draft.minor));
        if draft.watched.is_some() && is_ignored {
            self.need(MoveNeed::Gate(InstallGate::SingleOwnNamespace));
        }
        if draft.has_config() && draft.minor != RELEASE_WITH_CONFIG {
            self.need(MoveNeed::ConfigField);
        }
        if let Some(name) = draft.service_account() {
            self.need(MoveNeed::ServiceAccount(name));
        }
    }

    /// Records the parts of the wanted configuration that the extension does not have.
    fn record_losses(&mut self, draft: &ExtensionDraft<'_>, wanted: WantedConfig) {
        let mut lost = wanted.lost;
        if draft.deployment.is_empty() {
            lost.extend(wanted.deployment.into_iter().map(|(name, _)| name));
        }
        lost.sort_unstable();
        if !lost.is_empty() {
            self.changes.push(MoveChange::SettingsLost(lost));
        }
        if let Some(watched) = wanted.watched.filter(|_| draft.watched.is_none()) {
            self.changes.push(MoveChange::WatchesAll(vec![watched]));
        }
    }
}

/// The only release 1.x whose standard CRD has `spec.config`.
const RELEASE_WITH_CONFIG: u8 = 8;
