//! Adds a bundle to a channel, for example from candidate to stable.
//!
//! | method | the entry of the bundle |
//! | --- | --- |
//! | replaces | replaces the head; in a new channel what it replaces elsewhere, the default channel first |
//! | skips | replaces the head, in a new channel the lowest version; skips all others below it that the channel does not know |
//! | skip-range | replaces the head; `>=LOWEST <VERSION` over all versions of the package below it |
//!
//! The first method strands users of another channel whose version no entry of this channel names. The other methods
//! upgrade all users. [`reach`](super::reach) shows the difference.

#[cfg(test)]
mod tests;

use crate::author::channel::{AuthoredChannel, AuthoredEntry, WildcardRange, range_below};
use crate::author::written::CatalogText;
use crate::lint::ChannelFault;
use olmguard_catalog::version::{VersionRelease, go};
use olmguard_catalog::word_set;

word_set! {
    /// Method to connect the bundle to the channel.
    pub enum Method {
        /// Only `replaces`.
        Replaces => "replaces",
        /// `replaces` and `skips`.
        Skips => "skips",
        /// `replaces` and `skipRange`.
        SkipRange => "skipRange",
    }
}

/// The reason why a bundle cannot be promoted.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PromoteError {
    /// The bundle does not exist.
    #[error(
        "package {} has no bundle {}: expected the name of an olm.bundle of the catalog",
        go::quote(package),
        go::quote(bundle)
    )]
    NoBundle {
        /// Name of the package.
        package: Box<str>,
        /// Name of the requested bundle.
        bundle: Box<str>,
    },
    /// The version of the bundle cannot be read.
    #[error(
        "bundle {} has no version that can be read: expected one olm.package property with a semantic \
         version",
        go::quote(bundle)
    )]
    NoVersion {
        /// Name of the bundle.
        bundle: Box<str>,
    },
    /// The channel already names the bundle.
    #[error(
        "channel {} has bundle {} already: expected one that it does not name",
        go::quote(channel),
        go::quote(bundle)
    )]
    Known {
        /// Name of the channel.
        channel: Box<str>,
        /// Name of the bundle.
        bundle: Box<str>,
    },
    /// The bundle is not above the head.
    #[error(
        "bundle {} is not above {}, the head of channel {}: expected a higher version",
        go::quote(bundle),
        go::quote(head),
        go::quote(channel)
    )]
    NotAbove {
        /// Name of the bundle.
        bundle: Box<str>,
        /// Name of the head.
        head: Box<str>,
        /// Name of the channel.
        channel: Box<str>,
    },
    /// No `skipRange` ends at the version.
    #[error("{0}; use --method skips")]
    Range(#[from] WildcardRange),
    /// The channel has no main line.
    #[error(
        "channel {}: {source}; mend the channel first, as opm validate wants it",
        go::quote(channel)
    )]
    Channel {
        /// Name of the channel.
        channel: Box<str>,
        /// Fault of the channel.
        source: ChannelFault,
    },
}

/// The requested promotion.
#[derive(Clone, Copy, Debug)]
pub struct Promotion<'a> {
    /// Name of the package.
    pub package: &'a str,
    /// Name of the bundle, which the catalog must contain.
    pub bundle: &'a str,
    /// Name of the channel, which can be new.
    pub channel: &'a str,
    /// Method to connect the bundle.
    pub method: Method,
}

/// Returns the channel with the bundle in it.
///
/// # Errors
/// If the bundle has no place in the channel.
pub fn promote(
    catalog: &CatalogText,
    asked: Promotion<'_>,
) -> Result<AuthoredChannel, PromoteError> {
    let releases = releases(catalog, asked.package);
    let release = release(catalog, &releases, asked)?;
    let found = catalog.channel(asked.package, asked.channel);
    let is_new = found.is_none();
    let channel = found.unwrap_or_else(|| AuthoredChannel::empty(asked.package, asked.channel));
    if channel.known_names().contains(&asked.bundle) {
        return Err(PromoteError::Known {
            channel: asked.channel.into(),
            bundle: asked.bundle.into(),
        });
    }
    let lower = releases
        .iter()
        .filter(|(_, other)| other.cmp_precedence(release).is_lt());
    let mut entry = AuthoredEntry::named(asked.bundle);
    entry.replaces = head(&channel, &releases, release, asked)?.map(Box::from);
    match asked.method {
        Method::Replaces if is_new => entry.replaces = elsewhere(catalog, asked),
        Method::Replaces => {}
        Method::Skips => {
            let mut names = lower.map(|(name, _)| *name);
            if is_new {
                entry.replaces = names.next().map(Box::from);
            }
            let known = channel.known_names();
            let names = names.filter(|name| !known.contains(name));
            entry.skips = names.map(Box::from).collect();
        }
        Method::SkipRange => entry.skip_range = range_over(lower.map(|(_, other)| other), release)?,
    }
    let entries = [channel.entries.clone(), vec![entry]].concat();
    Ok(channel.with(entries))
}

/// Returns the bundles of the package whose version can be read, the lowest first.
fn releases<'a>(catalog: &'a CatalogText, package: &'a str) -> Vec<(&'a str, VersionRelease)> {
    let releases = catalog.bundles(package);
    let releases = releases.filter_map(|bundle| Some((bundle.name(), bundle.release()?)));
    let mut releases: Vec<_> = releases.collect();
    releases.sort_by(|(name, one), (other_name, other)| {
        one.cmp_precedence(other).then_with(|| name.cmp(other_name))
    });
    releases
}

/// Returns the version and the release of the bundle.
fn release<'r>(
    catalog: &CatalogText,
    releases: &'r [(&str, VersionRelease)],
    asked: Promotion<'_>,
) -> Result<&'r VersionRelease, PromoteError> {
    let bundle = || asked.bundle.into();
    let mut bundles = catalog.bundles(asked.package);
    if !bundles.any(|blob| blob.name() == asked.bundle) {
        let package = asked.package.into();
        return Err(PromoteError::NoBundle {
            package,
            bundle: bundle(),
        });
    }
    let found = releases.iter().find(|(name, _)| *name == asked.bundle);
    found
        .map(|(_, release)| release)
        .ok_or_else(|| PromoteError::NoVersion { bundle: bundle() })
}

/// Returns the head of the channel, which must be below the bundle.
fn head<'c>(
    channel: &'c AuthoredChannel,
    releases: &[(&str, VersionRelease)],
    release: &VersionRelease,
    asked: Promotion<'_>,
) -> Result<Option<&'c str>, PromoteError> {
    let line = channel
        .main_line()
        .map_err(|source| PromoteError::Channel {
            channel: asked.channel.into(),
            source,
        })?;
    let head = line.first().map(|head| &*head.name);
    let mut releases = releases.iter();
    let known = releases.find(|(name, _)| Some(*name) == head);
    match (head, known) {
        (Some(head), Some((_, known))) if known.cmp_precedence(release).is_ge() => {
            Err(PromoteError::NotAbove {
                bundle: asked.bundle.into(),
                head: head.into(),
                channel: asked.channel.into(),
            })
        }
        (head, _) => Ok(head),
    }
}

/// Returns the range from the lowest version to the release. No range separates two releases of one version.
fn range_over<'r>(
    mut lower: impl Iterator<Item = &'r VersionRelease>,
    release: &VersionRelease,
) -> Result<Option<Box<str>>, WildcardRange> {
    let version = &release.version;
    let lowest = lower.find(|other| other.version.cmp_precedence(version).is_lt());
    let range = lowest.map(|lowest| range_below(&lowest.version, version));
    range.transpose()
}

/// Returns the name that the bundle replaces in another channel.
fn elsewhere(catalog: &CatalogText, asked: Promotion<'_>) -> Option<Box<str>> {
    let default = catalog.default_channel(asked.package);
    let mut channels: Vec<_> = catalog
        .channels(asked.package)
        .map(AuthoredChannel::of)
        .collect();
    channels.sort_by(|one, other| {
        let place =
            |channel: &AuthoredChannel| (channel.name() != default, channel.name().to_owned());
        place(one).cmp(&place(other))
    });
    let entries = channels.iter();
    let replaces = entries.filter_map(|channel| channel.entry(asked.bundle)?.replaces.clone());
    // An entry that replaces itself would leave the new channel without a head.
    let mut others = replaces.filter(|name| **name != *asked.bundle);
    others.next()
}
