//! Facts that a user should know about an edit, whatever its verdict is.

mod install;

use std::collections::BTreeSet;

use install::of_install;

use crate::extension::{Filter, Hint, Installed, Rollout};
use crate::judge::question::{FilterQuestion, ReadInstalled};
use crate::judge::rule::rule;
use crate::judge::walk::StepsAhead;
use crate::judge::{
    AllowedChange, Basis, Edit, Exemption, Jump, PreflightRefusal, RuledEdit, Ruling,
    UnjudgedSteps, Verdict,
};
use crate::nearest::nearest;
use crate::resolve::{Choice, Origin, PolicyFinding, Violation};
use crate::snapshot::{Age, CatalogState, Currency, Snapshot};
use olmguard_catalog::version::{Constraint, Version};
use olmguard_catalog::{Bundle, BundleIndex, Deprecation, Package};
use olmguard_policy::Conditions;
use olmguard_preflight::bundle::BundledKind;
use olmguard_preflight::content::NeededObject;

pub use install::{OldKubernetes, ShortWebhookNames};

/// A warning, with the evidence for its text.
#[derive(Debug)]
pub enum Warning<'s> {
    /// The edit only turns the bypass off and is allowed, but by this row OLM refuses it or may refuse it.
    StricterDoesNotResolve(Box<RuledEdit<'s>>),
    /// A bypass is set, with the jump that it allows.
    Bypass {
        /// The jump, if the edit makes one.
        jump: Option<Jump>,
    },
    /// The answer rests on the loaded content of these catalogs, which have newer content.
    CatalogsSuperseded(Vec<&'s CatalogState>),
    /// The answer rests on the loaded content of these catalogs, which was last confirmed current too long ago.
    CatalogsOld(Vec<&'s CatalogState>),
    /// The resolved bundle is deprecated.
    BundleDeprecated(Choice<'s>),
    /// The package is deprecated in the catalog of the resolved bundle.
    PackageDeprecated {
        /// The author's message, perhaps empty.
        message: &'s str,
    },
    /// A requested channel is deprecated in the catalog of the resolved bundle.
    ChannelDeprecated {
        /// The channel.
        channel: &'s str,
        /// The author's message, perhaps empty.
        message: &'s str,
    },
    /// The newest version of the range is not what the edit installs.
    NewestNotDirect {
        /// The newest bundle that is not deprecated.
        newest: Choice<'s>,
        /// The bundle that the edit installs first.
        resolved: Choice<'s>,
        /// The automatic upgrades after that bundle.
        then: Continuation<'s>,
    },
    /// The range is one version with build metadata, and the edit installs another build of it.
    OtherBuild(Choice<'s>),
    /// Another bundle has the same version and release as the resolved one, and the choice of OLM between them is not
    /// defined.
    Tie {
        /// The bundle that OLM nearly always chooses: the first by name.
        resolved: Choice<'s>,
        /// The next bundle by name.
        other: &'s Bundle,
    },
    /// The old range had an upper bound; the new one has none.
    UpperBoundRemoved,
    /// A requested channel does not exist, while another requested one does.
    ChannelMissing {
        /// The channel.
        channel: String,
        /// The existing channel with the most similar name.
        nearest: Option<&'s str>,
    },
    /// The bundle resolves, but operator-controller cannot install it, or possibly cannot.
    Preflight(PreflightRefusal<'s>),
    /// The image of this bundle is not read yet, so its manifests and CRDs are not checked.
    ImageUnread(Choice<'s>),
    /// The installation needs this object, which does not exist and which OLM does not create.
    NeededMissing(&'s NeededObject),
    /// The bundle declares that it needs these kinds, at least one, and the cluster does not serve them. OLM ignores
    /// such declarations.
    KindsNeeded {
        /// The bundle.
        bundle: Choice<'s>,
        /// The kinds.
        kinds: Vec<BundledKind>,
    },
    /// The bundle declares that it needs a newer Kubernetes than the cluster has. OLM ignores such declarations.
    KubernetesTooOld(OldKubernetes<'s>),
    /// The API server refuses webhooks of the bundle because of their names.
    WebhookNamesShort(ShortWebhookNames<'s>),
    /// An upgrade is still rolling out. OLM applies edits of the spec only after it.
    RollingOut,
    /// The name of the installed bundle is unknown, but every name gives the same answer.
    InstalledNameUnknown,
    /// The name of the installed bundle was inferred, not given.
    InstalledNameInferred(String),
    /// The bypass lifts a guardrail that would otherwise forbid a step of OLM.
    GuardrailLifted {
        /// The version that the step starts from.
        from: Version,
        /// The bundle that the step installs.
        to: Choice<'s>,
        /// The reason.
        violation: Violation<'s>,
    },
    /// The edit violates a rule of an upgrade policy that only warns.
    Policy(PolicyFinding<'s>),
    /// Not every step that OLM would take was compared with guardrails.
    GuardrailsNotApplied(UnjudgedSteps),
    /// Only this number of the steps that OLM would take was compared with upgrade policies.
    PoliciesNotApplied(usize),
    /// The catalogs have guardrails for the package in schema versions that this program does not know: these schemas,
    /// at least one, in byte order.
    GuardrailsUnknown(Vec<&'s str>),
    /// A field or value that belongs to another shape.
    Hint(Hint),
}

/// The automatic upgrades of OLM after the bundle that an edit installs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Continuation<'s> {
    /// Up to the newest version of the range.
    Newest,
    /// Up to this bundle, and no further.
    Stops(Choice<'s>),
    /// Unknown: there are too many steps to check.
    Unknown,
}

/// The warnings for a ruling, the most important first.
pub(super) fn warnings<'s>(
    basis: Basis<'s>,
    edit: &Edit<'_>,
    ruled: &RuledEdit<'s>,
) -> Vec<Warning<'s>> {
    let mut warnings = match &ruled.ruling {
        Ruling::NotJudged(exemption) => return of_exemption(basis, edit, ruled, exemption),
        _ => Vec::new(),
    };
    let verdict = ruled.ruling.token().verdict();
    if verdict != Verdict::Deny {
        warnings.extend(of_bypass(edit, &ruled.ruling));
        warnings.extend(of_rules_not_applied(ruled));
        warnings.extend(of_lifted(ruled));
    }
    // JSON and the log also contain these, so they come last when there is no room for all.
    warnings.extend(of_policies(ruled));
    warnings.extend(of_unknown_guardrails(ruled));
    warnings.extend(outdated(basis.snapshot, ruled));
    if let Ruling::Allowed(_, choice) = ruled.ruling {
        warnings.extend(of_choice(basis, edit, ruled, choice));
    }
    if verdict != Verdict::Deny {
        warnings.extend(of_passing(basis.snapshot, edit));
    }
    warnings.extend(missing_channels(edit, ruled));
    warnings.extend(of_name(edit.installed, verdict));
    warnings.extend(edit.new.hints.iter().cloned().map(Warning::Hint));
    warnings
}

fn of_name<'s>(installed: &Installed, verdict: Verdict) -> Option<Warning<'s>> {
    match (installed, &installed.bundle()?.name) {
        (Installed::Inferred(_), Some(name)) => Some(Warning::InstalledNameInferred(name.clone())),
        (_, None) if verdict == Verdict::Allow => Some(Warning::InstalledNameUnknown),
        _ => None,
    }
}

fn of_exemption<'s>(
    basis: Basis<'s>,
    edit: &Edit<'_>,
    ruled: &RuledEdit<'s>,
    exemption: &Exemption,
) -> Vec<Warning<'s>> {
    let unresolved = match exemption {
        Exemption::Stricter => does_not_resolve(basis, edit),
        _ => None,
    };
    let of_step = of_policies(ruled).chain(of_rules_not_applied(ruled));
    let all = unresolved.into_iter().chain(of_step);
    all.chain(of_install(basis.snapshot, edit, ruled)).collect()
}

fn does_not_resolve<'s>(basis: Basis<'s>, edit: &Edit<'_>) -> Option<Warning<'s>> {
    let request = edit.request()?;
    let ruled = rule(basis, &request.with_conditions(Conditions::Skipped));
    let verdict = ruled.ruling.token().verdict();
    let is_not_allowed = matches!(verdict, Verdict::Deny | Verdict::Undecided);
    let does_not = is_not_allowed && ruled.resolved().is_none();
    does_not.then(|| Warning::StricterDoesNotResolve(Box::new(ruled)))
}

fn of_policies<'s>(ruled: &RuledEdit<'s>) -> impl Iterator<Item = Warning<'s>> {
    ruled.policy_warnings.iter().cloned().map(Warning::Policy)
}

fn of_rules_not_applied<'s>(ruled: &RuledEdit<'s>) -> impl Iterator<Item = Warning<'s>> {
    let guardrails = ruled
        .guardrails_not_applied
        .map(Warning::GuardrailsNotApplied);
    let policies = ruled.policies_not_applied.map(Warning::PoliciesNotApplied);
    guardrails.into_iter().chain(policies)
}

fn of_bypass<'s>(edit: &Edit<'_>, ruling: &Ruling<'_>) -> Option<Warning<'s>> {
    let jump = match ruling {
        Ruling::Allowed(AllowedChange::Bypassed(jump), _) => Some(*jump),
        _ => None,
    };
    let bypasses = edit.new.filter.as_ref().is_ok_and(Filter::bypasses);
    bypasses.then_some(Warning::Bypass { jump })
}

/// One warning for every violation that the bypass lifts.
fn of_lifted<'s>(ruled: &RuledEdit<'s>) -> impl Iterator<Item = Warning<'s>> {
    ruled.lifted.iter().flat_map(|forbidden| {
        let violations = forbidden.violations.iter();
        violations.map(|violation| Warning::GuardrailLifted {
            from: forbidden.from.clone(),
            to: forbidden.to,
            violation: *violation,
        })
    })
}

/// The guardrail schemas in the catalogs that this program does not know, each once.
fn of_unknown_guardrails<'s>(ruled: &RuledEdit<'s>) -> Option<Warning<'s>> {
    let packages = ruled.matched.iter().map(|matched| matched.package);
    let schemas: BTreeSet<&'s str> = packages
        .flat_map(|package| package.guardrails().of_other_versions())
        .collect();
    (!schemas.is_empty()).then(|| Warning::GuardrailsUnknown(schemas.into_iter().collect()))
}

fn of_choice<'s>(
    basis: Basis<'s>,
    edit: &Edit<'_>,
    ruled: &RuledEdit<'s>,
    choice: Choice<'s>,
) -> Vec<Warning<'s>> {
    let bundle = choice.bundle();
    let mut warnings = Vec::new();
    warnings.extend(of_install(basis.snapshot, edit, ruled));
    if bundle.deprecated.is_some() {
        warnings.push(Warning::BundleDeprecated(choice));
    }
    if let Deprecation::OfPackage(message) = choice.package.deprecation() {
        warnings.push(Warning::PackageDeprecated { message });
    }
    let asked = |name: &str| {
        edit.new
            .filter
            .as_ref()
            .is_ok_and(|filter| filter.channels.iter().any(|c| c == name))
    };
    let channels = choice
        .package
        .channels()
        .iter()
        .filter(|channel| asked(&channel.name));
    warnings.extend(channels.filter_map(|channel| {
        let message = channel.deprecated.as_deref()?;
        Some(Warning::ChannelDeprecated {
            channel: &channel.name,
            message,
        })
    }));
    warnings.extend(is_other_build(edit, choice).then_some(Warning::OtherBuild(choice)));
    warnings.extend(of_tie(ruled, choice));
    warnings.extend(not_direct(basis, edit, ruled, choice));
    warnings
}

/// Whether the edit pins a version with build metadata that the bundle does not have. OLM does not compare build
/// metadata.
fn is_other_build(edit: &Edit<'_>, choice: Choice<'_>) -> bool {
    let filter = edit.new.filter.as_ref().ok();
    let pinned = filter.and_then(Filter::range).map(|range| {
        let version = range.trim().trim_start_matches(['=', ' ']);
        Version::parse(version.strip_prefix('v').unwrap_or(version))
    });
    let (Some(Ok(pinned)), Ok(read)) = (pinned, &choice.bundle().version) else {
        return false;
    };
    let release = read.release.as_ref().map(ToString::to_string);
    let build = release.as_deref().unwrap_or(read.version.build());
    !pinned.build().is_empty() && pinned.build() != build
}

/// The warning about a tie. OLM reads the bundles of a package in an undefined order and keeps that order among equal
/// versions.
fn of_tie<'s>(ruled: &RuledEdit<'s>, resolved: Choice<'s>) -> Option<Warning<'s>> {
    let package = resolved.package;
    let there = ruled.matched.iter().find(|m| resolved.is_of(m.catalog))?;
    let mut same = package.same_version(resolved.version_release()?);
    same.intersect(&there.left);
    let is_deprecated = |index| package.is_deprecated(index);
    let is_tied = |index: &BundleIndex| {
        *index != resolved.index && is_deprecated(*index) == is_deprecated(resolved.index)
    };
    let other = package.bundle(same.iter().find(is_tied)?);
    Some(Warning::Tie { resolved, other })
}

/// Warnings about an edit that is not denied.
fn of_passing<'s>(snapshot: &Snapshot, edit: &Edit<'_>) -> impl Iterator<Item = Warning<'s>> {
    let is_rolling = edit.old.unwrap_or(edit.new).rollout == Rollout::RollingOut;
    let bound = loses_upper_bound(snapshot, edit).then_some(Warning::UpperBoundRemoved);
    bound
        .into_iter()
        .chain(is_rolling.then_some(Warning::RollingOut))
}

fn loses_upper_bound(snapshot: &Snapshot, edit: &Edit<'_>) -> bool {
    let masterminds = snapshot.rules().masterminds;
    let open =
        |range: &str| Constraint::parse(range, masterminds).map(|range| range.is_open_above());
    let Some((new, old)) = edit.new.filter.as_ref().ok().zip(edit.old_filter()) else {
        return false;
    };
    let was_bound = old.range().is_some_and(|range| open(range) == Ok(false));
    was_bound && new.range().is_none_or(|range| open(range) == Ok(true))
}

fn missing_channels<'s>(edit: &Edit<'_>, ruled: &RuledEdit<'s>) -> Vec<Warning<'s>> {
    let asked = edit
        .new
        .filter
        .as_ref()
        .map(|filter| filter.channels.as_slice())
        .unwrap_or_default();
    let packages = || ruled.matched.iter().map(|matched| matched.package);
    let exists = |name: &str| packages().any(|package| package.has_channel(name));
    if !asked.iter().any(|name| exists(name)) {
        return Vec::new();
    }
    let names = || {
        packages()
            .flat_map(Package::channels)
            .map(|channel| &*channel.name)
    };
    let missing: BTreeSet<&String> = asked.iter().filter(|name| !exists(name)).collect();
    missing
        .into_iter()
        .take(MOST_MISSING)
        .map(|name| Warning::ChannelMissing {
            channel: name.clone(),
            nearest: nearest(name, names(), 1).first().copied(),
        })
        .collect()
}

/// The most missing channels that are reported, because an admission response has no room for more.
const MOST_MISSING: usize = 5;

// === Catalogs whose loaded content is not, or may not be, the newest ===

/// One warning for all catalogs that are known to be superseded, and one for all others that are old.
///
/// Only catalogs that the answer depends on count: those that have the package or, if none has it, all selected ones,
/// because newer content of any of them may have it. A catalog in the verdict itself (rows 5, 5a and 5b) gets no
/// warning.
fn outdated<'s>(
    snapshot: &'s Snapshot,
    ruled: &RuledEdit<'s>,
) -> impl Iterator<Item = Warning<'s>> {
    let (superseded, others): (Vec<_>, Vec<_>) = asked(snapshot, ruled)
        .into_iter()
        .partition(|catalog| catalog.currency == Currency::Superseded);
    let is_old = |catalog: &&CatalogState| catalog.age != Age::Allowed;
    let old: Vec<_> = others.into_iter().filter(is_old).collect();
    let superseded = (!superseded.is_empty()).then_some(Warning::CatalogsSuperseded(superseded));
    let old = (!old.is_empty()).then_some(Warning::CatalogsOld(old));
    superseded.into_iter().chain(old)
}

/// The catalogs that the answer depends on, in byte order of their names.
fn asked<'s>(snapshot: &'s Snapshot, ruled: &RuledEdit<'s>) -> Vec<&'s CatalogState> {
    match &ruled.ruling {
        Ruling::PackageNotFound { searched, .. } => searched
            .iter()
            .filter_map(|name| snapshot.catalog(name))
            .collect(),
        _ => ruled
            .matched
            .iter()
            .map(|matched| matched.catalog)
            .collect(),
    }
}

// === The newest version of a range, if the edit first installs a lower one ===

/// The warning about a newest version that is not installed directly. Only the catalog of the resolved bundle is
/// searched, because priority decides between catalogs.
fn not_direct<'s>(
    basis: Basis<'s>,
    edit: &Edit<'_>,
    ruled: &RuledEdit<'s>,
    resolved: Choice<'s>,
) -> Option<Warning<'s>> {
    let newest = newest(ruled, resolved).filter(|newest| is_higher(*newest, resolved))?;
    Some(Warning::NewestNotDirect {
        newest,
        resolved,
        then: continuation(basis, edit, newest, resolved),
    })
}

/// The highest bundle of the range that is not deprecated.
fn newest<'s>(ruled: &RuledEdit<'s>, resolved: Choice<'s>) -> Option<Choice<'s>> {
    let there = ruled.matched.iter().find(|m| resolved.is_of(m.catalog))?;
    let package = there.package;
    let mut candidates = there.candidates.iter();
    let index = candidates.find(|index| !package.is_deprecated(*index))?;
    Some(Choice {
        catalog: there.catalog,
        package,
        index,
    })
}

fn is_higher(newest: Choice<'_>, resolved: Choice<'_>) -> bool {
    let both = newest.version().zip(resolved.version());
    both.is_some_and(|(high, low)| high.cmp_precedence(low).is_gt())
}

/// The automatic upgrades of OLM after the resolved bundle, as far as they are checked.
fn continuation<'s>(
    basis: Basis<'s>,
    edit: &Edit<'_>,
    newest: Choice<'s>,
    resolved: Choice<'s>,
) -> Continuation<'s> {
    let installed = Origin::of_choice(resolved, basis.snapshot.rules());
    let filter = edit.new.filter.as_ref().ok();
    let question = filter.and_then(|filter| FilterQuestion::of(basis, filter).ok());
    let Some((question, installed)) = question.zip(installed) else {
        return Continuation::Unknown;
    };
    let installed = ReadInstalled::Bundle(Ok(installed));
    let bundles = resolved.package.bundle_count().max(1);
    let most = MOST_BUNDLES / bundles;
    let mut last = resolved;
    let steps = StepsAhead::of(&question, &installed).installed_as(edit.install());
    for (looked_at, step) in steps.by_catalogs().choices().enumerate() {
        if looked_at == most {
            return Continuation::Unknown;
        }
        last = step;
    }
    if last == newest {
        Continuation::Newest
    } else {
        Continuation::Stops(last)
    }
}

/// The most bundles that are compared. Each step compares all bundles of a package while an edit waits for the answer.
/// The limit allows a walk through each of 360 bundles; the largest recorded package has 203.
const MOST_BUNDLES: usize = 1 << 17;
