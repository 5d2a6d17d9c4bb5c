//! About where users end up.

use super::{Words, names, q};
use olmguard_catalog::DependencyKind;

/// In which generations of OLM there is no way. A way of OLM v0 is one of OLM v1 too.
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
        CutOffIn::Both => "either OLM",
    };
    Words::own(format!(
        "from {} no way leads to {}, the head of channel {}, in {generation}; let an entry on the way \
         replace it, skip it or take it in its skipRange",
        q(name),
        q(head),
        q(channel)
    ))
}

pub(in crate::lint) fn several_successors(channel: &str, of: &[(&str, usize)]) -> Words {
    let (first, count) = of.first().copied().unwrap_or_default();
    let rest = match of.len() {
        0 | 1 => String::new(),
        all => format!(", and {} more names likewise", all - 1),
    };
    Words::own(format!(
        "in channel {} {count} entries replace or skip {}{rest}: expected one that is not skipped itself",
        q(channel),
        q(first)
    ))
}

pub(in crate::lint) fn upgrade_cycle(way: &[&str]) -> Words {
    Words::own(format!(
        "upgrade edges go round: {}; remove the one that leads down",
        super::way(way)
    ))
}

pub(in crate::lint) fn skipped_cycle(channel: &str, circle: &[&str]) -> Words {
    Words::own(format!(
        "skipped entries of channel {} replace each other in a circle: {}; OLM v0 refuses the channel, so \
         remove the replaces that leads down",
        q(channel),
        super::way(circle)
    ))
}

pub(in crate::lint) fn skipped_yet_installable(channel: &str, skipped: &[&str]) -> Words {
    Words::own(format!(
        "channel {} skips entries that it still has: {}; OLM v1 installs them where asked to: remove or \
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
    Words::own(format!(
        "{field} of entry {} ({}) leads down from {}, the first of version {}; remove it, or mend the \
         versions",
        q(name),
        olmguard_catalog::version::go::escape(version),
        names(from.iter().copied()),
        olmguard_catalog::version::go::escape(first)
    ))
}

pub(in crate::lint) fn head_not_highest(
    channel: &str,
    head: (&str, &str),
    higher: (&str, &str),
) -> Words {
    Words::own(format!(
        "the head of channel {} is {} ({}), but {} ({}) is higher: OLM v0 installs the one, OLM v1 the \
         other",
        q(channel),
        q(head.0),
        olmguard_catalog::version::go::escape(head.1),
        q(higher.0),
        olmguard_catalog::version::go::escape(higher.1)
    ))
}

pub(in crate::lint) fn prerelease_edge(entry: (&str, &str), from: &[&str]) -> Words {
    Words::own(format!(
        "entry {} ({}) is a prerelease and takes releases along: {}; keep it in a channel of its own",
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
        "entry {} ({}) is a prerelease and takes releases along: {}; channel {} is one of prereleases, but \
         OLM v1 takes the edge wherever no channels are asked for",
        q(entry.0),
        olmguard_catalog::version::go::escape(entry.1),
        names(from.iter().copied()),
        q(channel)
    ))
}

/// `pairs` are entries with one of the versions that they take along.
pub(in crate::lint) fn major_edge(channel: &str, pairs: &[(&str, &str)]) -> Words {
    let shown = pairs.iter().take(super::NAMED);
    let shown: Vec<_> = shown
        .map(|(to, from)| format!("{} from {}", q(to), q(from)))
        .collect();
    let rest = match pairs.len().saturating_sub(super::NAMED) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    Words::own(format!(
        "in channel {} entries take along versions that semver calls incompatible: {}{rest}",
        q(channel),
        shown.join(", ")
    ))
}

pub(in crate::lint) fn skip_range_matches_nothing(entry: &str, range: &str) -> Words {
    Words::own(format!(
        "no version can be in the skipRange {} of entry {}: a blank means AND; join alternatives with ||",
        super::range(range),
        q(entry)
    ))
}

pub(in crate::lint) fn skip_range_takes_none(channel: &str, entries: &[&str]) -> Words {
    Words::own(format!(
        "in channel {} the skipRange of {} takes no other bundle of the package: right if older \
         versions were removed",
        q(channel),
        names(entries.iter().copied())
    ))
}

pub(in crate::lint) fn skip_range_takes_itself(entry: &str, range: &str) -> Words {
    Words::own(format!(
        "the skipRange {} of entry {} takes its own version; end it below",
        super::range(range),
        q(entry)
    ))
}

pub(in crate::lint) fn skip_range_open(entry: &str, range: &str, side: &str) -> Words {
    Words::own(format!(
        "the skipRange {} of entry {} has no bound {side}; give it one",
        super::range(range),
        q(entry)
    ))
}

pub(in crate::lint) fn skip_range_crashes(entry: &str, range: &str) -> Words {
    Words::own(format!(
        "the skipRange {} of entry {} has nothing between two ||: OLM panics over it; remove the empty \
         alternative",
        super::range(range),
        q(entry)
    ))
}

pub(in crate::lint) fn unknown_target(channel: &str, targets: &[&str]) -> Words {
    Words::own(format!(
        "channel {} replaces or skips names that are nowhere in the catalog: {}; right if they were \
         removed",
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
        "{field} of entry {} names {}, which is nowhere in the catalog; did you mean {}?",
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
        "{field} of entry {} names {}, a bundle of package {}: edges never leave a package",
        q(entry),
        q(target),
        q(home)
    ))
}

pub(in crate::lint) fn deprecated_without_replacement(what: &str, name: &str) -> Words {
    Words::own(format!(
        "{what} {} is deprecated, and no way leads to one that is not; publish a successor",
        q(name)
    ))
}

pub(in crate::lint) fn channel_key(channel: &str, value: &str) -> Words {
    Words::own(format!(
        "channel {} has a key \"channel\" with {}, which means nothing: the name of a channel stands in \
         \"name\"",
        q(channel),
        q(value)
    ))
}

pub(in crate::lint) fn unsupported_dependency(bundle: &str, kind: DependencyKind) -> Words {
    Words::own(format!(
        "bundle {} declares a dependency with {}, which OLM v1 refuses to install",
        q(bundle),
        kind.as_str()
    ))
}

pub(in crate::lint) fn unsupported_install_mode(bundle: &str) -> Words {
    Words::own(format!(
        "bundle {} does not support the install mode AllNamespaces, without which OLM v1 refuses to \
         install it",
        q(bundle)
    ))
}

pub(in crate::lint) fn min_kube_version_ignored(package: &str, bundles: &[&str]) -> Words {
    Words::own(format!(
        "bundles of package {} state a minKubeVersion, which OLM v1 does not look at: {}",
        q(package),
        names(bundles.iter().copied())
    ))
}

pub(in crate::lint) fn ambiguous_package(package: &str, catalogs: &[&str]) -> Words {
    Words::own(format!(
        "package {} is offered by {} too; OLM v1 refuses to choose unless their priorities differ",
        q(package),
        names(catalogs.iter().copied())
    ))
}
