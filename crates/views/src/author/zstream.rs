//! A z-stream release: N = X.Y.Z takes the place of its minor's older releases in a channel.
//!
//! ```text
//! before   0.6.1 <-- 0.9.0 <-- 0.9.2        0.9.2 skips 0.9.1, which is only a name (virtual)
//! after    0.6.1 <-- 0.9.0 <-- 0.9.3        0.9.3 skips 0.9.1 and 0.9.2, both virtual now
//! ```
//!
//! The lowest entry of X.Y that nothing skips is the *anchor*: the way in from older minors. The other
//! entries of X.Y leave the channel; N replaces the anchor and skips every other name of X.Y that the
//! channel knows: entries, and names that `replaces` and `skips` speak of. What replaced or skipped a
//! name of X.Y from outside leads from N now, and what only the entries that left replaced or skipped,
//! N skips.
//!
//! Of a channel that passes `opm validate`, goes up in version, and has for every name but the head's
//! exactly one replacement that nothing skips, the result is such a channel again; every release of X.Y
//! that was known goes to N in one hop; no name gets lost. `tests` holds that against random histories.
//!
//! Where the main line skips the minor as a whole, its lowest entry is the anchor, and both are put into
//! the main line at their place by version: a skipped N would be offered to nobody by OLM v0. Where N is
//! above the head and its minor not on the main line, N replaces the head.
//!
//! With a range the entries of X.Y stay, N replaces the highest, and takes `>=X.Y.0 <X.Y.Z`, which
//! covers versions that no catalog has published, too.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use crate::author::channel::{
    AuthoredChannel, AuthoredEntry, ChannelFault, WildcardRange, range_below,
};
use olmguard_catalog::version::{Version, go};

/// The release that is added.
#[derive(Clone, Copy, Debug)]
pub struct StreamRelease<'a> {
    /// Name of the bundle.
    pub name: &'a str,
    /// Version of the bundle.
    pub version: &'a Version,
}

/// Treatment of the minor's older releases.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Manner {
    /// Remove them from the channel, except the anchor; N skips them.
    Skips,
    /// Keep them; N has a `skipRange` over them.
    Range,
}

/// A channel with the release in it, and what that changed besides.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ZStreamOutcome {
    /// The channel.
    pub channel: AuthoredChannel,
    /// The entries that left it.
    pub removed: Vec<AuthoredEntry>,
    /// Names whose version is not known: they stay as they are, whatever minor they are of.
    pub unread: Vec<Box<str>>,
}

/// Reason why a release cannot be added.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ZStreamError {
    /// The channel has no main line.
    #[error("{0}; mend the channel first, as opm validate wants it")]
    Channel(#[from] ChannelFault),
    /// The channel knows it.
    #[error(
        "{} is in the channel already: expected a new release",
        go::quote(name)
    )]
    Known {
        /// The bundle.
        name: Box<str>,
    },
    /// The channel has a newer release of the minor.
    #[error(
        "version {version} is not above {}, version {known}: expected the highest of its minor",
        go::quote(name)
    )]
    NotAbove {
        /// The version of the release.
        version: Box<str>,
        /// The bundle in its way.
        name: Box<str>,
        /// Version of the bundle.
        known: Box<str>,
    },
    /// The release would begin a minor below the head.
    #[error(
        "version {version} begins a minor below the head {}: expected a version above the head, or of a \
         minor that has an entry in the channel",
        go::quote(head)
    )]
    BelowHead {
        /// The version of the release.
        version: Box<str>,
        /// The head.
        head: Box<str>,
    },
    /// No `skipRange` ends at the version.
    #[error("{0}; omit --with-range")]
    Range(#[from] WildcardRange),
    /// Nothing on the main line leads on from the minor.
    #[error(
        "only entries that are skipped themselves replace or skip the releases of {major}.{minor}: \
         expected an entry on the way to the head that skips them"
    )]
    SideArm {
        /// The major of the release.
        major: u64,
        /// Minor of the release.
        minor: u64,
    },
    /// The main line leads to a lower version.
    #[error(
        "the channel leads from {} down to {}: expected each entry above the one it replaces",
        go::quote(from),
        go::quote(to)
    )]
    Down {
        /// From where.
        from: Box<str>,
        /// To where.
        to: Box<str>,
    },
}

/// Adds a release to a channel; `version_of` tells the version of a name, where one is known.
///
/// # Errors
/// Where the release has no place in the channel.
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

/// The entries, and those that left.
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

/// The entry of the minor that the release replaces: of the main line, or of any where none is on it
/// and the release does not go above the head.
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

/// Names beyond the minor that entries which leave replace or skip, and no entry of the main line that
/// stays: the release skips them.
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

/// Lets what is beyond the minor lead on from the release, and skip nothing of the minor; the names
/// that were skipped are handed over to the release.
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

/// Takes out of the anchor's edges what has another replacement: names of its own minor, which the
/// release skips; and, if it was off the main line, whatever the main line provides for.
fn settle(stream: &MinorStream<'_>, manner: Manner, anchor: &mut AuthoredEntry) {
    let is_main = stream.is_main(anchor);
    let is_provided = |name: &str| {
        (manner == Manner::Skips && stream.has(name)) || (!is_main && stream.is_provided(name))
    };
    anchor.skips.retain(|name| !is_provided(name));
    anchor.replaces.take_if(|name| is_provided(name));
}

/// Puts anchor and release into the main line below an entry.
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

// === A channel, seen from the minor of a release ===

/// The channel, and what of it is of the minor.
///
/// Invariant: the channel has a main line that goes up, and the release is new and above all of its
/// minor.
struct MinorStream<'a> {
    channel: &'a AuthoredChannel,
    release: StreamRelease<'a>,
    /// The name of the head; none of a channel without entries.
    head: Option<&'a str>,
    /// The entries of the main line, which nothing skips.
    main: BTreeSet<&'a str>,
    /// The names that those replace or skip.
    provided: BTreeSet<&'a str>,
    /// The lowest of them that is above the release.
    above: Option<&'a str>,
    /// Every name of the minor, with its version.
    minor: BTreeMap<&'a str, Version>,
}

/// How a release comes into the main line.
enum Entrance<'a> {
    /// In its minor, which is on the line.
    Main,
    /// Above the head: the minor is not on the line, and the release is higher.
    Top,
    /// Below this entry: the line skips the minor.
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

    /// Whether the release is the highest of its minor.
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

    /// How the release comes into the main line.
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

    /// Whether a name is of the minor.
    fn has(&self, name: &str) -> bool {
        self.minor.contains_key(name)
    }

    /// A name of the minor, as it is kept here.
    fn known(&self, name: Option<&str>) -> Option<&'a str> {
        self.minor.get_key_value(name?).map(|(name, _)| *name)
    }

    /// Whether an entry is on the main line, so that nothing skips it.
    fn is_main(&self, entry: &AuthoredEntry) -> bool {
        self.main.contains(&*entry.name)
    }

    /// Whether an entry of the main line replaces or skips a name.
    fn is_provided(&self, name: &str) -> bool {
        self.provided.contains(name)
    }

    /// The entries of the minor, lowest first.
    fn entries(&self) -> impl Iterator<Item = &'a AuthoredEntry> {
        let names = self.in_order(self.names());
        let channel = self.channel;
        let entries: Vec<_> = names
            .iter()
            .filter_map(|name| channel.entry(name))
            .collect();
        entries.into_iter()
    }

    /// Names of the minor by version.
    fn in_order<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<Box<str>> {
        let versions = names.filter_map(|name| self.minor.get_key_value(name));
        let mut versions: Vec<_> = versions.collect();
        versions.sort_by(|(_, one), (_, other)| one.cmp_precedence(other));
        let names = versions.into_iter();
        names.map(|(name, _)| Box::from(*name)).collect()
    }

    /// Every name of the minor.
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
