//! The generated channels, their edges, and the default channel.
//!
//! Each archetype (candidate, fast, stable) and each kind (major, minor) has one channel per
//! stream, such as `stable-v1` or `stable-v1.2`. Entries are in ascending version order, and prereleases are
//! treated like other versions. Edges, within one archetype, kind and major:
//!
//! ```text
//! 0.1.0  0.1.1  0.1.2 <-- replaces -- 0.2.1      only the highest of a minor has any;
//!   ^------^------------- skips ----- 0.2.1      it skips all lower ones of the major
//!                         skips 0.2.0 --'
//! ```
//!
//! Channels are considered in the order in which a bundle first needs them. The default channel is the one of the
//! highest archetype, then of the highest *first* version, then of the preferred kind. With both kinds, the newest
//! minor channel therefore wins over a major channel that an earlier minor started, as in upstream. If every
//! first version is below 0.0.0, no channel is above the initial value of upstream, and the default channel is
//! empty.

use std::cmp::Ordering;

use crate::author::channel::{AuthoredChannel, AuthoredEntry};
use olmguard_catalog::version::Version;
use olmguard_catalog::word_set;

word_set! {
    /// Maturity of the bundles of a list, in ascending order.
    pub enum Archetype {
        /// `candidate`
        Candidate => "candidate",
        /// `fast`
        Fast => "fast",
        /// `stable`
        Stable => "stable",
    }
}

word_set! {
    /// Stream of a channel, in upstream's order.
    pub enum ChannelKind {
        /// The channel follows one major version.
        Major => "major",
        /// The channel follows one minor version.
        Minor => "minor",
    }
}

/// Kinds of channels to generate, at least one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kinds {
    /// Only this kind.
    Only(ChannelKind),
    /// Both kinds of channels. The default channel is preferably of this kind.
    Both(ChannelKind),
}

/// A bundle with its version.
#[derive(Clone, Debug)]
pub struct ChannelRelease {
    /// Name of the bundle.
    pub name: Box<str>,
    /// Version of the bundle.
    pub version: Version,
}

/// The generated channels.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Streams {
    /// Channels in the order in which a bundle first needs them.
    pub channels: Vec<AuthoredChannel>,
    /// Name of the default channel.
    pub default_channel: Box<str>,
}

/// Generates the channels of a package. Versions within an archetype must be different.
pub fn generate(package: &str, releases: &[(Archetype, ChannelRelease)], kinds: Kinds) -> Streams {
    let mut releases: Vec<_> = releases.iter().collect();
    releases.sort_by(|(a, one), (b, other)| {
        a.cmp(b)
            .then_with(|| one.version.cmp_precedence(&other.version))
    });
    let mut channels: Vec<(Box<str>, AuthoredChannel)> = Vec::new();
    let mut best: Option<Candidate<'_>> = None;
    for (archetype, release) in &releases {
        for kind in kinds.all() {
            let name = channel_name(*archetype, kind, &release.version);
            let entry = entry(&releases, *archetype, release);
            if let Some((_, channel)) = channels.iter_mut().find(|(own, _)| **own == *name) {
                channel.entries.push(entry);
                continue;
            }
            let candidate = Candidate {
                name: name.clone(),
                archetype: *archetype,
                version: &release.version,
                kind,
            };
            if candidate.is_better_than(best.as_ref(), kinds.preferred()) {
                best = Some(candidate);
            }
            let mut channel = AuthoredChannel::empty(package, &name);
            channel.entries.push(entry);
            channels.push((name, channel));
        }
    }
    Streams {
        channels: channels.into_iter().map(|(_, channel)| channel).collect(),
        default_channel: best.map(|best| best.name).unwrap_or_default(),
    }
}

/// Creates the entry of a release with its edges, which are the same in both kinds of channels.
fn entry(
    sorted: &[&(Archetype, ChannelRelease)],
    archetype: Archetype,
    release: &ChannelRelease,
) -> AuthoredEntry {
    let mut entry = AuthoredEntry::named(&release.name);
    let major = release.version.major();
    let in_major: Vec<&ChannelRelease> = sorted
        .iter()
        .filter(|(own, other)| *own == archetype && other.version.major() == major)
        .map(|(_, other)| other)
        .collect();
    let is_above =
        |other: &&&ChannelRelease| other.version.cmp_precedence(&release.version).is_gt();
    let same_minor = |other: &&&ChannelRelease| other.version.minor() == release.version.minor();
    let mut in_minor = in_major.iter().filter(same_minor);
    if in_minor.any(|other| is_above(&other)) {
        return entry;
    }
    let lower = in_major
        .iter()
        .filter(|other| !is_above(other) && other.name != release.name);
    let replaced = lower.clone().rev().find(|other| !same_minor(other));
    entry.replaces = replaced.map(|replaced| replaced.name.clone());
    let skipped = lower.filter(|other| replaced.is_none_or(|replaced| replaced.name != other.name));
    entry.skips = skipped.map(|other| other.name.clone()).collect();
    entry.skips.sort_unstable();
    entry
}

/// A channel as a candidate for the default.
struct Candidate<'a> {
    name: Box<str>,
    archetype: Archetype,
    version: &'a Version,
    kind: ChannelKind,
}

impl Candidate<'_> {
    fn is_better_than(&self, other: Option<&Self>, preferred: ChannelKind) -> bool {
        let Some(other) = other else {
            return self.beats_the_mark();
        };
        let order = self
            .archetype
            .cmp(&other.archetype)
            .then_with(|| self.version.cmp_precedence(other.version));
        match order {
            Ordering::Equal => self.kind != other.kind && self.kind == preferred,
            order => order.is_gt(),
        }
    }

    /// Whether the channel is above upstream's initial value: a candidate of version 0.0.0 and no kind.
    fn beats_the_mark(&self) -> bool {
        let version = self.version;
        let is_zero = [version.major(), version.minor(), version.patch()] == [0, 0, 0];
        self.archetype > Archetype::Candidate || !is_zero || !version.is_prerelease()
    }
}

impl Streams {
    /// Returns the bundle of the highest version in the default channel.
    pub(super) fn head(&self) -> Option<&str> {
        let default = &*self.default_channel;
        let mut channels = self.channels.iter();
        let channel = channels.find(|channel| channel.name() == default)?;
        channel.entries.last().map(|entry| &*entry.name)
    }
}

impl Kinds {
    fn all(self) -> impl Iterator<Item = ChannelKind> {
        let is_generated = move |kind: &ChannelKind| match self {
            Self::Only(only) => *kind == only,
            Self::Both(_) => true,
        };
        [ChannelKind::Major, ChannelKind::Minor]
            .into_iter()
            .filter(is_generated)
    }

    fn preferred(self) -> ChannelKind {
        let (Self::Only(kind) | Self::Both(kind)) = self;
        kind
    }
}

fn channel_name(archetype: Archetype, kind: ChannelKind, version: &Version) -> Box<str> {
    let (archetype, major) = (archetype.as_str(), version.major());
    match kind {
        ChannelKind::Major => format!("{archetype}-v{major}").into(),
        ChannelKind::Minor => format!("{archetype}-v{major}.{}", version.minor()).into(),
    }
}
