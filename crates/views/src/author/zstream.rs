//! A z-stream release: N = X.Y.Z replaces the older releases of its minor version in a channel.
//!
//! ```text
//! before   0.6.1 <-- 0.9.0 <-- 0.9.2        0.9.2 skips 0.9.1, which is only a name (virtual)
//! after    0.6.1 <-- 0.9.0 <-- 0.9.3        0.9.3 skips 0.9.1 and 0.9.2, both virtual now
//! ```
//!
//! The lowest entry of X.Y that nothing skips is the *anchor*: the entry to which older minors are upgraded. The
//! other entries of X.Y are removed from the channel. N replaces the anchor and skips every other name of X.Y in the
//! channel: entries, and names in `replaces` and `skips`. Entries outside X.Y that replaced or skipped a name of X.Y
//! get their edge from N. N also skips the names that only removed entries replaced or skipped.
//!
//! Suppose that the channel passes `opm validate`, goes up in version, and has exactly one replacement that nothing
//! skips for every name except the head. Then the result has these properties too. Every known release of X.Y
//! is upgraded to N in one step, and no name gets lost. `tests` checks this with random histories.
//!
//! If the main line skips the whole minor, its lowest entry is the anchor. Anchor and N are then inserted into the
//! main line by version, because OLM v0 would never offer a skipped N. If N is above the head and its
//! minor is not on the main line, N replaces the head.
//!
//! With a range, the entries of X.Y stay. N replaces the highest one and has the `skipRange` `>=X.Y.0 <X.Y.Z`, which
//! also includes versions that no catalog has published.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use crate::author::channel::{AuthoredChannel, AuthoredEntry, WildcardRange, range_below};
use crate::lint::ChannelFault;
use olmguard_catalog::version::{Version, go};

/// The release to add.
#[derive(Clone, Copy, Debug)]
pub struct StreamRelease<'a> {
    /// Name of the bundle.
    pub name: &'a str,
    /// Version of the bundle.
    pub version: &'a Version,
}

/// Treatment of the older releases of the minor version.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Manner {
    /// Remove them from the channel, except the anchor. N skips them.
    Skips,
    /// Keep them. N has a `skipRange` that includes them.
    Range,
}

/// A channel with the release, and additional changes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ZStreamOutcome {
    /// The channel with the release.
    pub channel: AuthoredChannel,
    /// Entries that were removed from the channel.
    pub removed: Vec<AuthoredEntry>,
    /// Names whose version is unknown. They stay as they are, regardless of their minor.
    pub unread: Vec<Box<str>>,
}

/// The reason why a release cannot be added.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ZStreamError {
    /// The channel has no main line.
    #[error("{0}; mend the channel first, as opm validate wants it")]
    Channel(#[from] ChannelFault),
    /// The channel already contains the release.
    #[error(
        "{} is in the channel already: expected a new release",
        go::quote(name)
    )]
    Known {
        /// Name of the bundle.
        name: Box<str>,
    },
    /// The channel has a newer release of the minor.
    #[error(
        "version {version} is not above {}, version {known}: expected the highest of its minor",
        go::quote(name)
    )]
    NotAbove {
        /// Version of the release.
        version: Box<str>,
        /// Name of the bundle that is not below the release.
        name: Box<str>,
        /// Version of the bundle.
        known: Box<str>,
    },
    /// The release would start a minor below the head.
    #[error(
        "version {version} begins a minor below the head {}: expected a version above the head, or of a \
         minor that has an entry in the channel",
        go::quote(head)
    )]
    BelowHead {
        /// Version of the release.
        version: Box<str>,
        /// Name of the head.
        head: Box<str>,
    },
    /// No `skipRange` ends at the version.
    #[error("{0}; omit --with-range")]
    Range(#[from] WildcardRange),
    /// The main line has no edge from the minor.
    #[error(
        "only entries that are skipped themselves replace or skip the releases of {major}.{minor}: \
         expected an entry on the way to the head that skips them"
    )]
    SideArm {
        /// Major version of the release.
        major: u64,
        /// Minor version of the release.
        minor: u64,
    },
    /// The main line has an edge to a lower version.
    #[error(
        "the channel leads from {} down to {}: expected each entry above the one it replaces",
        go::quote(from),
        go::quote(to)
    )]
    Down {
        /// Name of the higher version.
        from: Box<str>,
        /// Name of the lower version.
        to: Box<str>,
    },
}

/// Adds a release to a channel. `version_of` returns the version of a name, if it is known.
///
/// # Errors
/// If the release has no place in the channel.
pub fn add(
    channel: &AuthoredChannel,
    release: StreamRelease<'_>,
    manner: Manner,
    version_of: &dyn Fn(&str) -> Option<Version>,
) -> Result<ZStreamOutcome, ZStreamError> {
    let known = channel.known_names();
    let unread = known.iter().filter(|name| version_of(name).is_none());
    let unread = unread.map(|name| Box::from(*name)).collect();
    let stream = MinorStream::of(channel, release, version_of)?;
    let (entries, removed) = rewrite(&stream, manner)?;
    let channel = channel.with(entries);
    Ok(ZStreamOutcome {
        channel,
        removed,
        unread,
    })
}

/// Returns the new entries, and those that were removed.
fn rewrite(
    stream: &MinorStream<'_>,
    manner: Manner,
) -> Result<(Vec<AuthoredEntry>, Vec<AuthoredEntry>), ZStreamError> {
    let way = stream.way()?;
    let anchor = anchor(stream, manner, &way);
    let name = anchor.map(|anchor| &*anchor.name);
    let leaves = |entry: &AuthoredEntry| {
        manner == Manner::Skips && stream.has(&entry.name) && name != Some(&*entry.name)
    };
    let (removed, mut kept): (Vec<_>, Vec<_>) =
        stream.channel.entries.iter().cloned().partition(leaves);
    let adopted = adopted(stream, &removed, &kept);
    let mut handed_over = lead_on(stream, &mut kept, &adopted);
    if let Some(entry) = name.and_then(|name| named(&mut kept, name)) {
        settle(stream, manner, entry);
    }
    if let Entrance::Arm { above } = way {
        insert_below(stream, &mut kept, above, name);
        handed_over.extend(stream.names());
    }
    let is_skipped = |skipped: &&str| {
        name != Some(skipped) && (manner == Manner::Skips || handed_over.contains(*skipped))
    };
    let mut release = AuthoredEntry::named(stream.release.name);
    release.replaces = name.or(stream.head).map(Box::from);
    release.skips = stream.in_order(stream.names().filter(is_skipped));
    release.skips.extend(adopted);
    if manner == Manner::Range && anchor.is_some() {
        release.skip_range = Some(range(stream)?);
    }
    kept.push(release);
    Ok((kept, removed))
}

/// Returns the entry of the minor that the release replaces. Entries of the main line are preferred. If none is on it
/// and the release goes above the head, there is no anchor.
fn anchor<'a>(
    stream: &MinorStream<'a>,
    manner: Manner,
    way: &Entrance<'_>,
) -> Option<&'a AuthoredEntry> {
    let pick = |mut entries: Vec<&'a AuthoredEntry>| match manner {
        Manner::Skips => entries.into_iter().next(),
        Manner::Range => entries.pop(),
    };
    match way {
        Entrance::Main => {
            let main = stream.entries().filter(|entry| stream.is_main(entry));
            pick(main.collect()).or_else(|| pick(stream.entries().collect()))
        }
        Entrance::Arm { .. } => pick(stream.entries().collect()),
        Entrance::Top => None,
    }
}

/// Returns names outside the minor that removed entries replace or skip, but no remaining entry of the main line. The
/// release skips them.
fn adopted(
    stream: &MinorStream<'_>,
    removed: &[AuthoredEntry],
    kept: &[AuthoredEntry],
) -> Vec<Box<str>> {
    let kept = kept.iter().filter(|entry| stream.is_main(entry));
    let provided: BTreeSet<_> = kept
        .flat_map(AuthoredEntry::left)
        .chain(stream.head)
        .collect();
    let left: BTreeSet<_> = removed.iter().flat_map(AuthoredEntry::left).collect();
    let orphans = left
        .into_iter()
        .filter(|name| !stream.has(name) && !provided.contains(name));
    orphans.map(Box::from).collect()
}

/// Makes entries outside the minor replace the release instead of the minor, and skip nothing of the minor. Returns
/// the names of the minor that they replaced or skipped, which are handed over to the release.
fn lead_on<'a>(
    stream: &MinorStream<'a>,
    kept: &mut [AuthoredEntry],
    adopted: &[Box<str>],
) -> BTreeSet<&'a str> {
    let mut handed_over = BTreeSet::new();
    let is_top = matches!(stream.way(), Ok(Entrance::Top));
    for entry in kept.iter_mut().filter(|entry| !stream.has(&entry.name)) {
        if entry.replaces.as_ref().is_some_and(|name| stream.has(name)) {
            let leads_on = !is_top && !adopted.contains(&entry.name);
            let replaced = leads_on.then(|| Box::from(stream.release.name));
            handed_over.extend(stream.known(entry.replaces.as_deref()));
            entry.replaces = replaced;
        }
        let (of_minor, others) = entry.skips.drain(..).partition(|name| stream.has(name));
        entry.skips = others;
        let of_minor: Vec<Box<str>> = of_minor;
        handed_over.extend(of_minor.iter().filter_map(|name| stream.known(Some(name))));
    }
    handed_over
}

/// Removes edges of the anchor from names that have another replacement. These are names of its own minor, which the
/// release skips. If the anchor was not on the main line, they are also the names that the main line replaces or skips.
fn settle(stream: &MinorStream<'_>, manner: Manner, anchor: &mut AuthoredEntry) {
    let is_main = stream.is_main(anchor);
    let is_provided = |name: &str| {
        (manner == Manner::Skips && stream.has(name)) || (!is_main && stream.is_provided(name))
    };
    anchor.skips.retain(|name| !is_provided(name));
    anchor.replaces.take_if(|name| is_provided(name));
}

/// Inserts anchor and release into the main line below an entry.
fn insert_below(
    stream: &MinorStream<'_>,
    kept: &mut [AuthoredEntry],
    above: &str,
    anchor: Option<&str>,
) {
    let Some(above) = named(kept, above) else {
        return;
    };
    let below = above.replaces.replace(stream.release.name.into());
    if let Some(anchor) = anchor.and_then(|anchor| named(kept, anchor)) {
        anchor.replaces = below;
    }
}

fn named<'a>(entries: &'a mut [AuthoredEntry], name: &str) -> Option<&'a mut AuthoredEntry> {
    entries.iter_mut().find(|entry| *entry.name == *name)
}

fn range(stream: &MinorStream<'_>) -> Result<Box<str>, WildcardRange> {
    let version = stream.release.version;
    let (major, minor) = (version.major(), version.minor());
    range_below(format_args!("{major}.{minor}.0"), version)
}

#[cfg(test)]
mod tests;

// === A channel from the perspective of the minor of a release ===

/// The channel, and the parts of it that belong to the minor.
///
/// Invariant: the channel has a main line that goes up, and the release is new and the highest of its
/// minor.
struct MinorStream<'a> {
    channel: &'a AuthoredChannel,
    release: StreamRelease<'a>,
    /// Name of the head. `None` for a channel without entries.
    head: Option<&'a str>,
    /// Entries of the main line. Nothing skips them.
    main: BTreeSet<&'a str>,
    /// Names that entries of the main line replace or skip.
    provided: BTreeSet<&'a str>,
    /// Lowest entry of the main line that is above the release.
    above: Option<&'a str>,
    /// Every name of the minor, with its version.
    minor: BTreeMap<&'a str, Version>,
}

/// Place at which a release enters the main line.
enum Entrance<'a> {
    /// Inside its minor, which is on the line.
    Main,
    /// Above the head: the minor is not on the line, and the release is higher.
    Top,
    /// Below this entry, because the line skips the minor.
    Arm { above: &'a str },
}

impl<'a> MinorStream<'a> {
    fn of(
        channel: &'a AuthoredChannel,
        release: StreamRelease<'a>,
        version_of: &dyn Fn(&str) -> Option<Version>,
    ) -> Result<Self, ZStreamError> {
        let line = channel.main_line()?;
        goes_up(&line, version_of)?;
        let known = channel.known_names();
        if known.contains(&release.name) {
            let name = release.name.into();
            return Err(ZStreamError::Known { name });
        }
        let minor = |version: &Version| (version.major(), version.minor());
        let own = minor(release.version);
        let versions = known.iter();
        let versions = versions.filter_map(|name| Some((*name, version_of(name)?)));
        let is_above = |entry: &&&AuthoredEntry| {
            let version = version_of(&entry.name);
            version.is_some_and(|version| version.cmp_precedence(release.version).is_gt())
        };
        let stream = Self {
            channel,
            release,
            head: line.first().map(|head| &*head.name),
            main: line.iter().map(|entry| &*entry.name).collect(),
            provided: line.iter().flat_map(|entry| entry.left()).collect(),
            above: line.iter().rev().find(is_above).map(|entry| &*entry.name),
            minor: versions
                .filter(|(_, version)| minor(version) == own)
                .collect(),
        };
        stream.check()?;
        Ok(stream)
    }

    /// Checks that the release is the highest of its minor.
    fn check(&self) -> Result<(), ZStreamError> {
        let version = self.release.version;
        let is_below = |known: &Version| known.cmp_precedence(version) == Ordering::Less;
        match self.minor.iter().find(|(_, known)| !is_below(known)) {
            None => Ok(()),
            Some((name, known)) => Err(ZStreamError::NotAbove {
                version: version.to_string().into(),
                name: (*name).into(),
                known: known.to_string().into(),
            }),
        }
    }

    /// Returns the place at which the release enters the main line.
    fn way(&self) -> Result<Entrance<'a>, ZStreamError> {
        let mut main = self
            .channel
            .entries
            .iter()
            .filter(|entry| self.is_main(entry));
        let is_met = |entry: &AuthoredEntry| {
            let replaces = entry.replaces.as_ref();
            self.has(&entry.name) || replaces.is_some_and(|name| self.has(name))
        };
        let version = self.release.version;
        match self.above {
            None => {
                let mut own = self.entries().filter(|entry| self.is_main(entry));
                Ok(own.next().map_or(Entrance::Top, |_| Entrance::Main))
            }
            Some(above) if self.entries().next().is_none() => Err(ZStreamError::BelowHead {
                version: version.to_string().into(),
                head: self.head.unwrap_or(above).into(),
            }),
            Some(_) if main.any(is_met) => Ok(Entrance::Main),
            Some(above) if self.minor.keys().any(|name| self.is_provided(name)) => {
                Ok(Entrance::Arm { above })
            }
            Some(_) => Err(ZStreamError::SideArm {
                major: version.major(),
                minor: version.minor(),
            }),
        }
    }

    /// Whether a name belongs to the minor.
    fn has(&self, name: &str) -> bool {
        self.minor.contains_key(name)
    }

    /// Returns a name of the minor with the lifetime of the channel.
    fn known(&self, name: Option<&str>) -> Option<&'a str> {
        self.minor.get_key_value(name?).map(|(name, _)| *name)
    }

    /// Whether an entry is on the main line, so nothing skips it.
    fn is_main(&self, entry: &AuthoredEntry) -> bool {
        self.main.contains(&*entry.name)
    }

    /// Whether an entry of the main line replaces or skips a name.
    fn is_provided(&self, name: &str) -> bool {
        self.provided.contains(name)
    }

    /// Returns the entries of the minor, the lowest first.
    fn entries(&self) -> impl Iterator<Item = &'a AuthoredEntry> {
        let names = self.in_order(self.names());
        let channel = self.channel;
        let entries: Vec<_> = names
            .iter()
            .filter_map(|name| channel.entry(name))
            .collect();
        entries.into_iter()
    }

    /// Sorts names of the minor by version.
    fn in_order<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<Box<str>> {
        let versions = names.filter_map(|name| self.minor.get_key_value(name));
        let mut versions: Vec<_> = versions.collect();
        versions.sort_by(|(_, one), (_, other)| one.cmp_precedence(other));
        let names = versions.into_iter();
        names.map(|(name, _)| Box::from(*name)).collect()
    }

    /// Returns every name of the minor.
    fn names(&self) -> impl Iterator<Item = &'a str> {
        self.minor.keys().copied()
    }
}

fn goes_up(
    line: &[&AuthoredEntry],
    version_of: &dyn Fn(&str) -> Option<Version>,
) -> Result<(), ZStreamError> {
    let versions = line.iter();
    let versions = versions.filter_map(|entry| Some((entry, version_of(&entry.name)?)));
    let versions: Vec<_> = versions.collect();
    for pair in versions.windows(2) {
        if let [(to, higher), (from, lower)] = pair
            && higher.cmp_precedence(lower).is_le()
        {
            return Err(ZStreamError::Down {
                from: from.name.clone(),
                to: to.name.clone(),
            });
        }
    }
    Ok(())
}
