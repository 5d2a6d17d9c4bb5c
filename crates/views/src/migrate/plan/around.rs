//! What the rest of the cluster shows about a move: the CSV, other objects, and the upgrades that follow.

use crate::migrate::objects::{Approval, ClassicCsv, ClassicObjects};
use crate::migrate::plan::{MigrationFacts, MoveChange, MoveNeed, MovePlan, Obstacle, TakenNames};
use crate::see::BundleReport;
use olmguard_catalog::olm::Rules;
use olmguard_engine::extension::{Extension, Shape};
use olmguard_engine::inquiry::Inquiry;
use olmguard_engine::judge::{StatedInstalled, Token};
use olmguard_engine::resolve::{EditContext, InstallContext};
use olmguard_preflight::support::{self, Supported};

impl<'a> MovePlan<'a> {
    /// What only the CSV shows: its phase, CRDs, webhooks, and all of it if the catalog does not have it.
    pub(super) fn compare_csv(&mut self, rules: &Rules) {
        let Some(csv) = self.csv else {
            let missing = self.installed_name().map(str::to_owned);
            self.obstacles.extend(missing.map(Obstacle::CsvMissing));
            return;
        };
        if csv.phase != SUCCEEDED && !csv.phase.is_empty() {
            self.changes.push(MoveChange::CsvPhase(csv.phase.clone()));
        }
        if !csv.crds.is_empty() {
            self.adopt_crds(rules);
        }
        self.compare_support(csv, rules);
    }

    /// An operator-controller with Boxcutter never adopts an object that exists.
    fn adopt_crds(&mut self, rules: &Rules) {
        let mut installs = rules.installs.iter();
        if installs.clone().all(|settings| settings.boxcutter) {
            self.obstacles.push(Obstacle::CrdsNotAdopted);
        } else if installs.any(|settings| settings.boxcutter) {
            self.need(MoveNeed::NoBoxcutter);
        }
    }

    fn compare_support(&mut self, csv: &ClassicCsv, rules: &Rules) {
        let supported = Supported {
            modes: self.modes().unwrap_or(csv.supported.modes),
            ..csv.supported
        };
        let minor = rules.olm.minor();
        let settings = rules.installs.iter();
        let found = settings.map(|settings| support::check(&supported, *settings, minor).err());
        let found: Vec<_> = found.collect();
        let first = found.iter().flatten().next().copied();
        match first {
            Some(first) if found.iter().any(Option::is_none) => self.need_for(first.check()),
            Some(first) if !self.is_refused_by(Token::Preflight) => {
                self.obstacles.push(Obstacle::Unsupported(first));
            }
            Some(_) | None => {}
        }
        if supported.has_webhooks == Some(true) && self.obstacles.is_empty() {
            self.need(MoveNeed::Certificates);
        }
    }

    fn is_refused_by(&self, row: Token) -> bool {
        let mut obstacles = self.obstacles.iter();
        obstacles.any(|one| matches!(one, Obstacle::Refused { token, .. } if *token == row))
    }

    /// What else is in the cluster.
    pub(super) fn look_around(&mut self, objects: &ClassicObjects, taken: &TakenNames<'_>) {
        let subscription = self.subscription;
        let others = objects.others(subscription).take(MOST_OTHERS);
        let others: Vec<_> = others.cloned().collect();
        if !others.is_empty() {
            self.obstacles.push(Obstacle::Several { others });
        }
        let own = taken.by(&subscription.package);
        let name = own.or_else(|| taken.by(&self.draft.name()));
        let name = name.map(str::to_owned);
        let exists = name.map(|name| Obstacle::ExtensionExists { name });
        self.obstacles.extend(exists);
        let is_pending = subscription.status.as_ref().is_some_and(|it| it.is_pending);
        let is_manual_by_others = self.approval != subscription.approval;
        let found = [
            (self.draft.catalog.is_none(), MoveChange::CatalogNotMatched),
            (subscription.is_dependency, MoveChange::Dependency),
            (is_manual_by_others, MoveChange::ManualNamespace),
            (is_pending, MoveChange::UpgradePending),
        ];
        let found = found.into_iter().filter(|(is_so, _)| *is_so);
        self.changes.extend(found.map(|(_, change)| change));
    }

    /// Whether upgrades follow, once the pin is removed or raised.
    pub(super) fn look_onward(&mut self, facts: &MigrationFacts<'a>) {
        let filter = self.draft.filter().map(|filter| filter.without_version());
        let Some((installed, filter)) = self.installed.zip(filter) else {
            return;
        };
        let stated = StatedInstalled {
            text: installed.bundle().name.to_string(),
            ..StatedInstalled::default()
        };
        let basis = facts.basis;
        let extension = Extension::read(Shape::V1, &self.draft.object());
        let context = EditContext {
            install: extension.install.as_ref().map(InstallContext::of_move),
            ..EditContext::of(&extension.subject, facts.requester)
        };
        let Ok(inquiry) = Inquiry::of(basis, &filter, &stated, context) else {
            return;
        };
        let steps = match self.approval {
            Approval::Manual => inquiry.path(None).steps.unwrap_or_default(),
            Approval::Automatic => inquiry.walk().steps,
        };
        self.upgrades = steps.into_iter().map(BundleReport::of).collect();
        let newer = inquiry.newer_than(None);
        if newer > 0 && self.upgrades.is_empty() {
            self.changes.push(MoveChange::NoUpgradePath { newer });
        }
    }
}

const SUCCEEDED: &str = "Succeeded";

/// The most other Subscriptions that a finding names: more than a sentence shows, so that it says that there are more.
const MOST_OTHERS: usize = 6;
