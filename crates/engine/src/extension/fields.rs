//! The field paths of a filter in each API shape, and the words of the bypass.

use crate::extension::{Json, Shape};

/// The field paths and words of one shape, as messages name them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Fields {
    /// The keys down to the object that holds the others.
    pub(super) base: &'static [&'static str],
    /// The same as a field path.
    prefix: &'static str,
    /// The field for channels.
    pub channels: ChannelField,
    /// Whether catalogs can be selected.
    pub selector: SelectorField,
    /// The words of `upgradeConstraintPolicy` that set the bypass.
    pub bypass: BypassWords,
    /// The path of what the status says is installed.
    pub installed: &'static str,
}

/// The field of a shape for channels.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ChannelField {
    /// `channels`, a list.
    Many,
    /// `channel`, one name.
    One,
    /// Both are there, and no release of OLM reads both.
    Both,
}

/// Whether a shape can select catalogs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SelectorField {
    /// It has `selector`.
    Present,
    /// It reads every catalog.
    Absent,
}

/// The words of `upgradeConstraintPolicy` that set the bypass; the first is the one to suggest.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BypassWords {
    /// v0.16 and later.
    SelfCertified,
    /// v0.7 to v0.15.
    Ignore,
    /// Nothing in the object tells which of the two it is written for.
    Either,
}

impl Fields {
    /// The fields of an object in this shape.
    pub fn of<'a>(shape: Shape, object: impl Json<'a>) -> Self {
        match shape {
            Shape::V1 => NESTED,
            Shape::V1Alpha1Nested => Self::of_nested(object),
            Shape::V1Alpha1Flat | Shape::Operator => FLAT,
        }
    }

    /// v0.14 and v0.15 had `channel` and `Ignore`, later releases `channels` and `SelfCertified`;
    /// `installNamespace` was there in v0.14 only.
    fn of_nested<'a>(object: impl Json<'a>) -> Self {
        let has = |field: &str| {
            object
                .at(NESTED.base)
                .and_then(|catalog| catalog.get(field))
                .is_some_and(|v| !v.is_null())
        };
        let is_v0_14 = object
            .at(&["spec", "installNamespace"])
            .is_some_and(|name| !name.is_null());
        // `namespace` came in v0.18, after `SelfCertified`.
        let is_later = object
            .at(&["spec", "namespace"])
            .is_some_and(|name| !name.is_null());
        match (has("channels"), has("channel")) {
            (true, true) => Self {
                channels: ChannelField::Both,
                bypass: BypassWords::Either,
                ..NESTED
            },
            (true, false) => NESTED,
            (false, true) => Self {
                channels: ChannelField::One,
                bypass: BypassWords::Ignore,
                ..NESTED
            },
            (false, false) if is_v0_14 => Self {
                bypass: BypassWords::Ignore,
                ..NESTED
            },
            (false, false) if is_later => NESTED,
            (false, false) => Self {
                bypass: BypassWords::Either,
                ..NESTED
            },
        }
    }

    /// The path of the object that holds the others.
    pub fn prefix(&self) -> &'static str {
        self.prefix
    }

    /// The path of the package's name.
    pub fn package_name(&self) -> String {
        self.path("packageName")
    }

    /// Whether the CRD keeps the package of an object as it is: each one with `spec.source` does.
    pub fn is_package_immutable(&self) -> bool {
        self.base == NESTED.base
    }

    /// The path of the version range.
    pub fn version(&self) -> String {
        self.path("version")
    }

    /// The path of the channels, or of the one channel.
    pub fn channels(&self) -> String {
        self.path(self.channels.name())
    }

    /// The path of the catalog selector.
    pub fn selector(&self) -> String {
        match self.selector {
            SelectorField::Present => self.path("selector"),
            SelectorField::Absent => String::new(),
        }
    }

    /// The path of the policy.
    pub fn policy(&self) -> String {
        self.path("upgradeConstraintPolicy")
    }

    /// The keys from the object down to the field that decides: the version, otherwise the package.
    pub fn deciding(&self, has_version: bool) -> impl Iterator<Item = &'static str> {
        let field = if has_version {
            "version"
        } else {
            "packageName"
        };
        self.prefix.split('.').chain([field])
    }

    fn path(&self, field: &str) -> String {
        format!("{}.{field}", self.prefix)
    }
}

impl ChannelField {
    /// The name of the field.
    pub fn name(self) -> &'static str {
        match self {
            Self::Many | Self::Both => "channels",
            Self::One => "channel",
        }
    }
}

impl BypassWords {
    /// Whether a word sets the bypass.
    pub fn has(self, word: &str) -> bool {
        match self {
            Self::SelfCertified => word == "SelfCertified",
            Self::Ignore => word == "Ignore",
            Self::Either => matches!(word, "SelfCertified" | "Ignore"),
        }
    }

    /// The word to suggest.
    pub fn word(self) -> &'static str {
        match self {
            Self::SelfCertified | Self::Either => "SelfCertified",
            Self::Ignore => "Ignore",
        }
    }

    /// The word without the bypass, of the same release.
    pub fn opposite(self) -> &'static str {
        match self {
            Self::SelfCertified | Self::Either => "CatalogProvided",
            Self::Ignore => "Enforce",
        }
    }
}

const NESTED: Fields = Fields {
    base: &["spec", "source", "catalog"],
    prefix: "spec.source.catalog",
    channels: ChannelField::Many,
    selector: SelectorField::Present,
    bypass: BypassWords::SelfCertified,
    installed: "status.install.bundle",
};

const FLAT: Fields = Fields {
    base: &["spec"],
    prefix: "spec",
    channels: ChannelField::One,
    selector: SelectorField::Absent,
    bypass: BypassWords::Ignore,
    installed: "status.installedBundle",
};
