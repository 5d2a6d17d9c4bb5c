//! One thing that changed, as data.

use olmguard_catalog::word_set;

word_set! {
    /// A kind of change, the most harmful first.
    pub enum ChangeKind {
        /// The package is gone.
        PackageRemoved => "package-removed",
        /// OLM cannot decode the package any more.
        PackageUnreadable => "package-unreadable",
        /// An installed version had a higher one in sight, and has none now.
        NewlyStranded => "newly-stranded",
        /// A version is another bundle than before.
        OtherBundle => "other-bundle",
        /// A channel is gone.
        ChannelRemoved => "channel-removed",
        /// An installed version lost successors and, left to itself, ends lower than before.
        SuccessorsLost => "successors-lost",
        /// A bundle is gone.
        BundleRemoved => "bundle-removed",
        /// What an installed version goes to by itself.
        PickChanged => "pick-changed",
        /// Something is deprecated now.
        Deprecated => "deprecated",
        /// The default channel.
        DefaultChannelChanged => "default-channel-changed",
        /// Where an installed version can go in one step.
        SuccessorsChanged => "successors-changed",
        /// An installed version has a higher one in sight again.
        NoLongerStranded => "no-longer-stranded",
        /// Something is no longer deprecated.
        Undeprecated => "undeprecated",
        /// OLM can decode the package again.
        PackageReadable => "package-readable",
        /// A new package.
        PackageAdded => "package-added",
        /// A new channel.
        ChannelAdded => "channel-added",
        /// A new bundle.
        BundleAdded => "bundle-added",
    }
}

word_set! {
    /// What a change means to users.
    pub enum Level {
        /// Somebody loses something.
        Harmful => "harmful",
        /// Somebody will notice.
        Notice => "notice",
        /// Nobody minds.
        Good => "good",
    }
}

/// Who is concerned: whoever has this installed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Who {
    /// The installed bundle.
    pub name: Box<str>,
    /// Its version; none for a name without a bundle that speaks of none.
    pub version: Option<Box<str>>,
    /// The channel of the Subscription, with OLM v0.
    pub channel: Option<Box<str>>,
}

/// A bundle, as far as it is told.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToldBundle {
    /// Its name.
    pub name: Box<str>,
    /// Its version, if it can be read.
    pub version: Option<Box<str>>,
    /// Its image, perhaps empty.
    pub image: Box<str>,
}

/// What can be deprecated.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum What {
    /// The package.
    Package,
    /// A channel.
    Channel(Box<str>),
    /// A bundle.
    Bundle(Box<str>),
}

/// One thing that changed.
#[derive(Clone, Debug, Eq, PartialEq)]
#[expect(missing_docs, reason = "the kinds say what the variants are")]
pub enum Change {
    PackageRemoved,
    PackageUnreadable,
    PackageReadable,
    PackageAdded,
    NewlyStranded {
        who: Who,
        before: Vec<Box<str>>,
    },
    NoLongerStranded {
        who: Who,
        after: Vec<Box<str>>,
    },
    SuccessorsLost {
        who: Who,
        lost: Vec<Box<str>>,
        left: Vec<Box<str>>,
    },
    SuccessorsChanged {
        who: Who,
        lost: Vec<Box<str>>,
        new: Vec<Box<str>>,
    },
    PickChanged {
        who: Who,
        before: Option<Box<str>>,
        after: Option<Box<str>>,
    },
    OtherBundle {
        before: ToldBundle,
        after: ToldBundle,
    },
    BundleRemoved {
        bundle: ToldBundle,
    },
    BundleAdded {
        bundle: ToldBundle,
    },
    ChannelRemoved {
        channel: Box<str>,
    },
    ChannelAdded {
        channel: Box<str>,
    },
    DefaultChannelChanged {
        before: Box<str>,
        after: Box<str>,
    },
    Deprecated {
        what: What,
        message: Box<str>,
    },
    Undeprecated {
        what: What,
    },
}

impl Change {
    /// Its kind.
    pub fn kind(&self) -> ChangeKind {
        match self {
            Self::PackageRemoved => ChangeKind::PackageRemoved,
            Self::PackageUnreadable => ChangeKind::PackageUnreadable,
            Self::PackageReadable => ChangeKind::PackageReadable,
            Self::PackageAdded => ChangeKind::PackageAdded,
            Self::NewlyStranded { .. } => ChangeKind::NewlyStranded,
            Self::NoLongerStranded { .. } => ChangeKind::NoLongerStranded,
            Self::SuccessorsLost { .. } => ChangeKind::SuccessorsLost,
            Self::SuccessorsChanged { .. } => ChangeKind::SuccessorsChanged,
            Self::PickChanged { .. } => ChangeKind::PickChanged,
            Self::OtherBundle { .. } => ChangeKind::OtherBundle,
            Self::BundleRemoved { .. } => ChangeKind::BundleRemoved,
            Self::BundleAdded { .. } => ChangeKind::BundleAdded,
            Self::ChannelRemoved { .. } => ChangeKind::ChannelRemoved,
            Self::ChannelAdded { .. } => ChangeKind::ChannelAdded,
            Self::DefaultChannelChanged { .. } => ChangeKind::DefaultChannelChanged,
            Self::Deprecated { .. } => ChangeKind::Deprecated,
            Self::Undeprecated { .. } => ChangeKind::Undeprecated,
        }
    }

    /// Who is concerned, if it is about something installed.
    pub fn who(&self) -> Option<&Who> {
        match self {
            Self::NewlyStranded { who, .. }
            | Self::NoLongerStranded { who, .. }
            | Self::SuccessorsLost { who, .. }
            | Self::SuccessorsChanged { who, .. }
            | Self::PickChanged { who, .. } => Some(who),
            _ => None,
        }
    }
}

impl ChangeKind {
    /// What it means to users.
    pub fn level(self) -> Level {
        if self <= Self::BundleRemoved {
            Level::Harmful
        } else if self <= Self::SuccessorsChanged {
            Level::Notice
        } else {
            Level::Good
        }
    }
}
