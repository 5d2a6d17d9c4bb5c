//! One thing that changed, as data.

use olmguard_catalog::word_set;
use serde::Serialize;

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

/// Installed version of affected users.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "InstalledReport")]
pub struct Who {
    /// Name of the installed bundle.
    pub name: Box<str>,
    /// Version of the installed bundle. Null if unknown.
    pub version: Option<Box<str>>,
    /// Channel of the Subscription. Only with OLM v0.
    pub channel: Option<Box<str>>,
}

/// A bundle of the catalog.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "HeldReport")]
pub struct ReportedBundle {
    /// Name of the bundle.
    pub name: Box<str>,
    /// Version of the bundle. Null if it cannot be read.
    pub version: Option<Box<str>>,
    /// Image of the bundle. Null if unknown.
    pub image: Option<Box<str>>,
}

impl ReportedBundle {
    /// A bundle by its name alone.
    pub(super) fn named(name: &str) -> Self {
        Self {
            name: name.into(),
            version: None,
            image: None,
        }
    }
}

/// One thing that changed.
///
/// Invariant: its kind decides which fields are set. [`ChangeKind::OtherBundle`] has both bundles.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Change {
    /// Its kind.
    pub kind: ChangeKind,
    /// The users that the change affects, if it is about an installed bundle.
    pub who: Option<Who>,
    /// The bundle that was added, removed or deprecated; with another content, the bundle before the change.
    pub bundle: Option<ReportedBundle>,
    /// The bundle after the change, if its content is another.
    pub other: Option<ReportedBundle>,
    /// The channel that was added, removed or deprecated.
    pub channel: Option<Box<str>>,
    /// Before the change: the lost successors, the automatic upgrade, or the default channel.
    pub before: Vec<Box<str>>,
    /// After the change: the new or remaining successors, the automatic upgrade, or the default channel.
    pub after: Vec<Box<str>>,
    /// The message of a deprecation.
    pub message: Box<str>,
}

impl Change {
    /// A change of this kind, without any other field.
    pub(super) fn of(kind: ChangeKind) -> Self {
        Self {
            kind,
            who: None,
            bundle: None,
            other: None,
            channel: None,
            before: Vec::new(),
            after: Vec::new(),
            message: Box::default(),
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
