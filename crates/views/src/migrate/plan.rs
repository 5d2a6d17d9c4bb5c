//! Whether a `Subscription` can become a `ClusterExtension`: the evidence, without words.
//!
//! The engine judges the creation of the very object that the report prints, with the bundle pinned that OLM v0 has
//! installed. OLM v1 starts without an installed bundle and so without upgrade edges: a request for any version would
//! skip those between. The upgrades that follow are asked of the engine as well.

mod settle;

use std::collections::BTreeMap;

use crate::migrate::draft::ExtensionDraft;
use crate::migrate::objects::{Approval, ClassicCsv, ClassicObjects, ObjectKey, Subscription};
use crate::migrate::{FoundBundle, catalog};
use crate::see::BundleReport;
use olmguard_catalog::olm::{InstallGate, Rules};
use olmguard_catalog::{InstallModes, word_set};
use olmguard_engine::extension::{Extension, Shape};
use olmguard_engine::inquiry::Inquiry;
use olmguard_engine::judge::{Basis, Requester, StatedInstalled, Token, Verdict};
use olmguard_engine::resolve::{Choice, EditContext, InstallContext};
use olmguard_preflight::PreflightCheck;
use olmguard_preflight::support::{self, Supported, Unsupported};

/// The facts that Subscriptions are judged by.
#[derive(Clone, Copy, Debug)]
pub struct MigrationFacts<'a> {
    /// The catalogs and the policies.
    pub basis: Basis<'a>,
    /// The user who creates the extensions, and when.
    pub requester: &'a Requester,
    /// The objects of OLM v0.
    pub objects: &'a ClassicObjects,
    /// The extensions that exist already.
    pub extensions: &'a [Extension],
}

/// The name of an extension by each package that one requests, and by each name that one has.
#[derive(Debug)]
pub(super) struct TakenNames<'a>(BTreeMap<&'a str, &'a str>);

/// What is known about one `Subscription`.
#[derive(Debug)]
pub(super) struct MovePlan<'a> {
    pub(super) subscription: &'a Subscription,
    pub(super) csv: Option<&'a ClassicCsv>,
    /// Who approves upgrades, with the other Subscriptions of the namespace.
    pub(super) approval: Approval,
    /// The bundle that OLM v0 has installed, in its catalog of OLM v1.
    pub(super) installed: Option<Choice<'a>>,
    /// The fields of the extension.
    pub(super) draft: ExtensionDraft<'a>,
    /// The bundles that OLM v1 installs after that: automatically, or those that edits can request.
    pub(super) upgrades: Vec<BundleReport>,
    /// Why it cannot move.
    pub(super) obstacles: Vec<Obstacle>,
    /// What else OLM v1 needs.
    pub(super) needs: Vec<MoveNeed>,
    /// What is different afterwards.
    pub(super) changes: Vec<MoveChange>,
}

word_set! {
    /// The verdict on a `Subscription`.
    pub enum MoveVerdict {
        /// It cannot become a `ClusterExtension`.
        Cannot => "cannot_move",
        /// A fact is missing.
        Undecided => "undecided",
        /// It can.
        Can => "can_move",
    }
}

/// Why a `Subscription` cannot move.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Obstacle {
    /// The creation of the extension is refused, or undecided.
    Refused { token: Token, reason: String },
    /// OLM v0 has reported nothing about it.
    NoStatus,
    /// No catalog has the installed bundle. Upgrade edges go from it to these bundles.
    NotInCatalog {
        bundle: String,
        successors: Vec<String>,
    },
    /// No version pins the installed bundle.
    NotPinned { bundle: String },
    /// Other Subscriptions request the package too; of very many the first ones.
    Several { others: Vec<ObjectKey> },
    /// An extension requests the package already, or has its name.
    ExtensionExists { name: String },
    /// The installed CSV is not known, and so neither are its CRDs and webhooks.
    CsvMissing(String),
    /// Its CSV shows that operator-controller does not install it.
    Unsupported(Unsupported),
    /// operator-controller adopts no CRDs.
    CrdsNotAdopted,
    /// The operator watches several namespaces.
    SeveralNamespaces(Vec<String>),
    /// It is not known which namespace the operator watches.
    NamespaceUnknown,
}

/// What OLM v1 needs beside the extension.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum MoveNeed {
    /// A feature gate of operator-controller that is on.
    Gate(InstallGate),
    /// An operator-controller that adopts the CRDs: with Boxcutter it does not.
    NoBoxcutter,
    /// A CRD that has `spec.config`.
    ConfigField,
    /// A provider of certificates for webhooks.
    Certificates,
    /// A service account with the permissions to install the bundle.
    ServiceAccount(String),
}

/// What is different after the move, or has to be looked at before.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum MoveChange {
    /// No catalog of OLM v1 is known to be the `CatalogSource`.
    CatalogNotMatched,
    /// The operator watches all namespaces instead of these.
    WatchesAll(Vec<String>),
    /// It is assumed that the operator watches all namespaces.
    ScopeAssumed,
    /// These settings of `spec.config` have no place in OLM v1.
    SettingsLost(Vec<String>),
    /// The approval was manual, and no version is pinned.
    NoApproval,
    /// No upgrade edge leads from the installed version; so many newer versions exist.
    NoUpgradePath { newer: usize },
    /// OLM v0 has created the Subscription as a dependency.
    Dependency,
    /// Another Subscription of the namespace makes approvals manual.
    ManualNamespace,
    /// An upgrade is not finished.
    UpgradePending,
    /// The installed CSV is in this phase.
    CsvPhase(String),
}

impl<'a> MovePlan<'a> {
    /// Judges one Subscription.
    pub(super) fn of(
        facts: &MigrationFacts<'a>,
        taken: &TakenNames<'_>,
        subscription: &'a Subscription,
    ) -> Self {
        let rules = facts.basis.snapshot.rules();
        let catalog = catalog(facts.basis.snapshot, facts.objects, &subscription.source);
        let draft = ExtensionDraft::new(subscription, catalog, rules);
        let found = FoundBundle::of(facts.basis.snapshot, &draft);
        let mut plan = Self {
            subscription,
            csv: csv(facts.objects, subscription),
            approval: facts.objects.approval(&subscription.key.namespace),
            installed: found.choice(),
            draft,
            upgrades: Vec::new(),
            obstacles: Vec::from_iter(Obstacle::of(found)),
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

    /// The worst of its obstacles.
    pub(super) fn verdict(&self) -> MoveVerdict {
        let obstacles = self.obstacles.iter().map(Obstacle::verdict);
        obstacles.min().unwrap_or(MoveVerdict::Can)
    }

    /// The name of the installed bundle, as OLM v0 has it.
    pub(super) fn installed_name(&self) -> Option<&'a str> {
        installed_name(self.subscription)
    }

    /// Whether OLM v1 installs another version automatically once the pin is removed.
    pub(super) fn is_pinned_for_now(&self) -> bool {
        self.draft.version.is_some() && self.approval == Approval::Automatic
    }

    /// The install modes by the catalog, otherwise by the CSV.
    fn modes(&self) -> Option<InstallModes> {
        let by_catalog = self.installed.as_ref();
        let by_catalog = by_catalog.and_then(|choice| choice.bundle().install.as_ref());
        let by_catalog = by_catalog.map(|facts| facts.modes);
        by_catalog.or_else(|| self.csv.map(|csv| csv.supported.modes))
    }

    fn need(&mut self, need: MoveNeed) {
        if !self.needs.contains(&need) {
            self.needs.push(need);
        }
    }

    /// What is needed if this check fails for some settings of operator-controller only.
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

fn installed_name(subscription: &Subscription) -> Option<&str> {
    let status = subscription.status.as_ref()?;
    status.installed_csv.as_deref()
}

fn csv<'a>(objects: &'a ClassicObjects, subscription: &Subscription) -> Option<&'a ClassicCsv> {
    let name = installed_name(subscription)?;
    objects.csv(&subscription.key.sibling(name))
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

    /// The extension that requests this package, or has this name.
    fn by(&self, package: &str) -> Option<&'a str> {
        self.0.get(package).copied()
    }
}

impl Obstacle {
    /// Why the Subscription cannot move, if the catalogs show it.
    fn of(found: FoundBundle<'_>) -> Option<Self> {
        match found {
            FoundBundle::Nothing | FoundBundle::Bundle(_) => None,
            FoundBundle::NoStatus => Some(Self::NoStatus),
            FoundBundle::NotInCatalog { bundle, successors } => {
                Some(Self::NotInCatalog { bundle, successors })
            }
        }
    }

    /// What it makes of the Subscription.
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

// === What the rest of the cluster shows about a move: the CSV, other objects, and the upgrades that follow ===

impl<'a> MovePlan<'a> {
    /// What only the CSV shows: its phase, CRDs, webhooks, and all of it if the catalog does not have it.
    fn compare_csv(&mut self, rules: &Rules) {
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

    /// Whether upgrades follow, once the pin is removed or raised.
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

/// The most other Subscriptions that a finding names: more than a sentence shows, so that it says that there are more.
const MOST_OTHERS: usize = 6;
