//! What is worth knowing of an edit whatever becomes of it.

mod newest;
mod outdated;

use std::collections::BTreeSet;

use crate::extension::{Filter, Hint, Installed, Rollout};
use crate::judge::{
    AllowedChange, Basis, Edit, Exemption, Jump, RuledEdit, Ruling, UnjudgedSteps, Verdict, rule,
};
use crate::nearest::nearest;
use crate::resolve::{Choice, PolicyFinding, Violation};
use crate::snapshot::{CatalogState, Snapshot};
use olmguard_catalog::version::{Constraint, Version};
use olmguard_catalog::{Deprecation, Package};
use olmguard_policy::Conditions;

/// One thing worth knowing, with what it needs to be worded.
#[derive(Debug)]
pub enum Warning<'s> {
    /// The edit turns the bypass off and passes, and OLM refuses it, by this row.
    StricterDoesNotResolve(Box<RuledEdit<'s>>),
    /// A bypass is in force, and what it jumps.
    Bypass {
        /// The jump, if the edit makes one.
        jump: Option<Jump>,
    },
    /// These catalogs were judged on what is held of them, and have newer content by now.
    CatalogsSuperseded(Vec<&'s CatalogState>),
    /// These catalogs were judged on what is held of them; that it is current was known too long ago.
    CatalogsOld(Vec<&'s CatalogState>),
    /// The bundle resolved to is deprecated.
    BundleDeprecated(Choice<'s>),
    /// The package is deprecated in the catalog resolved to.
    PackageDeprecated {
        /// The author's message, perhaps empty.
        message: &'s str,
    },
    /// A channel named in the spec is deprecated in the catalog resolved to.
    ChannelDeprecated {
        /// The channel.
        channel: &'s str,
        /// The author's message, perhaps empty.
        message: &'s str,
    },
    /// The newest version of the range is not what the edit installs.
    NewestNotDirect {
        /// The newest that is not deprecated.
        newest: Choice<'s>,
        /// What the edit installs first.
        resolved: Choice<'s>,
        /// Where OLM goes from there.
        then: Continuation<'s>,
    },
    /// The range is one version with build metadata, and another build of it is installed.
    OtherBuild(Choice<'s>),
    /// The old range had an upper bound, the new one has none.
    UpperBoundRemoved,
    /// A requested channel does not exist beside one that does.
    ChannelMissing {
        /// The channel.
        channel: String,
        /// The existing one with the likest name.
        nearest: Option<&'s str>,
    },
    /// The bundle resolves, but cannot be installed for all namespaces.
    NotForAllNamespaces(Choice<'s>),
    /// An upgrade is still rolling out; OLM carries out edits of the spec only after it.
    RollingOut,
    /// The name of the installed bundle is not known, and every name gives the same answer.
    InstalledNameUnknown,
    /// This name of the installed bundle was not given.
    InstalledNameInferred(String),
    /// The bypass lifts this reason why a step that OLM takes is forbidden.
    GuardrailLifted {
        /// The version that the step starts from.
        from: Version,
        /// Where it leads.
        to: Choice<'s>,
        /// The reason.
        violation: Violation<'s>,
    },
    /// The edit violates a rule of an upgrade policy that only warns.
    Policy(PolicyFinding<'s>),
    /// Guardrails were not put to every step that OLM would take.
    GuardrailsNotApplied(UnjudgedSteps),
    /// Upgrade policies were put to so many of the steps that OLM would take, and not to all.
    PoliciesNotApplied(usize),
    /// The catalogs' guardrails of the package are of versions that are not known here: of these
    /// schemas, one or more, in byte order.
    GuardrailsUnknown(Vec<&'s str>),
    /// A field or word that another shape has.
    Hint(Hint),
}

/// Where OLM goes by itself after what an edit installs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Continuation<'s> {
    /// To the newest version of the range.
    Newest,
    /// To this one, and no further.
    Stops(Choice<'s>),
    /// There are more steps than are looked at.
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
    warnings.extend(of_policies(ruled));
    if verdict != Verdict::Deny {
        warnings.extend(of_bypass(edit, &ruled.ruling));
        warnings.extend(of_rules_not_applied(ruled));
        warnings.extend(of_lifted(ruled));
    }
    warnings.extend(of_unknown_guardrails(ruled));
    warnings.extend(outdated::outdated(basis.snapshot, ruled));
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
    unresolved.into_iter().chain(of_step).collect()
}

fn does_not_resolve<'s>(basis: Basis<'s>, edit: &Edit<'_>) -> Option<Warning<'s>> {
    let request = edit.request()?;
    let ruled = rule(basis, &request.with_conditions(Conditions::Skipped));
    let denied = ruled.ruling.token().verdict() == Verdict::Deny;
    let does_not = denied && ruled.resolved().is_none();
    does_not.then(|| Warning::StricterDoesNotResolve(Box::new(ruled)))
}

fn of_policies<'s>(ruled: &RuledEdit<'s>) -> impl Iterator<Item = Warning<'s>> {
    ruled.policy_warnings.iter().cloned().map(Warning::Policy)
}

fn of_rules_not_applied<'s>(ruled: &RuledEdit<'s>) -> impl Iterator<Item = Warning<'s>> {
    let guardrails = ruled.unjudged.map(Warning::GuardrailsNotApplied);
    let policies = ruled.unpoliced.map(Warning::PoliciesNotApplied);
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

/// Every rule that the bypass lifts.
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

/// What the catalogs have of other versions, each once.
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
    if bundle.all_namespaces == Some(false) {
        warnings.push(Warning::NotForAllNamespaces(choice));
    }
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
    warnings.extend(newest::not_direct(basis, edit, ruled, choice));
    warnings
}

/// Whether the edit pins a version with build metadata that the bundle does not have: OLM does not compare it.
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

/// What an edit that is let through brings with it.
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

/// How many channels that do not exist are named: an answer has room for no more.
const MOST_MISSING: usize = 5;
