//! Sentences of the findings. Foreign texts are not escaped here: the report makes them one printable line.

use olmguard_catalog::version::go;
use olmguard_engine::audit::{
    Audit, Concern, Deprecations, NextEdit, Onward, Place, UninstallablePath,
};
use olmguard_engine::explain::text::{self, list};
use olmguard_engine::explain::{denial, of_preflight, unknown};
use olmguard_engine::judge::{Verdict, Walk, WalkEnd, pin};
use olmguard_engine::resolve::Choice;

/// Formats a finding as a sentence. `reason` is the reason of the verdict.
pub(crate) fn sentence(concern: Concern, audit: &Audit<'_>, reason: &str) -> String {
    let of_place = |say: fn(&Place<'_>) -> String| audit.place.as_ref().map(say);
    let found = match concern {
        Concern::Unresolvable | Concern::Forbidden => Some(reason.to_owned()),
        Concern::Undecided => match audit.judgement.verdict() {
            Verdict::Undecided => Some(reason.to_owned()),
            _ => audit.unknown.as_ref().map(|why| unknown(why).to_owned()),
        },
        Concern::ForbiddenMove => forbidden_move(audit),
        Concern::NotInstallable => audit.not_installable().map(of_preflight),
        Concern::MovesToPrerelease => audit
            .to_prerelease
            .and_then(pin)
            .map(|to| format!("OLM upgrades automatically from a release to the prerelease {to}")),
        Concern::Moves => audit.automatic.as_ref().map(moves),
        Concern::Bypass => bypass(audit),
        Concern::Unbounded => Some("the range has no upper bound".to_owned()),
        Concern::NotInCatalog => {
            Some("the installed bundle is no longer in any selected catalog".to_owned())
        }
        Concern::AgainstPolicy => of_place(against),
        Concern::BundleDeprecated => Some("the installed bundle is deprecated".to_owned()),
        Concern::PackageDeprecated => of_place(|place| package(&place.deprecations)),
        Concern::ChannelDeprecated => of_place(|place| channels(&place.deprecations)),
        Concern::Stranded
        | Concern::PathForbidden
        | Concern::PathNotInstallable
        | Concern::ChannelEnds
        | Concern::Behind => {
            let place = audit.place.as_ref();
            place.map(|place| onward(place, audit.without_bypass.is_some()))
        }
    };
    found.unwrap_or_default()
}

/// Returns the words for a finding in the first line of a report. `None` for findings that it does not mention.
pub(crate) fn counted(concern: Concern, count: usize) -> Option<&'static str> {
    let (one, many) = match concern {
        Concern::Unresolvable => ("cannot be resolved", "cannot be resolved"),
        Concern::ForbiddenMove => ("upgrades against guardrails", "upgrade against guardrails"),
        Concern::Forbidden => ("forbidden", "forbidden"),
        Concern::NotInstallable => ("not installable", "not installable"),
        Concern::MovesToPrerelease => ("upgrades to a prerelease", "upgrade to a prerelease"),
        Concern::Undecided => ("undecided", "undecided"),
        Concern::Stranded => ("stranded", "stranded"),
        Concern::AgainstPolicy => ("against policies", "against policies"),
        Concern::Moves => ("upgrades automatically", "upgrade automatically"),
        Concern::Behind => ("behind", "behind"),
        Concern::NotInCatalog
        | Concern::PackageDeprecated
        | Concern::BundleDeprecated
        | Concern::ChannelDeprecated
        | Concern::PathForbidden
        | Concern::PathNotInstallable
        | Concern::ChannelEnds
        | Concern::Bypass
        | Concern::Unbounded => return None,
    };
    Some(if count == 1 { one } else { many })
}

fn moves(walk: &Walk<'_>) -> String {
    let through = versions(&walk.steps);
    let end = match walk.end {
        WalkEnd::NotInstalled(next) => format!(
            "; then it does not install {}",
            pin(next).unwrap_or_default()
        ),
        WalkEnd::Stays(_) | WalkEnd::Stops(_) => String::new(),
    };
    format!("OLM upgrades automatically to {through}{end}")
}

fn forbidden_move(audit: &Audit<'_>) -> Option<String> {
    let step = audit.automatic.as_ref()?.forbidden.first()?;
    let to = pin(step.to).unwrap_or_default();
    Some(format!(
        "OLM upgrades automatically from {} to {to}, which guardrails forbid",
        step.from
    ))
}

fn against(place: &Place<'_>) -> String {
    let rules = place
        .violations
        .iter()
        .map(|found| denial(found).to_string());
    let rules = list(&rules.collect::<Vec<_>>(), "; ", MOST_RULES);
    format!("the installed version violates upgrade policies: {rules}")
}

/// Maximum number of rules in a sentence.
const MOST_RULES: usize = 3;

fn bypass(audit: &Audit<'_>) -> Option<String> {
    let token = audit.without_bypass?;
    let without = match token.verdict() {
        Verdict::Allow => " but not needed: remove it".to_owned(),
        Verdict::Undecided => format!("; without it the spec is undecided [{}]", token.as_str()),
        Verdict::Deny | Verdict::NotJudged => {
            format!("; without it the spec is denied [{}]", token.as_str())
        }
    };
    Some(format!("the override of the upgrade edges is set{without}"))
}

fn package(found: &Deprecations<'_>) -> String {
    let message = found.of_package.unwrap_or_default();
    format!("the package is deprecated{}", after_colon(message))
}

/// Lists the requested channels that are deprecated.
pub(crate) fn channels(found: &Deprecations<'_>) -> String {
    let channels = found.of_channels.iter().map(|(name, message)| {
        let name = go::quote(name);
        format!("channel {name} is deprecated{}", after_colon(message))
    });
    channels.collect::<Vec<_>>().join("; ")
}

/// Describes the path along the upgrade edges. With the override set, an edit would not follow them.
fn onward(place: &Place<'_>, is_overridden: bool) -> String {
    let newest = place.newest.and_then(pin).unwrap_or_default();
    match &place.onward {
        Onward::Now(next) => edits(next, &newest, is_overridden),
        Onward::Later(next, opening) => {
            format!(
                "{}; a window of the upgrade policies opens at {}",
                edits(next, &newest, is_overridden),
                opening.at
            )
        }
        Onward::Forbidden(path) => format!(
            "guardrails or upgrade policies forbid each path to a newer version; the upgrade edges go to {}",
            versions(path)
        ),
        Onward::NotInstallable(UninstallablePath { path, refused }) => format!(
            "the path goes to {}; OLM does not install {}, and there is no path around it",
            versions(path),
            pin(*refused).unwrap_or_default()
        ),
        Onward::OtherChannels(path) => {
            format!(
                "the requested channels have no newer version; other channels have a path to {}",
                versions(path)
            )
        }
        Onward::Stranded => {
            let newer = match place.newer {
                1 => "a newer version exists".to_owned(),
                count => format!("{count} newer versions exist"),
            };
            format!("{newer}, up to {newest}, and there is no upgrade path to any of them")
        }
        Onward::Newest | Onward::Tied | Onward::NotFound => String::new(),
    }
}

/// Describes the steps, the version to set, and the newest version if edits do not reach it.
fn edits(next: &NextEdit<'_>, newest: &str, is_overridden: bool) -> String {
    let last = next.path.last().copied().and_then(pin).unwrap_or_default();
    let steps = text::counted(next.path.len(), "step");
    let set = go::quote(&next.range().unwrap_or_default());
    let beyond = match newest {
        "" => String::new(),
        same if same == last => String::new(),
        newest => format!("; the newest version is {newest}"),
    };
    let first = if is_overridden {
        "remove the override and "
    } else {
        ""
    };
    format!("{last} is reachable in {steps}: {first}set the version to {set}{beyond}")
}

/// Formats a path by its versions.
pub(crate) fn versions(path: &[Choice<'_>]) -> String {
    let versions: Vec<_> = path.iter().copied().filter_map(pin).collect();
    match versions.as_slice() {
        [] | [_] | [_, _] | [_, _, _] => versions.join(", then "),
        [first, .., last] => format!(
            "{first}, then {last} after {} more steps",
            versions.len() - 1
        ),
    }
}

fn after_colon(message: &str) -> String {
    if message.is_empty() {
        String::new()
    } else {
        format!(": {message}")
    }
}
