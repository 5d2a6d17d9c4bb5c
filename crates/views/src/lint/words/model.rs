//! About the graph of a channel, as `opm validate` checks it.

use super::{Words, names, q};
use olmguard_catalog::version::go::escape;
use olmguard_catalog::version::suggestion::{self, Suggestion};
use olmguard_engine::explain::range::suggestion as suggestion_words;

pub(in crate::lint) fn default_channel_missing(package: &str, channels: &[&str]) -> Words {
    let fix = match channels {
        [] => "set defaultChannel to the name of a channel".to_owned(),
        all => format!(
            "set defaultChannel to one of {}",
            names(all.iter().copied())
        ),
    };
    Words::with(
        format!("package {} has no default channel; {fix}", q(package)),
        "default channel must be set".to_owned(),
    )
}

pub(in crate::lint) fn default_channel_unknown(
    package: &str,
    channel: &str,
    nearest: Option<&str>,
) -> Words {
    let fix = match nearest {
        Some(nearest) => format!("did you mean {}?", q(nearest)),
        None => "use a channel that exists".to_owned(),
    };
    Words::with(
        format!(
            "the default channel {} of package {} does not exist; {fix}",
            q(channel),
            q(package)
        ),
        "channel must contain at least one bundle".to_owned(),
    )
}

pub(in crate::lint) fn package_without_channel(package: &str) -> Words {
    Words::with(
        format!("package {} has no channel; add an olm.channel", q(package)),
        "package must contain at least one channel".to_owned(),
    )
}

/// `all` is every version that several bundles have, reported with the first of them.
pub(in crate::lint) fn duplicate_version(
    version: &str,
    bundles: &[&str],
    all: Option<&[(String, Vec<&str>)]>,
) -> Words {
    let all = all.map(|all| {
        let each = all.iter();
        let each =
            each.map(|(version, bundles)| format!("{{{version}: [{}]}}", bundles.join(", ")));
        format!("{}]", each.collect::<Vec<_>>().join(" "))
    });
    Words::with(
        format!(
            "version {} is used by several bundles: {}; give each its own version or release",
            q(version),
            names(bundles.iter().copied())
        ),
        format!(
            "duplicate versions found in bundles: [{}",
            all.unwrap_or_default()
        ),
    )
}

pub(in crate::lint) fn deprecation_without_message(schema: &str, name: &str) -> Words {
    let what = match schema {
        "olm.package" => "the deprecation of the package".to_owned(),
        schema => format!("the deprecation of {} {}", escape(schema), q(name)),
    };
    Words::with(
        format!("{what} has no message; say what to use instead"),
        "invalid deprecation: message must be set".to_owned(),
    )
}

pub(in crate::lint) fn channel_without_entries(channel: &str) -> Words {
    Words::with(
        format!(
            "channel {} has no entries; add some, or remove it",
            q(channel)
        ),
        "channel must contain at least one bundle".to_owned(),
    )
}

pub(in crate::lint) fn no_channel_head(channel: &str) -> Words {
    Words::with(
        format!(
            "channel {} has no head, because every entry is replaced or skipped; remove the edge that \
             points back",
            q(channel)
        ),
        "no channel head found in graph".to_owned(),
    )
}

pub(in crate::lint) fn several_channel_heads(channel: &str, heads: &[&str]) -> Words {
    Words::with(
        format!(
            "channel {} has {} heads: {}; let the newest replace or skip the others",
            q(channel),
            heads.len(),
            names(heads.iter().copied())
        ),
        format!(
            "multiple channel heads found in graph: {}",
            heads.join(", ")
        ),
    )
}

pub(in crate::lint) fn replaces_cycle(channel: &str, cycle: &[&str]) -> Words {
    Words::with(
        format!(
            "entries of channel {} replace each other in a cycle: {}; remove the replaces that names the \
             same version or a higher one",
            q(channel),
            super::way(cycle)
        ),
        format!(
            "detected cycle in replaces chain of upgrade graph: {}",
            cycle.join(" -> ")
        ),
    )
}

/// `all` is every such entry, reported with the first of them.
pub(in crate::lint) fn stranded_bundle(channel: &str, bundle: &str, all: Option<&[&str]>) -> Words {
    let all = all.map(|all| all.join(", ")).unwrap_or_default();
    Words::with(
        format!(
            "entry {} of channel {} is neither in the replaces chain of the head nor skipped; let an \
             entry of the chain replace it, or let the head skip it",
            q(bundle),
            q(channel)
        ),
        format!("channel contains one or more stranded bundles: {all}"),
    )
}

pub(in crate::lint) fn empty_skip(entry: &str, index: usize) -> Words {
    Words::with(
        format!("skips[{index}] of entry {} is empty; remove it", q(entry)),
        format!("skip[{index}] is empty"),
    )
}

pub(in crate::lint) fn invalid_skip_range(
    entry: &str,
    range: &str,
    error: &olmguard_catalog::version::SkipRangeError,
) -> Words {
    let at = error.fault().at;
    let begin = range.get(at..).unwrap_or_default();
    let starts_with_v = begin
        .trim_start_matches(['<', '>', '=', '!', ' '])
        .starts_with('v');
    let hint = if starts_with_v {
        "write versions without v"
    } else if range.contains(',') {
        "a space means AND, a comma does not"
    } else if range.contains(['^', '~']) {
        "^ and ~ are not supported: write >=1.2.0 <2.0.0"
    } else {
        "write comparators with full versions, such as >=1.0.0 <1.2.3"
    };
    let instead = suggestion::skip_range(range).map(Suggestion::Range);
    let way = instead.map_or_else(|| hint.to_owned(), |range| suggestion_words(&range));
    let text = escape(&error.to_string()).replace("\\\"", "\"");
    Words::with(
        format!(
            "the skipRange {} of entry {} is not valid at byte {at}: {text}; {way}",
            super::range(range),
            q(entry)
        ),
        format!("invalid skipRange {}: {error}", q(range)),
    )
}

pub(in crate::lint) fn bundle_without_image(bundle: &str) -> Words {
    Words::with(
        format!(
            "bundle {} has neither an image nor manifests; add an image",
            q(bundle)
        ),
        "bundle image must be set".to_owned(),
    )
}

pub(in crate::lint) fn entry_without_name(channel: &str, has_bundle: bool) -> Words {
    let message = format!(
        "an entry of channel {} has no name; add the name of its bundle",
        q(channel)
    );
    if has_bundle {
        Words::with(message, "name must be set".to_owned())
    } else {
        Words::own(message)
    }
}

pub(in crate::lint) fn bundle_name_not_normalized(bundle: &str, expected: &str) -> Words {
    let (bundle, expected) = (q(bundle), q(expected));
    Words::with(
        format!("bundle {bundle} has a release, so its name must be {expected}; rename it"),
        format!("name {bundle} does not match normalized name {expected}"),
    )
}

pub(in crate::lint) fn build_metadata_with_release(bundle: &str, version: &str) -> Words {
    Words::with(
        format!(
            "bundle {} has a release and build metadata in its version {}; remove the + and what follows",
            q(bundle),
            q(version)
        ),
        "cannot use build metadata in version with a release version".to_owned(),
    )
}
