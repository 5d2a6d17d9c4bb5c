//! A channel, seen from the minor of a release.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::{Release, ZStreamError};
use crate::author::channel::{Channel, Entry};
use crate::version::Version;

/// The channel, and what of it is of the minor.
///
/// Invariant: the channel has a main line that goes up, and the release is new and above all of its
/// minor; where the minor has no entry, it is above the head.
pub(super) struct Stream<'a> {
    pub(super) channel: &'a Channel,
    pub(super) release: Release<'a>,
    /// The name of the head; none of a channel without entries.
    pub(super) head: Option<&'a str>,
    /// The entries of the main line, with how many stand above each.
    main: BTreeMap<&'a str, usize>,
    /// Every name of the minor, with its version.
    minor: BTreeMap<&'a str, Version>,
}

impl<'a> Stream<'a> {
    pub(super) fn of(
        channel: &'a Channel,
        release: Release<'a>,
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
        let versions = known
            .iter()
            .filter_map(|name| Some((*name, version_of(name)?)));
        let stream = Self {
            channel,
            release,
            head: line.first().map(|head| &*head.name),
            main: line.iter().map(|entry| &*entry.name).zip(0..).collect(),
            minor: versions
                .filter(|(_, version)| minor(version) == own)
                .collect(),
        };
        stream.is_above(version_of)?;
        Ok(stream)
    }

    /// Whether the release is above what it is put above.
    fn is_above(&self, version_of: &dyn Fn(&str) -> Option<Version>) -> Result<(), ZStreamError> {
        let version = self.release.version;
        let is_below = |known: &Version| known.cmp_precedence(version) == Ordering::Less;
        let above = self.minor.iter().find(|(_, known)| !is_below(known));
        if let Some((name, known)) = above {
            return Err(ZStreamError::NotAbove {
                version: version.to_string().into(),
                name: (*name).into(),
                known: known.to_string().into(),
            });
        }
        let head = self.head.filter(|_| self.entries().next().is_none());
        let head = head.and_then(|head| Some((head, version_of(head)?)));
        match head {
            Some((head, known)) if !is_below(&known) => Err(ZStreamError::BelowHead {
                version: version.to_string().into(),
                head: head.into(),
            }),
            _ => Ok(()),
        }
    }

    /// Whether a name is of the minor.
    pub(super) fn has(&self, name: &str) -> bool {
        self.minor.contains_key(name)
    }

    /// Whether an entry is on the main line, so that nothing skips it.
    pub(super) fn is_main(&self, entry: &Entry) -> bool {
        self.place(entry).is_some()
    }

    /// How many entries stand above this one, if it is on the main line.
    pub(super) fn place(&self, entry: &Entry) -> Option<usize> {
        self.main.get(&*entry.name).copied()
    }

    /// The entries of the minor, lowest first.
    pub(super) fn entries(&self) -> impl DoubleEndedIterator<Item = &'a Entry> {
        let names = self.in_order(self.minor.keys().copied());
        let channel = self.channel;
        let entries: Vec<_> = names
            .iter()
            .filter_map(|name| channel.entry(name))
            .collect();
        entries.into_iter()
    }

    /// Names of the minor by version.
    pub(super) fn in_order<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<Box<str>> {
        let mut versions: Vec<_> = names
            .filter_map(|name| self.minor.get_key_value(name))
            .collect();
        versions.sort_by(|(_, one), (_, other)| one.cmp_precedence(other));
        versions
            .into_iter()
            .map(|(name, _)| Box::from(*name))
            .collect()
    }

    /// Every name of the minor.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.minor.keys().copied()
    }
}

fn goes_up(
    line: &[&Entry],
    version_of: &dyn Fn(&str) -> Option<Version>,
) -> Result<(), ZStreamError> {
    let versions = line
        .iter()
        .filter_map(|entry| Some((entry, version_of(&entry.name)?)));
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
