//! A channel as its author edits it: entries with their edges, and all other members.

use std::collections::BTreeSet;
use std::fmt;

use crate::author::blob::{BlobText, CHANNEL, WrittenMembers, WrittenValue};
use crate::lint::{ChannelFault, OpmEntry, order};
use olmguard_catalog::version::comparator::{Side, VersionCut};
use olmguard_catalog::version::{SkipRange, Version, go, meaning};

/// An `olm.channel`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AuthoredChannel {
    /// Entries, in the order of the blob.
    pub entries: Vec<AuthoredEntry>,
    /// Members of the blob except the entries.
    rest: WrittenMembers,
}

/// An entry of a channel.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AuthoredEntry {
    /// Name of the bundle at which the edges end.
    pub name: Box<str>,
    /// Name that the entry replaces.
    pub replaces: Option<Box<str>>,
    /// Names that the entry skips.
    pub skips: Vec<Box<str>>,
    /// Version range that the entry skips.
    pub skip_range: Option<Box<str>>,
    /// Other members of the entry.
    rest: WrittenMembers,
}

impl AuthoredChannel {
    /// Creates a channel without entries.
    pub fn empty(package: &str, name: &str) -> Self {
        let blob = BlobText::of(CHANNEL, &[("package", package), ("name", name)]);
        Self {
            entries: Vec::new(),
            rest: blob.members.clone(),
        }
    }

    /// Reads a blob that decodes as a channel.
    pub fn of(blob: &BlobText) -> Self {
        let mut rest = blob.members.clone();
        let entries = rest.take("entries").unwrap_or_default();
        Self {
            entries: entries.items().iter().map(AuthoredEntry::of).collect(),
            rest,
        }
    }

    /// Converts the channel to a blob.
    pub fn into_blob(self) -> BlobText {
        let mut members = self.rest;
        let entries = self.entries.into_iter().map(AuthoredEntry::into_value);
        members.put("entries", WrittenValue::List(entries.collect()));
        BlobText::new(members)
    }

    /// Returns this channel with other entries.
    pub fn with(&self, entries: Vec<AuthoredEntry>) -> Self {
        let rest = self.rest.clone();
        Self { entries, rest }
    }

    /// Returns the name of the channel.
    pub fn name(&self) -> &str {
        let name = self.rest.get("name");
        name.and_then(WrittenValue::as_str).unwrap_or_default()
    }

    /// Returns the entry of a bundle.
    pub fn entry(&self, name: &str) -> Option<&AuthoredEntry> {
        self.entries.iter().find(|entry| *entry.name == *name)
    }

    /// Returns the entries from the head along `replaces`, up to a name that is skipped or has no entry. Empty for a
    /// channel without entries.
    ///
    /// # Errors
    /// The faults that `opm validate` finds.
    pub fn main_line(&self) -> Result<Vec<&AuthoredEntry>, ChannelFault> {
        if self.entries.is_empty() {
            return Ok(Vec::new());
        }
        let entries = self.entries.iter().map(|entry| OpmEntry {
            name: &entry.name,
            replaces: entry.replaces.as_deref().unwrap_or_default(),
            skips: entry.skips.iter().map(|skip| &**skip).collect(),
        });
        let line = order(&entries.collect::<Vec<_>>())?.into_iter();
        Ok(line.filter_map(|at| self.entries.get(at)).collect())
    }

    /// Returns every name in the channel once: its entries first, then the names that they replace and skip.
    pub fn known_names(&self) -> Vec<&str> {
        let own = self.entries.iter().map(|entry| &*entry.name);
        let left = self.entries.iter().flat_map(AuthoredEntry::left);
        let mut seen = BTreeSet::new();
        let names = own.chain(left).filter(|name| seen.insert(*name));
        names.collect()
    }
}

impl AuthoredEntry {
    /// Creates an entry without edges.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Returns the names at which its edges start: the replaced name, then the skipped ones.
    pub fn left(&self) -> impl Iterator<Item = &str> {
        self.replaces.iter().chain(&self.skips).map(|name| &**name)
    }

    fn of(value: &WrittenValue) -> Self {
        let mut rest = value.members().cloned().unwrap_or_default();
        let mut text = |key| {
            let value = rest.take(key);
            let text = value.as_ref().and_then(WrittenValue::as_str);
            text.filter(|text| !text.is_empty()).map(Box::from)
        };
        let (name, replaces, skip_range) = (text("name"), text("replaces"), text("skipRange"));
        let skips = rest.take("skips").unwrap_or_default();
        let skips = skips.items().iter().filter_map(WrittenValue::as_str);
        Self {
            name: name.unwrap_or_default(),
            replaces,
            skips: skips.map(Box::from).collect(),
            skip_range,
            rest,
        }
    }

    fn into_value(self) -> WrittenValue {
        let mut members = self.rest;
        members.put("name", (&*self.name).into());
        for (key, text) in [("replaces", self.replaces), ("skipRange", self.skip_range)] {
            if let Some(text) = text {
                members.put(key, (&*text).into());
            }
        }
        if !self.skips.is_empty() {
            let skips = self.skips.into_iter().map(WrittenValue::String);
            members.put("skips", WrittenValue::List(skips.collect()));
        }
        WrittenValue::Object(members)
    }
}

/// The error for a `skipRange` that OLM does not read as written.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "skipRange {} does not end at its version: OLM reads an x in a prerelease as a wildcard",
    go::quote(range)
)]
pub struct WildcardRange {
    range: Box<str>,
}

/// Returns the range from a version to just below another, if OLM reads it as written.
pub(super) fn range_below(
    lowest: impl fmt::Display,
    version: &Version,
) -> Result<Box<str>, WildcardRange> {
    let range = format!(">={lowest} <{version}");
    let read = SkipRange::parse(&range).ok();
    let taken = read.and_then(|read| meaning::skip_range(&read).ok());
    let last = taken.and_then(|taken| taken.into_iter().next_back());
    let is_below = last.is_some_and(|last| match last.span.upper {
        VersionCut::At(point, Side::Before) => {
            let end = Version::parse(&point.to_string());
            end.is_ok_and(|end| end.cmp_precedence(version).is_eq())
        }
        VersionCut::At(_, Side::After) | VersionCut::Unlimited => false,
    });
    let range = range.into();
    if is_below {
        Ok(range)
    } else {
        Err(WildcardRange { range })
    }
}
