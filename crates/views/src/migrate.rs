//! The report of `olmguard migrate`: whether each `Subscription` of OLM v0 would work as a `ClusterExtension` of
//! OLM v1, what else that needs, and the steps of the move.
//!
//! ```text
//! objects of OLM v0, catalogs, policies --plan--> MovePlan: engine's judgement on the extension that is drafted
//!                                                   |--words--> sentences
//!                                                   '--steps--> commands, in their order
//! ```

mod draft;
mod objects;
mod plan;
mod steps;
#[cfg(test)]
mod tests;
mod text;
mod words;

use serde::Serialize;
use serde_json::Value;

use crate::migrate::draft::ExtensionDraft;
use crate::migrate::objects::Approval;
use crate::migrate::plan::{MovePlan, TakenNames};
use crate::migrate::steps::MoveStep;
use crate::migrate::words::Obstacle;
use crate::see::BundleReport;
use olmguard_catalog::EdgeStart;
use olmguard_catalog::olm::OlmRelease;
use olmguard_catalog::version::go;
use olmguard_engine::explain::reason;
use olmguard_engine::extension::schema::{self, SchemaRelease};
use olmguard_engine::extension::{Extension, Installed, Shape};
use olmguard_engine::judge::{Edit, Judgement, Token, Verdict, judge};
use olmguard_engine::resolve::{Choice, Offer};
use olmguard_engine::snapshot::{CatalogState, Snapshot};
use olmguard_preflight::PreflightCheck;

pub use objects::{ClassicError, ClassicKind, ClassicObjects, ObjectKey};
pub use plan::{MigrationFacts, MoveVerdict};

/// Whether Subscriptions of OLM v0 can move to OLM v1.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "olmguard.migrate/v1")]
pub struct MigrationReport {
    /// Schema of this object.
    schema: &'static str,
    /// Release of OLM v1 to which they move.
    olm: &'static str,
    /// Subscriptions, those that cannot move first.
    subscriptions: Vec<SubscriptionReport>,
    #[serde(skip)]
    release: OlmRelease,
}

/// Whether one Subscription can move.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct SubscriptionReport {
    /// Namespace of the Subscription, into which OLM v1 also installs.
    namespace: String,
    /// Name of the Subscription.
    name: String,
    /// Name of the package.
    package: String,
    /// Requested channel. Null for any.
    channel: Option<String>,
    /// Approval of upgrades in the namespace.
    #[schemars(extend("enum" = Approval::ALL.map(Approval::as_str)))]
    approval: &'static str,
    /// Namespace and name of the catalog source.
    source: String,
    /// ClusterCatalog that is assumed to be the catalog source. Null if none is.
    catalog: Option<String>,
    /// Name of the installed bundle. Null if nothing is installed, or it is not known what.
    installed: Option<String>,
    /// The installed bundle in its catalog. Null if no catalog has it.
    bundle: Option<BundleReport>,
    /// Whether the Subscription can move.
    #[schemars(extend("enum" = VERDICTS))]
    verdict: &'static str,
    /// Why it cannot.
    obstacles: Vec<MoveFinding>,
    /// What OLM v1 needs in addition.
    needs: Vec<MoveFinding>,
    /// What is different afterwards, or to look at before.
    changes: Vec<MoveFinding>,
    /// Bundles to which OLM v1 upgrades afterwards: automatically, or by an edit each if the approval is manual.
    upgrades: Vec<BundleReport>,
    /// The ClusterExtension. Null if the Subscription cannot move.
    extension: Option<Value>,
    /// The steps of the move. Empty if the Subscription cannot move.
    steps: Vec<MoveStep>,
    #[serde(skip)]
    judged: MoveVerdict,
    /// Whether the extension has a version.
    #[serde(skip)]
    is_pinned: bool,
    /// Whether upgrades are automatic once the version is removed.
    #[serde(skip)]
    is_pinned_for_now: bool,
}

/// One thing to know about a move.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(super) struct MoveFinding {
    /// Its id; of an edit that olmguard denies the reason code.
    id: &'static str,
    /// The finding in a sentence.
    text: String,
}

/// A `ClusterExtension` that is ready to apply.
#[derive(Clone, Debug)]
pub struct MovedExtension<'a> {
    /// Lines of the comment above the object.
    pub comment: Vec<String>,
    /// The object itself.
    pub object: &'a Value,
}

impl MigrationReport {
    /// Reports all Subscriptions.
    pub fn of(facts: &MigrationFacts<'_>) -> Self {
        let subscriptions = facts.objects.subscriptions();
        let taken = TakenNames::of(facts.extensions);
        let plans = subscriptions.map(|subscription| MovePlan::of(facts, &taken, subscription));
        let mut subscriptions: Vec<_> = plans.map(|plan| SubscriptionReport::of(&plan)).collect();
        subscriptions.sort_by_key(|one| one.judged);
        let release = facts.basis.snapshot.rules().olm;
        Self {
            schema: SCHEMA,
            olm: release.name(),
            subscriptions,
            release,
        }
    }

    /// Counts the Subscriptions with this verdict.
    pub fn count(&self, verdict: MoveVerdict) -> usize {
        let all = self.subscriptions.iter();
        all.filter(|one| one.judged == verdict).count()
    }

    /// Returns the extensions of the Subscriptions that can move.
    pub fn extensions(&self) -> impl Iterator<Item = MovedExtension<'_>> {
        self.subscriptions.iter().filter_map(|one| {
            let object = one.extension.as_ref()?;
            let comment = one.comment();
            Some(MovedExtension { comment, object })
        })
    }

    /// Returns a line for each Subscription that cannot move, with the reason.
    pub fn refusals(&self) -> impl Iterator<Item = String> {
        let all = self.subscriptions.iter();
        let refused = all.filter(|one| one.judged != MoveVerdict::Can);
        refused.map(|one| {
            let why = one.obstacles.first().map_or("", |first| &first.text);
            format!("{}: {}: {why}", one.key(), words::verdict(one.judged))
        })
    }
}

impl SubscriptionReport {
    fn of(plan: &MovePlan<'_>) -> Self {
        let subscription = plan.subscription;
        let verdict = plan.verdict();
        let can = verdict == MoveVerdict::Can;
        let obstacles = plan.obstacles.iter();
        let obstacles = obstacles.map(|it| MoveFinding::new(it.id(), it));
        let needs = plan.needs.iter();
        let needs = needs.map(|it| MoveFinding::new(it.id(), it));
        let changes = plan.changes.iter();
        let changes = changes.map(|it| MoveFinding::new(it.id(), it));
        Self {
            namespace: subscription.key.namespace.clone(),
            name: subscription.key.name.clone(),
            package: subscription.package.clone(),
            channel: subscription.channel.clone(),
            approval: plan.approval.as_str(),
            source: format!(
                "{}/{}",
                subscription.source.namespace, subscription.source.name
            ),
            catalog: plan.draft.catalog.map(str::to_owned),
            installed: subscription.installed_name().map(str::to_owned),
            bundle: plan.installed.map(BundleReport::of),
            verdict: verdict.as_str(),
            obstacles: obstacles.collect(),
            needs: needs.collect(),
            changes: changes.collect(),
            upgrades: plan.upgrades.clone(),
            extension: can.then(|| plan.draft.object()),
            steps: if can { steps::steps(plan) } else { Vec::new() },
            judged: verdict,
            is_pinned: plan.draft.version.is_some(),
            is_pinned_for_now: plan.is_pinned_for_now(),
        }
    }
}

impl MoveFinding {
    fn new(id: &'static str, sentence: &impl ToString) -> Self {
        Self {
            id,
            text: go::one_line(&sentence.to_string()),
        }
    }
}

const SCHEMA: &str = "olmguard.migrate/v1";

const VERDICTS: [&str; 3] = ["can_move", "cannot_move", "undecided"];

// === An attempt to create an extension, evaluated by the engine ===

/// The result of an attempt to create an extension.
struct Attempt<'a> {
    draft: ExtensionDraft<'a>,
    /// Reason why the creation is not allowed.
    refusal: Option<Obstacle>,
    /// Checks that fail for some settings of operator-controller.
    doubts: Vec<PreflightCheck>,
    resolved: Option<Choice<'a>>,
}

impl<'a> Attempt<'a> {
    fn new(facts: &MigrationFacts<'a>, draft: ExtensionDraft<'a>) -> Self {
        let object = draft.object();
        let extension = Extension::read(Shape::V1, &object);
        let edit = Edit {
            new: &extension,
            old: None,
            installed: &Installed::Nothing,
            schema: &schema::check(Shape::V1, SchemaRelease::v1(draft.minor), &object),
            requester: facts.requester,
        };
        let judgement = judge(facts.basis, &edit);
        let doubts = judgement.ruled.preflight.as_ref();
        Self {
            doubts: doubts.map_or_else(Vec::new, |doubts| doubts.faults.checks()),
            resolved: judgement.ruled.resolved(),
            refusal: refusal(&edit, &judgement),
            draft,
        }
    }

    /// Tries these drafts. Returns the first that operator-controller installs, otherwise the first one.
    fn best(facts: &MigrationFacts<'a>, drafts: Vec<ExtensionDraft<'a>>) -> Option<Self> {
        let mut attempts = drafts.into_iter().map(|draft| Self::new(facts, draft));
        let first = attempts.next()?;
        if first.is_installable() {
            return Some(first);
        }
        Some(attempts.find(Self::is_installable).unwrap_or(first))
    }

    /// Whether operator-controller installs the resolved bundle, as far as is known.
    fn is_installable(&self) -> bool {
        let mut refusal = self.refusal.iter();
        !refusal.any(|refusal| refusal.is_by(Token::Preflight))
    }

    /// Whether the attempt installs this bundle.
    fn gives(&self, bundle: Choice<'_>) -> bool {
        let resolved = self.resolved.filter(|_| self.refusal.is_none());
        // Two catalogs can have the same bundle.
        resolved.is_some_and(|resolved| resolved.bundle().name == bundle.bundle().name)
    }
}

fn refusal(edit: &Edit<'_>, judgement: &Judgement<'_>) -> Option<Obstacle> {
    if judgement.verdict() == Verdict::Allow {
        return None;
    }
    Some(Obstacle::Refused {
        token: judgement.token(),
        reason: reason(edit, judgement).unwrap_or_default(),
    })
}

// === The bundle that OLM v0 has installed, in the catalogs of OLM v1 ===

/// Returns the bundle that OLM v0 has installed. `None` if nothing is installed, or there is no offer to look in.
fn installed<'a>(
    snapshot: &'a Snapshot,
    draft: &ExtensionDraft<'_>,
) -> Result<Option<Choice<'a>>, Obstacle> {
    let Some(status) = &draft.subscription.status else {
        return Err(Obstacle::NoStatus);
    };
    let Some(name) = &status.installed_csv else {
        return Ok(None);
    };
    let filter = draft.filter().unwrap_or_default();
    let offers = Offer::of_package(snapshot, &filter);
    let found = named(&offers, name);
    // The result of the attempt explains why there is no offer.
    if found.is_some() || offers.is_empty() {
        return Ok(found);
    }
    Err(Obstacle::NotInCatalog {
        bundle: name.clone(),
        successors: successors(&offers, name),
    })
}

fn named<'s>(offers: &[Offer<'s>], name: &str) -> Option<Choice<'s>> {
    let mut found = offers.iter();
    found.find_map(|offer| Some(offer.choice(offer.find(name)?)))
}

/// Returns the bundles that replace or skip a bundle that no catalog has, each once, in byte order.
fn successors(offers: &[Offer<'_>], name: &str) -> Vec<String> {
    let edges = offers.iter().flat_map(Offer::edges);
    let edges = edges.filter(|edge| matches!(edge.from, EdgeStart::Name(from, _) if from == name));
    let mut names: Vec<_> = edges
        .map(|edge| edge.to.bundle().name.to_string())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the catalog that corresponds to the `CatalogSource`: the only one with its image, otherwise the one with its
/// name, or with the name that a distribution gives it.
fn catalog<'a>(
    snapshot: &'a Snapshot,
    objects: &ClassicObjects,
    source: &ObjectKey,
) -> Option<&'a str> {
    let image = objects.source_image(source).map(repository);
    let has_image = |state: &&CatalogState| {
        let own = state.image_ref.as_deref().map(repository);
        own.is_some() && own == image
    };
    let mut of_image = snapshot.catalogs().iter().filter(has_image);
    if let (Some(only), None) = (of_image.next(), of_image.next()) {
        return Some(&only.name);
    }
    let named = |name: &str| snapshot.catalog(name);
    let openshift = format!("openshift-{}", source.name);
    let short = source.name.strip_suffix("-catalog");
    let found = named(&source.name).or_else(|| named(&openshift));
    let found = found.or_else(|| named(short?));
    found.map(|state| &*state.name)
}

/// Removes the tag and the digest from an image reference.
fn repository(image: &str) -> &str {
    let image = image.split('@').next().unwrap_or_default();
    match image.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => name,
        _ => image,
    }
}
