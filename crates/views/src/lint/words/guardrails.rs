//! About the guardrails of authors.

use std::num::NonZeroU32;

use super::{Words, names, q, range};
use olmguard_catalog::guardrail::{Rule, RuleKind, UnreadGuardrails};
use olmguard_catalog::version::{Version, go};

pub(in crate::lint) fn guardrail_unreadable(package: &str, unread: &UnreadGuardrails) -> Words {
    Words::own(format!(
        "the guardrails of package {} are invalid, so olmguard denies every upgrade of it: {}",
        q(package),
        go::one_line(&unread.to_string())
    ))
}

pub(in crate::lint) fn guardrail_of_unknown_package(package: &str, near: Option<&str>) -> Words {
    let advice = match near {
        Some(near) => format!("did you mean {}?", q(near)),
        None => "expected the name of an olm.package of the catalog".to_owned(),
    };
    Words::own(match package {
        "" => "guardrails name no package, so they have no effect: expected the name of an olm.package of the \
               catalog in \"package\""
            .to_owned(),
        package => format!(
            "guardrails are for package {}, which is not defined; {advice}",
            q(package)
        ),
    })
}

pub(in crate::lint) fn guardrail_other_version(found: &str, known: &str) -> Words {
    Words::own(format!(
        "guardrails of schema {} are ignored, because this olmguard does not know the schema: expected {}",
        q(found),
        q(known)
    ))
}

pub(in crate::lint) fn guardrail_unservable(key: &str, text: &str) -> Words {
    Words::own(format!(
        "the {key} {} of guardrails is not valid for opm from 1.69 on, which then does not serve the whole \
         catalog: expected letters, digits, dots, underscores and hyphens, with a letter or a digit first",
        q(text)
    ))
}

pub(in crate::lint) fn guardrail_misfiled(name: &str) -> Words {
    Words::own(format!(
        "guardrails with the name {} are stored in the wrong place, because OLM v1 uses the name as a file \
         name: expected no name, or a name without \"/\" and \"..\"",
        q(name)
    ))
}

pub(in crate::lint) fn guardrail_bypassable(rule: &str) -> Words {
    Words::own(format!(
        "rule {} has the key \"bypassable\", which has no effect: the override always lifts rules of \
         authors; remove the key",
        q(rule)
    ))
}

pub(in crate::lint) fn guardrail_step_not_available(rule: &str, via: &str, package: &str) -> Words {
    Words::own(format!(
        "rule {} requires a version in {}, but package {} has no such bundle, so users cannot upgrade past \
         it; publish one, or fix the range",
        q(rule),
        range(via),
        q(package)
    ))
}

pub(in crate::lint) fn guardrail_step_deprecated(rule: &str, via: &str, bundles: &[&str]) -> Words {
    Words::own(format!(
        "rule {} requires a version in {}, but all bundles in this range are deprecated: {}",
        q(rule),
        range(via),
        names(bundles.iter().copied())
    ))
}

pub(in crate::lint) fn guardrail_open_above(rule: &Rule, via: &str) -> Words {
    Words::own(format!(
        "rule {} can never forbid anything: {} has no upper bound, so no version is higher; add a bound, as \
         in \">=1.3.0 <1.4.0-0\", or {}",
        q(&rule.id),
        range(via),
        write_key(&rule.kind, "to")
    ))
}

pub(in crate::lint) fn guardrail_open_below(rule: &Rule, via: &str) -> Words {
    Words::own(format!(
        "rule {} can never forbid anything: {} has no lower bound, so no version is lower; add a bound, as \
         in \">=1.3.0 <1.4.0-0\", or {}",
        q(&rule.id),
        range(via),
        write_key(&rule.kind, "from")
    ))
}

/// The advice to add a key that only a rule of kind `PassThrough` can have.
fn write_key(kind: &RuleKind, key: &str) -> String {
    match kind {
        RuleKind::Waypoints(_) => format!("use a rule of kind PassThrough with {key:?}"),
        _ => format!("add {key:?}"),
    }
}

pub(in crate::lint) fn guardrail_never_applies(rule: &str, range: &str) -> Words {
    Words::own(format!(
        "rule {} with {} can never forbid anything: no two versions match its ranges; fix the ranges",
        q(rule),
        super::range(range)
    ))
}

pub(in crate::lint) fn guardrail_applies_to_none(rule: &str, range: &str, package: &str) -> Words {
    Words::own(format!(
        "rule {} with {} forbids no step between the versions of package {}: correct if the rule is for \
         future versions",
        q(rule),
        super::range(range),
        q(package)
    ))
}

pub(in crate::lint) fn guardrail_step_of_none(
    rule: &str,
    step: NonZeroU32,
    package: &str,
) -> Words {
    Words::own(format!(
        "rule {} with step {step} forbids no step between the versions of package {}: correct if the rule is \
         for future versions",
        q(rule),
        q(package)
    ))
}

pub(in crate::lint) fn guardrail_allows_in_vain(rule: &str, denying: &str) -> Words {
    Words::own(format!(
        "rule {} has no effect, because rule {} forbids every step from a release to a prerelease; remove \
         one of them",
        q(rule),
        q(denying)
    ))
}

pub(in crate::lint) fn guardrail_allows_anyway(rule: &str) -> Words {
    Words::own(format!(
        "rule {} has no effect, because graph Catalog already allows every edge to a prerelease; remove the \
         rule, or write action: Deny to forbid such edges",
        q(rule)
    ))
}

pub(in crate::lint) fn guardrail_takes_prerelease(
    rule: &str,
    via: &str,
    prerelease: &Version,
) -> Words {
    let release = format!(
        "{}.{}.{}",
        prerelease.major(),
        prerelease.minor(),
        prerelease.patch()
    );
    Words::own(format!(
        "rule {} accepts {} as a version in {}, because a prerelease is lower than its release; end the \
         range with <{release}-0",
        q(rule),
        go::escape(&prerelease.to_string()),
        range(via)
    ))
}
