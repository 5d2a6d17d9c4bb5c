//! A channel, seen from the minor of a release.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::{StreamRelease, ZStreamError};
use crate::author::channel::{AuthoredChannel, AuthoredEntry};
use olmguard_catalog::version::Version;

/// The channel, and what of it is of the minor.
///
/// Invariant: the channel has a main line that goes up, and the release is new and above all of its
/// minor.
pub(super) struct MinorStream<'a> {
    pub(super) channel: &'a AuthoredChannel,
    pub(super) release: StreamRelease<'a>,
    /// The name of the head; none of a channel without entries.
    pub(super) head: Option<&'a str>,
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
pub(super) enum Entrance<'a> {
    /// In its minor, which is on the line.
    Main,
    /// Above the head: the minor is not on the line, and the release is higher.
    Top,
    /// Below this entry: the line skips the minor.
    Arm { above: &'a str },
}

impl<'a> MinorStream<'a> {
    pub(super) fn of(
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
    pub(super) fn way(&self) -> Result<Entrance<'a>, ZStreamError> {
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
    pub(super) fn has(&self, name: &str) -> bool {
        self.minor.contains_key(name)
    }

    /// A name of the minor, as it is kept here.
    pub(super) fn known(&self, name: Option<&str>) -> Option<&'a str> {
        self.minor.get_key_value(name?).map(|(name, _)| *name)
    }

    /// Whether an entry is on the main line, so that nothing skips it.
    pub(super) fn is_main(&self, entry: &AuthoredEntry) -> bool {
        self.main.contains(&*entry.name)
    }

    /// Whether an entry of the main line replaces or skips a name.
    pub(super) fn is_provided(&self, name: &str) -> bool {
        self.provided.contains(name)
    }

    /// The entries of the minor, lowest first.
    pub(super) fn entries(&self) -> impl Iterator<Item = &'a AuthoredEntry> {
        let names = self.in_order(self.names());
        let channel = self.channel;
        let entries: Vec<_> = names
            .iter()
            .filter_map(|name| channel.entry(name))
            .collect();
        entries.into_iter()
    }

    /// Names of the minor by version.
    pub(super) fn in_order<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<Box<str>> {
        let versions = names.filter_map(|name| self.minor.get_key_value(name));
        let mut versions: Vec<_> = versions.collect();
        versions.sort_by(|(_, one), (_, other)| one.cmp_precedence(other));
        let names = versions.into_iter();
        names.map(|(name, _)| Box::from(*name)).collect()
    }

    /// Every name of the minor.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
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
