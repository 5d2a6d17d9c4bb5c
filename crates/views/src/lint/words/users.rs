//! About effects on users.

use super::{Words, names, q};
use olmguard_catalog::DependencyKind;

/// In which generations of OLM there is no upgrade path. A path in OLM v0 is also a path in OLM v1.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::lint) enum CutOffIn {
    V0,
    Both,
}

pub(in crate::lint) fn cut_off(
    name: &str,
    channel: &str,
    head: &str,
    generation: CutOffIn,
) -> Words {
    let generation = match generation {
        CutOffIn::V0 => "OLM v0",
        CutOffIn::Both => "OLM v0 and OLM v1",
    };
    Words::own(format!(
        "{} has no upgrade path to {}, the head of channel {}, in {generation}; let an entry on a path to \
         the head replace it, skip it, or include it in its skipRange",
        q(name),
        q(head),
        q(channel)
    ))
}

pub(in crate::lint) fn several_successors(channel: &str, of: &[(&str, usize)]) -> Words {
    let (first, count) = of.first().copied().unwrap_or_default();
    let rest = match of.len() {
        0 | 1 => String::new(),
        2 => " (1 more name has several, too)".to_owned(),
        all => format!(" ({} more names have several, too)", all - 1),
    };
    Words::own(format!(
        "channel {} has {count} entries that replace or skip {}{rest}: expected one that is not skipped \
         itself",
        q(channel),
        q(first)
    ))
}

pub(in crate::lint) fn upgrade_cycle(way: &[&str]) -> Words {
    Words::own(format!(
        "upgrade edges form a cycle: {}; remove the edge that does not go to a higher version",
        super::way(way)
    ))
}

pub(in crate::lint) fn skipped_cycle(channel: &str, cycle: &[&str]) -> Words {
    Words::own(format!(
        "skipped entries of channel {} replace each other in a cycle: {}; OLM v0 rejects the channel, so \
         remove the replaces that names the same version or a higher one",
        q(channel),
        super::way(cycle)
    ))
}

pub(in crate::lint) fn skipped_yet_installable(channel: &str, skipped: &[&str]) -> Words {
    Words::own(format!(
        "channel {} skips entries that it still contains: {}; OLM v1 can still install them, so remove or \
         deprecate them",
        q(channel),
        names(skipped.iter().copied())
    ))
}

pub(in crate::lint) fn edge_goes_down(
    field: &str,
    entry: (&str, &str),
    from: &[&str],
    first: &str,
) -> Words {
    let (name, version) = entry;
    let higher = from.first().copied().unwrap_or_default();
    let others = match from.get(1..).unwrap_or_default() {
        [] => String::new(),
        others => format!(", {}", names(others.iter().copied())),
    };
    Words::own(format!(
        "{field} of entry {} ({}) makes an edge from a higher version: {} ({}){others}; remove the edge, or \
         fix the versions",
        q(name),
        olmguard_catalog::version::go::escape(version),
        q(higher),
        olmguard_catalog::version::go::escape(first)
    ))
}

pub(in crate::lint) fn head_not_highest(
    channel: &str,
    head: (&str, &str),
    higher: (&str, &str),
) -> Words {
    Words::own(format!(
        "the head of channel {} is {} ({}), but {} ({}) is higher: OLM v0 installs the head, OLM \
         v1 the highest version",
        q(channel),
        q(head.0),
        olmguard_catalog::version::go::escape(head.1),
        q(higher.0),
        olmguard_catalog::version::go::escape(higher.1)
    ))
}

pub(in crate::lint) fn prerelease_edge(entry: (&str, &str), from: &[&str]) -> Words {
    Words::own(format!(
        "entry {} ({}) is a prerelease and has edges from releases: {}; keep it in a separate channel",
        q(entry.0),
        olmguard_catalog::version::go::escape(entry.1),
        names(from.iter().copied())
    ))
}

/// In a channel of prereleases.
pub(in crate::lint) fn prerelease_edge_apart(
    entry: (&str, &str),
    from: &[&str],
    channel: &str,
) -> Words {
    Words::own(format!(
        "entry {} ({}) is a prerelease and has edges from releases: {}; channel {} is for prereleases, but OLM \
         v1 also uses the edge for extensions without channels",
        q(entry.0),
        olmguard_catalog::version::go::escape(entry.1),
        names(from.iter().copied()),
        q(channel)
    ))
}

/// `pairs` are entries, each with one of the versions that it upgrades.
pub(in crate::lint) fn major_edge(channel: &str, pairs: &[(&str, &str)]) -> Words {
    let shown = pairs.iter().take(super::NAMED);
    let shown: Vec<_> = shown
        .map(|(to, from)| format!("from {} to {}", q(from), q(to)))
        .collect();
    let rest = match pairs.len().saturating_sub(super::NAMED) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    Words::own(format!(
        "channel {} has upgrades between incompatible versions: {}{rest}",
        q(channel),
        shown.join(", ")
    ))
}

pub(in crate::lint) fn skip_range_matches_nothing(entry: &str, range: &str) -> Words {
    Words::own(format!(
        "the skipRange {} of entry {} matches no version: a space means AND; join alternatives with ||",
        super::range(range),
        q(entry)
    ))
}

pub(in crate::lint) fn skip_range_takes_none(channel: &str, entries: &[&str]) -> Words {
    Words::own(format!(
        "in channel {} the skipRange of {} matches no other bundle of the package: correct if older \
         versions were removed",
        q(channel),
        names(entries.iter().copied())
    ))
}

pub(in crate::lint) fn skip_range_takes_itself(entry: &str, range: &str) -> Words {
    Words::own(format!(
        "the skipRange {} of entry {} matches the version of the entry; end the range below it",
        super::range(range),
        q(entry)
    ))
}

pub(in crate::lint) fn skip_range_open(entry: &str, range: &str, side: &str) -> Words {
    Words::own(format!(
        "the skipRange {} of entry {} has no {side} bound; add one",
        super::range(range),
        q(entry)
    ))
}

pub(in crate::lint) fn skip_range_crashes(entry: &str, range: &str) -> Words {
    Words::own(format!(
        "the skipRange {} of entry {} has nothing between two ||, so OLM panics; remove the empty \
         alternative",
        super::range(range),
        q(entry)
    ))
}

pub(in crate::lint) fn unknown_target(channel: &str, targets: &[&str]) -> Words {
    Words::own(format!(
        "channel {} replaces or skips names that are not in the catalog: {}; correct if these versions \
         were removed",
        q(channel),
        names(targets.iter().copied())
    ))
}

pub(in crate::lint) fn misspelt_target(
    field: &str,
    entry: &str,
    target: &str,
    nearest: &str,
) -> Words {
    Words::own(format!(
        "{field} of entry {} names {}, which is not in the catalog; did you mean {}?",
        q(entry),
        q(target),
        q(nearest)
    ))
}

pub(in crate::lint) fn other_package_target(
    field: &str,
    entry: &str,
    target: &str,
    home: &str,
) -> Words {
    Words::own(format!(
        "{field} of entry {} names {}, a bundle of package {}: edges never cross packages",
        q(entry),
        q(target),
        q(home)
    ))
}

pub(in crate::lint) fn target_in_other_channel(
    (field, entry, target): (&str, &str, &str),
    channel: &str,
    others: &[&str],
) -> Words {
    let (channel, target) = (q(channel), q(target));
    let only = match others {
        [only] => format!("channel {}", q(only)),
        all => format!("channels {}", names(all.iter().copied())),
    };
    Words::own(format!(
        "{field} of entry {} names {target}, which is only in {only}: its edges do not count in channel \
         {channel}; add an entry for {target} to channel {channel}",
        q(entry)
    ))
}

pub(in crate::lint) fn deprecated_without_replacement(what: &str, name: &str) -> Words {
    Words::own(format!(
        "{what} {} is deprecated, and no {what} replaces it that is not deprecated; publish a successor",
        q(name)
    ))
}

pub(in crate::lint) fn channel_key(channel: &str, value: &str) -> Words {
    Words::own(format!(
        "channel {} has a key \"channel\" with {}, which has no effect: the key for the name of a \
         channel is \"name\"",
        q(channel),
        q(value)
    ))
}

pub(in crate::lint) fn unsupported_dependency(bundle: &str, kind: DependencyKind) -> Words {
    Words::own(format!(
        "bundle {} declares a dependency with {}, so OLM v1 does not install it",
        q(bundle),
        kind.as_str()
    ))
}

pub(in crate::lint) fn unsupported_install_mode(bundle: &str) -> Words {
    Words::own(format!(
        "bundle {} does not support the install mode AllNamespaces, so OLM v1 does not install it",
        q(bundle)
    ))
}

pub(in crate::lint) fn min_kube_version_ignored(package: &str, bundles: &[&str]) -> Words {
    Words::own(format!(
        "bundles of package {} set a minKubeVersion, which OLM v1 ignores: {}",
        q(package),
        names(bundles.iter().copied())
    ))
}

pub(in crate::lint) fn ambiguous_package(package: &str, catalogs: &[&str]) -> Words {
    Words::own(format!(
        "package {} is also offered by {}; OLM v1 does not choose unless their priorities differ",
        q(package),
        names(catalogs.iter().copied())
    ))
}
