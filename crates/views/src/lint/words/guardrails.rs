//! About what authors say of upgrade steps.

use std::num::NonZeroU32;

use super::load::escape_text;
use super::{Words, names, q, range};
use olmguard_catalog::guardrail::{Rule, RuleKind, UnreadGuardrails};
use olmguard_catalog::version::{Version, go};

pub(in crate::lint) fn guardrail_unreadable(package: &str, unread: &UnreadGuardrails) -> Words {
    Words::own(format!(
        "the guardrails of package {} cannot be read, so that olmguard refuses every upgrade of it: {}",
        q(package),
        escape_text(&unread.to_string())
    ))
}

pub(in crate::lint) fn guardrail_of_unknown_package(package: &str, near: Option<&str>) -> Words {
    let advice = match near {
        Some(near) => format!("did you mean {}?", q(near)),
        None => "expected the name of an olm.package of the catalog".to_owned(),
    };
    Words::own(match package {
        "" => "guardrails name no package, so that nothing is guarded by them: expected the name of an \
               olm.package of the catalog in \"package\""
            .to_owned(),
        package => format!(
            "guardrails are about package {}, which is not defined; {advice}",
            q(package)
        ),
    })
}

pub(in crate::lint) fn guardrail_other_version(found: &str, known: &str) -> Words {
    Words::own(format!(
        "guardrails of schema {} are not known to this olmguard and not applied: expected {}",
        q(found),
        q(known)
    ))
}

pub(in crate::lint) fn guardrail_unservable(key: &str, text: &str) -> Words {
    Words::own(format!(
        "the {key} {} of guardrails makes opm from 1.69 on refuse to serve the whole catalog: expected \
         letters, digits, dots, underscores and hyphens, a letter or a digit first",
        q(text)
    ))
}

pub(in crate::lint) fn guardrail_misfiled(name: &str) -> Words {
    Words::own(format!(
        "the name {} of guardrails leads elsewhere, since OLM v1 makes the name of a file of it: expected \
         none, or one without \"/\" and \"..\"",
        q(name)
    ))
}

pub(in crate::lint) fn guardrail_bypassable(rule: &str) -> Words {
    Words::own(format!(
        "rule {} says \"bypassable\", which has no effect: the bypass always lifts what an author says; \
         remove it",
        q(rule)
    ))
}

pub(in crate::lint) fn guardrail_step_not_available(rule: &str, via: &str, package: &str) -> Words {
    Words::own(format!(
        "rule {} wants {} on the way, and no bundle of package {} is in it: nobody gets past; publish one, \
         or mend the range",
        q(rule),
        range(via),
        q(package)
    ))
}

pub(in crate::lint) fn guardrail_step_deprecated(rule: &str, via: &str, bundles: &[&str]) -> Words {
    Words::own(format!(
        "rule {} wants {} on the way, and only deprecated bundles are in it: {}",
        q(rule),
        range(via),
        names(bundles.iter().copied())
    ))
}

pub(in crate::lint) fn guardrail_open_above(rule: &Rule, via: &str) -> Words {
    Words::own(format!(
        "rule {} can never forbid anything: {} has no upper end, so that no version lies behind it; end it, \
         as in \">=1.3.0 <1.4.0-0\", or {}",
        q(&rule.id),
        range(via),
        write_key(&rule.kind, "to")
    ))
}

pub(in crate::lint) fn guardrail_open_below(rule: &Rule, via: &str) -> Words {
    Words::own(format!(
        "rule {} can never forbid anything: {} has no lower end, so that no version lies before it; begin \
         it, as in \">=1.3.0 <1.4.0-0\", or {}",
        q(&rule.id),
        range(via),
        write_key(&rule.kind, "from")
    ))
}

/// The advice to write a key that a rule of kind `PassThrough` alone may have.
fn write_key(kind: &RuleKind, key: &str) -> String {
    match kind {
        RuleKind::Waypoints(_) => format!("make it a rule of kind PassThrough with {key:?}"),
        _ => format!("write {key:?}"),
    }
}

pub(in crate::lint) fn guardrail_never_applies(rule: &str, range: &str) -> Words {
    Words::own(format!(
        "rule {} with {} can never forbid anything: no two versions are such as its ranges ask for; mend \
         them",
        q(rule),
        super::range(range)
    ))
}

pub(in crate::lint) fn guardrail_applies_to_none(rule: &str, range: &str, package: &str) -> Words {
    Words::own(format!(
        "rule {} with {} forbids nothing among the versions of package {}: right if it waits for others",
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
        "rule {} with step {step} forbids nothing among the versions of package {}: right if it waits for \
         others",
        q(rule),
        q(package)
    ))
}

pub(in crate::lint) fn guardrail_allows_in_vain(rule: &str, denying: &str) -> Words {
    Words::own(format!(
        "rule {} allows nothing beside rule {}, which forbids every step from a release to a prerelease; \
         remove one of them",
        q(rule),
        q(denying)
    ))
}

pub(in crate::lint) fn guardrail_allows_anyway(rule: &str) -> Words {
    Words::own(format!(
        "rule {} allows what is allowed anyway: graph Catalog has every edge to a prerelease that the \
         catalog has; remove it, or write action: Deny if it means to forbid them",
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
        "rule {} takes {} for one of {}, since a prerelease is lower than its release; end the range with \
         <{release}-0",
        q(rule),
        go::escape(&prerelease.to_string()),
        range(via)
    ))
}
