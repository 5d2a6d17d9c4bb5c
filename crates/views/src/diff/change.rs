//! One thing that changed, as data.

/// A kind of change, the most harmful first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum ChangeKind {
    /// The package is gone.
    PackageRemoved,
    /// OLM cannot decode the package any more.
    PackageUnreadable,
    /// An installed version had a higher one in sight, and has none now.
    NewlyStranded,
    /// A version is another bundle than before.
    OtherBundle,
    /// A channel is gone.
    ChannelRemoved,
    /// An installed version lost successors and, left to itself, ends lower than before.
    SuccessorsLost,
    /// A bundle is gone.
    BundleRemoved,
    /// What an installed version goes to by itself.
    PickChanged,
    /// Something is deprecated now.
    Deprecated,
    /// The default channel.
    DefaultChannelChanged,
    /// Where an installed version can go in one step.
    SuccessorsChanged,
    /// An installed version has a higher one in sight again.
    NoLongerStranded,
    /// Something is no longer deprecated.
    Undeprecated,
    /// OLM can decode the package again.
    PackageReadable,
    /// A new package.
    PackageAdded,
    /// A new channel.
    ChannelAdded,
    /// A new bundle.
    BundleAdded,
}

/// What a change means to users.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Level {
    /// Somebody loses something.
    Harmful,
    /// Somebody will notice.
    Notice,
    /// Nobody minds.
    Good,
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
    /// All of them, the most harmful first.
    pub const ALL: [Self; 17] = [
        Self::PackageRemoved,
        Self::PackageUnreadable,
        Self::NewlyStranded,
        Self::OtherBundle,
        Self::ChannelRemoved,
        Self::SuccessorsLost,
        Self::BundleRemoved,
        Self::PickChanged,
        Self::Deprecated,
        Self::DefaultChannelChanged,
        Self::SuccessorsChanged,
        Self::NoLongerStranded,
        Self::Undeprecated,
        Self::PackageReadable,
        Self::PackageAdded,
        Self::ChannelAdded,
        Self::BundleAdded,
    ];

    /// Its name on the command line and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PackageRemoved => "package-removed",
            Self::PackageUnreadable => "package-unreadable",
            Self::NewlyStranded => "newly-stranded",
            Self::OtherBundle => "other-bundle",
            Self::ChannelRemoved => "channel-removed",
            Self::SuccessorsLost => "successors-lost",
            Self::BundleRemoved => "bundle-removed",
            Self::PickChanged => "pick-changed",
            Self::Deprecated => "deprecated",
            Self::DefaultChannelChanged => "default-channel-changed",
            Self::SuccessorsChanged => "successors-changed",
            Self::NoLongerStranded => "no-longer-stranded",
            Self::Undeprecated => "undeprecated",
            Self::PackageReadable => "package-readable",
            Self::PackageAdded => "package-added",
            Self::ChannelAdded => "channel-added",
            Self::BundleAdded => "bundle-added",
        }
    }

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

impl Level {
    /// Its name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Harmful => "harmful",
            Self::Notice => "notice",
            Self::Good => "good",
        }
    }
}
