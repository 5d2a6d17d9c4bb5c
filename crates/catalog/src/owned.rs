//! Blobs that outlive the text they were read from, for as long as their package is incomplete.

use std::borrow::Cow;

use crate::blob::{Channel, Deprecation, Entry, Package};

impl Package<'_> {
    pub(super) fn into_owned(self) -> Package<'static> {
        Package {
            default_channel: owned(self.default_channel),
            guardrails: self.guardrails.into_iter().map(owned).collect(),
            other_guardrails: self.other_guardrails.into_iter().map(owned).collect(),
        }
    }
}

impl Channel<'_> {
    pub(super) fn into_owned(self) -> Channel<'static> {
        Channel {
            name: owned(self.name),
            entries: self.entries.into_iter().map(Entry::into_owned).collect(),
        }
    }
}

impl Entry<'_> {
    fn into_owned(self) -> Entry<'static> {
        Entry {
            name: owned(self.name),
            replaces: owned(self.replaces),
            skips: self.skips.into_iter().map(owned).collect(),
            skip_range: owned(self.skip_range),
        }
    }
}

impl Deprecation<'_> {
    pub(super) fn into_owned(self) -> Deprecation<'static> {
        Deprecation {
            schema: owned(self.schema),
            name: owned(self.name),
            message: owned(self.message),
        }
    }
}

fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}
