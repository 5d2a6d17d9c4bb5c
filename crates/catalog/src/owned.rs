//! Blobs that outlive the text they were read from, until their package is complete.

use std::borrow::Cow;

use crate::blob::{ChannelBlob, ChannelEntry, DeprecationEntry, PackageBlob};
use crate::memory::{allocated, flat, heap_of};

/// A channel whose texts are stored in one string, because it can have an entry for each bundle of
/// its package.
#[derive(Debug)]
pub(super) struct OwnedChannel {
    texts: Box<str>,
    /// End of the channel's name, which is the first of the texts.
    name: usize,
    entries: Box<[OwnedEntry]>,
    /// Ends of the names that entries skip.
    skips: Box<[usize]>,
}

/// Ends of the texts of an entry. The texts are in the order of the fields.
#[derive(Clone, Copy, Debug)]
struct OwnedEntry {
    name: usize,
    replaces: usize,
    skip_range: usize,
    /// Number of names that the entries up to this one skip.
    skips: usize,
}

/// The part of a text that has not been read yet.
struct Rest<'t> {
    text: &'t str,
    at: usize,
}

impl OwnedChannel {
    /// Bytes per entry in addition to the texts.
    pub(super) const PER_ENTRY: usize = size_of::<OwnedEntry>();

    pub(super) fn of(channel: &ChannelBlob<'_>) -> Self {
        let entries = &channel.entries;
        let lengths = entries.iter().map(|entry| {
            let skips: usize = entry.skips.iter().map(|name| name.len()).sum();
            entry.name.len() + entry.replaces.len() + entry.skip_range.len() + skips
        });
        let mut texts = String::with_capacity(channel.name.len() + lengths.sum::<usize>());
        let mut skips = Vec::with_capacity(entries.iter().map(|entry| entry.skips.len()).sum());
        let mut push = |text: &str| {
            texts.push_str(text);
            texts.len()
        };
        let name = push(&channel.name);
        let entries = entries.iter().map(|entry| OwnedEntry {
            name: push(&entry.name),
            replaces: push(&entry.replaces),
            skip_range: push(&entry.skip_range),
            skips: {
                skips.extend(entry.skips.iter().map(|name| push(name)));
                skips.len()
            },
        });
        Self {
            name,
            entries: entries.collect(),
            skips: skips.into(),
            texts: texts.into(),
        }
    }

    /// Returns the channel, which borrows its texts.
    pub(super) fn read(&self) -> ChannelBlob<'_> {
        let mut rest = Rest {
            text: &self.texts,
            at: 0,
        };
        let name = rest.until(self.name);
        let mut skipped = 0;
        let entries = self.entries.iter().map(|entry| {
            let skips = self.skips.get(skipped..entry.skips).unwrap_or_default();
            skipped = entry.skips;
            ChannelEntry {
                name: rest.until(entry.name),
                replaces: rest.until(entry.replaces),
                skip_range: rest.until(entry.skip_range),
                skips: skips.iter().map(|end| rest.until(*end)).collect(),
            }
        });
        ChannelBlob {
            entries: entries.collect(),
            name,
        }
    }

    /// Length of the channel's name in bytes.
    pub(super) fn name_len(&self) -> usize {
        self.name
    }

    /// Memory that [`Self::read`] uses, in bytes.
    pub(super) fn read_bytes(&self) -> usize {
        let skips = size_of::<Cow<'_, str>>() + allocated(1);
        allocated(size_of::<ChannelBlob<'_>>())
            + allocated(self.entries.len() * size_of::<ChannelEntry<'_>>())
            + self.skips.len() * skips
    }
}

impl<'t> Rest<'t> {
    fn until(&mut self, end: usize) -> Cow<'t, str> {
        let text = self.text.get(self.at..end).unwrap_or_default();
        self.at = end;
        Cow::Borrowed(text)
    }
}

flat!(OwnedEntry);
heap_of!(OwnedChannel: texts, entries, skips; name);

impl PackageBlob<'_> {
    pub(super) fn into_owned(self) -> PackageBlob<'static> {
        PackageBlob {
            default_channel: owned(self.default_channel),
            guardrails: self.guardrails.into_iter().map(owned).collect(),
            other_guardrails: self.other_guardrails.into_iter().map(owned).collect(),
        }
    }
}

impl DeprecationEntry<'_> {
    pub(super) fn into_owned(self) -> DeprecationEntry<'static> {
        DeprecationEntry {
            schema: owned(self.schema),
            name: owned(self.name),
            message: owned(self.message),
        }
    }
}

fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owned_channel_is_what_it_was() {
        let entry =
            |name: &'static str, replaces: &'static str, skips: &[&'static str]| ChannelEntry {
                name: name.into(),
                replaces: replaces.into(),
                skips: skips.iter().map(|name| Cow::Borrowed(*name)).collect(),
                skip_range: if skips.is_empty() { "" } else { "<2.0.0" }.into(),
            };
        let entries = vec![
            entry("a", "", &[]),
            entry("", "a", &["b", "", "c\u{e9}"]),
            entry("d", "", &["e"]),
        ];
        for (name, entries) in [("stable", entries), ("", Vec::new())] {
            let name = name.into();
            let channel = ChannelBlob { name, entries };
            let owned = OwnedChannel::of(&channel);
            assert_eq!(owned.read(), channel);
        }
    }
}
