//! The evidence for whether a `Subscription` can become a `ClusterExtension`, without words.
//!
//! The engine evaluates the creation of exactly the object that the report prints, with a pin to the bundle that OLM v0
//! has installed. OLM v1 starts without an installed bundle and therefore without upgrade edges, so a request for any
//! version would skip the versions in between. The engine also computes the upgrades that follow.

mod settle;

use std::collections::BTreeMap;

use crate::migrate::draft::ExtensionDraft;
use crate::migrate::objects::{Approval, ClassicCsv, ClassicObjects, Subscription};
use crate::migrate::words::{MoveChange, MoveNeed, Obstacle};
use crate::migrate::{catalog, installed};
use crate::see::BundleReport;
use olmguard_catalog::olm::{InstallGate, Rules};
use olmguard_catalog::{InstallFacts, InstallModes, word_set};
use olmguard_engine::extension::{Extension, Shape};
use olmguard_engine::inquiry::Inquiry;
use olmguard_engine::judge::{Basis, Requester, StatedInstalled, Token, Verdict};
use olmguard_engine::resolve::{Choice, EditContext, InstallContext};
use olmguard_preflight::PreflightCheck;
use olmguard_preflight::support;

/// The facts by which Subscriptions are evaluated.
#[derive(Clone, Copy, Debug)]
pub struct MigrationFacts<'a> {
    /// Catalogs and policies.
    pub basis: Basis<'a>,
    /// User who creates the extensions, and the time.
    pub requester: &'a Requester,
    /// Objects of OLM v0.
    pub objects: &'a ClassicObjects,
    /// Extensions that already exist.
    pub extensions: &'a [Extension],
}

/// Names of existing extensions, by the package that each requests and by its own name.
#[derive(Debug)]
pub(super) struct TakenNames<'a>(BTreeMap<&'a str, &'a str>);

/// The facts about one `Subscription`.
#[derive(Debug)]
pub(super) struct MovePlan<'a> {
    pub(super) subscription: &'a Subscription,
    pub(super) csv: Option<&'a ClassicCsv>,
    /// Approval of upgrades, including the other Subscriptions of the namespace.
    pub(super) approval: Approval,
    /// Bundle that OLM v0 has installed, in its catalog of OLM v1.
    pub(super) installed: Option<Choice<'a>>,
    /// Fields of the extension.
    pub(super) draft: ExtensionDraft<'a>,
    /// Bundles that OLM v1 installs afterwards: automatically, or by edits if the approval is manual.
    pub(super) upgrades: Vec<BundleReport>,
    /// Reasons why the Subscription cannot move.
    pub(super) obstacles: Vec<Obstacle>,
    /// Additional requirements of OLM v1.
    pub(super) needs: Vec<MoveNeed>,
    /// Differences after the move.
    pub(super) changes: Vec<MoveChange>,
}

word_set! {
    /// The verdict on a `Subscription`.
    pub enum MoveVerdict {
        /// The Subscription cannot become a `ClusterExtension`.
        Cannot => "cannot_move",
        /// A fact is missing.
        Undecided => "undecided",
        /// The Subscription can become a `ClusterExtension`.
        Can => "can_move",
    }
}

impl<'a> MovePlan<'a> {
    /// Evaluates one Subscription.
    pub(super) fn of(
        facts: &MigrationFacts<'a>,
        taken: &TakenNames<'_>,
        subscription: &'a Subscription,
    ) -> Self {
        let rules = facts.basis.snapshot.rules();
        let catalog = catalog(facts.basis.snapshot, facts.objects, &subscription.source);
        let draft = ExtensionDraft::new(subscription, catalog, rules);
        let found = installed(facts.basis.snapshot, &draft);
        let csv = subscription.installed_name();
        let csv = csv.map(|name| subscription.key.sibling(name));
        let mut plan = Self {
            subscription,
            csv: csv.and_then(|key| facts.objects.csv(&key)),
            approval: facts.objects.approval(&subscription.key.namespace),
            draft,
            upgrades: Vec::new(),
            obstacles: found.clone().err().into_iter().collect(),
            installed: found.unwrap_or_default(),
            needs: Vec::new(),
            changes: Vec::new(),
        };
        plan.settle(facts);
        plan.compare_csv(rules);
        plan.look_around(facts.objects, taken);
        plan.look_onward(facts);
        plan.obstacles.sort_by_key(Obstacle::verdict);
        plan
    }

    /// Returns the worst verdict of the obstacles.
    pub(super) fn verdict(&self) -> MoveVerdict {
        let obstacles = self.obstacles.iter().map(Obstacle::verdict);
        obstacles.min().unwrap_or(MoveVerdict::Can)
    }

    /// Whether upgrades are automatic once the version is removed.
    pub(super) fn is_pinned_for_now(&self) -> bool {
        self.draft.version.is_some() && self.approval == Approval::Automatic
    }

    /// Returns the install modes from the catalog, otherwise from the CSV.
    fn modes(&self) -> Option<InstallModes> {
        let by_catalog = self.installed.as_ref();
        let by_catalog = by_catalog.and_then(|choice| choice.bundle().install.as_ref());
        let by_catalog = by_catalog.map(|facts| facts.modes);
        by_catalog.or_else(|| self.csv.map(|csv| csv.install.modes))
    }

    fn need(&mut self, need: MoveNeed) {
        if !self.needs.contains(&need) {
            self.needs.push(need);
        }
    }

    /// Records what is needed if this check fails only for some settings of operator-controller.
    fn need_for(&mut self, check: PreflightCheck) {
        match check {
            PreflightCheck::DeploymentConfigOff => {
                self.need(MoveNeed::Gate(InstallGate::DeploymentConfig));
            }
            PreflightCheck::WebhooksUnsupported => self.need(MoveNeed::Certificates),
            PreflightCheck::ReleaseNameTooLong => self.need(MoveNeed::Gate(InstallGate::Boxcutter)),
            _ => self.need(MoveNeed::Gate(InstallGate::SingleOwnNamespace)),
        }
    }
}

impl<'a> TakenNames<'a> {
    pub(super) fn of(extensions: &'a [Extension]) -> Self {
        let named = extensions.iter().flat_map(|extension| {
            let name = extension.identity.name.as_deref().unwrap_or_default();
            let filter = extension.filter.as_ref().ok();
            let package = filter.map(|filter| &*filter.package);
            let keys = [Some(name), package].into_iter().flatten();
            keys.map(move |key| (key, name))
        });
        Self(named.collect())
    }

    /// Returns the extension that requests this package, or has this name.
    fn by(&self, package: &str) -> Option<&'a str> {
        self.0.get(package).copied()
    }
}

impl Obstacle {
    /// Whether the creation of the extension is refused with this reason code.
    pub(super) fn is_by(&self, row: Token) -> bool {
        matches!(self, Self::Refused { token, .. } if *token == row)
    }

    /// Returns the verdict on the Subscription because of this obstacle.
    pub(super) fn verdict(&self) -> MoveVerdict {
        match self {
            Self::Refused { token, .. } if token.verdict() == Verdict::Undecided => {
                MoveVerdict::Undecided
            }
            Self::NoStatus | Self::CsvMissing(_) | Self::NamespaceUnknown => MoveVerdict::Undecided,
            _ => MoveVerdict::Cannot,
        }
    }
}

// === Evidence from the rest of the cluster: the CSV, other objects, and the upgrades that follow ===

impl<'a> MovePlan<'a> {
    /// Evaluates facts that only the CSV has: its phase, CRDs and webhooks, and all facts if no catalog has the bundle.
    fn compare_csv(&mut self, rules: &Rules) {
        let Some(csv) = self.csv else {
            let missing = self.subscription.installed_name().map(str::to_owned);
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

    /// Checks the adoption of CRDs. An operator-controller with Boxcutter never adopts an existing object.
    fn adopt_crds(&mut self, rules: &Rules) {
        let mut installs = rules.installs.iter();
        if installs.clone().all(|settings| settings.boxcutter) {
            self.obstacles.push(Obstacle::CrdsNotAdopted);
        } else if installs.any(|settings| settings.boxcutter) {
            self.need(MoveNeed::NoBoxcutter);
        }
    }

    fn compare_support(&mut self, csv: &ClassicCsv, rules: &Rules) {
        let facts = InstallFacts {
            modes: self.modes().unwrap_or(csv.install.modes),
            ..csv.install.clone()
        };
        let minor = rules.olm.minor();
        let settings = rules.installs.iter();
        let found = settings.map(|settings| support::check(&facts, *settings, minor).err());
        let found: Vec<_> = found.collect();
        let first = found.iter().flatten().next().copied();
        match first {
            Some(first) if found.iter().any(Option::is_none) => self.need_for(first.check()),
            Some(first) if !self.obstacles.iter().any(|it| it.is_by(Token::Preflight)) => {
                self.obstacles.push(Obstacle::Unsupported(first));
            }
            Some(_) | None => {}
        }
        if facts.has_webhooks == Some(true) && self.obstacles.is_empty() {
            self.need(MoveNeed::Certificates);
        }
    }

    /// Evaluates other objects in the cluster.
    fn look_around(&mut self, objects: &ClassicObjects, taken: &TakenNames<'_>) {
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

    /// Finds the upgrades that follow once the version is removed or changed.
    fn look_onward(&mut self, facts: &MigrationFacts<'a>) {
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

/// Maximum number of other Subscriptions in a finding. A sentence names fewer, so it shows that there are more.
const MOST_OTHERS: usize = 6;
