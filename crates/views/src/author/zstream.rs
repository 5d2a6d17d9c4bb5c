//! A z-stream release: N = X.Y.Z takes the place of its minor's older releases in a channel.
//!
//! ```text
//! before   0.6.1 <-- 0.9.0 <-- 0.9.2        0.9.2 skips 0.9.1, which is only a name (virtual)
//! after    0.6.1 <-- 0.9.0 <-- 0.9.3        0.9.3 skips 0.9.1 and 0.9.2, both virtual now
//! ```
//!
//! The lowest entry of X.Y that nothing skips is the *anchor*: the way in from older minors. The other
//! entries of X.Y leave the channel; N replaces the anchor and skips every other name of X.Y that the
//! channel knows: entries, and names that `replaces` and `skips` speak of. What replaced or skipped a
//! name of X.Y from outside leads from N now, and what only the entries that left replaced or skipped,
//! N skips.
//!
//! Of a channel that passes `opm validate`, goes up in version, and has for every name but the head's
//! exactly one replacement that nothing skips, the result is such a channel again; every release of X.Y
//! that was known goes to N in one hop; no name gets lost. `tests` holds that against random histories.
//!
//! Where the main line skips the minor as a whole, its lowest entry is the anchor, and both are put into
//! the main line at their place by version: a skipped N would be offered to nobody by OLM v0. Where N is
//! above the head and its minor not on the main line, N replaces the head.
//!
//! With a range the entries of X.Y stay, N replaces the highest, and takes `>=X.Y.0 <X.Y.Z`, which
//! covers versions that no catalog has published, too.

mod rewrite;
mod stream;
#[cfg(test)]
mod tests;

use crate::author::channel::{Channel, ChannelFault, Entry};
use olmguard_catalog::version::{Version, go};
use stream::Stream;

/// The release that is added.
#[derive(Clone, Copy, Debug)]
pub struct Release<'a> {
    /// Its bundle.
    pub name: &'a str,
    /// The version of that.
    pub version: &'a Version,
}

/// What becomes of the minor's older releases.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Manner {
    /// They leave the channel, but for the anchor; N skips them.
    Skips,
    /// They stay; N has a `skipRange` over them.
    Range,
}

/// A channel with the release in it, and what that changed besides.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Outcome {
    /// The channel.
    pub channel: Channel,
    /// The entries that left it.
    pub removed: Vec<Entry>,
    /// Names whose version is not known: they stay as they are, whatever minor they are of.
    pub unread: Vec<Box<str>>,
}

/// Why a release cannot be added.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ZStreamError {
    /// The channel has no main line.
    #[error("{0}; mend the channel first, as opm validate wants it")]
    Channel(#[from] ChannelFault),
    /// The channel knows it.
    #[error(
        "{} is in the channel already: expected a new release",
        go::quote(name)
    )]
    Known {
        /// The bundle.
        name: Box<str>,
    },
    /// Its minor has gone further.
    #[error(
        "version {version} is not above {}, version {known}: expected the highest of its minor",
        go::quote(name)
    )]
    NotAbove {
        /// The version of the release.
        version: Box<str>,
        /// The bundle in its way.
        name: Box<str>,
        /// The version of that.
        known: Box<str>,
    },
    /// It would begin a minor below the head.
    #[error(
        "version {version} begins a minor below the head {}: expected a version above the head, or of a \
         minor that has an entry in the channel",
        go::quote(head)
    )]
    BelowHead {
        /// The version of the release.
        version: Box<str>,
        /// The head.
        head: Box<str>,
    },
    /// Nothing on the main line leads on from the minor.
    #[error(
        "only entries that are skipped themselves replace or skip the releases of {major}.{minor}: \
         expected an entry on the way to the head that skips them"
    )]
    SideArm {
        /// The major of the release.
        major: u64,
        /// Its minor.
        minor: u64,
    },
    /// The main line leads to a lower version.
    #[error(
        "the channel leads from {} down to {}: expected each entry above the one it replaces",
        go::quote(from),
        go::quote(to)
    )]
    Down {
        /// From where.
        from: Box<str>,
        /// To where.
        to: Box<str>,
    },
}

/// Adds a release to a channel; `version_of` tells the version of a name, where one is known.
///
/// # Errors
/// Where the release has no place in the channel.
pub fn add(
    channel: &Channel,
    release: Release<'_>,
    manner: Manner,
    version_of: &dyn Fn(&str) -> Option<Version>,
) -> Result<Outcome, ZStreamError> {
    let known = channel.known_names();
    let unread = known.iter().filter(|name| version_of(name).is_none());
    let unread = unread.map(|name| Box::from(*name)).collect();
    let stream = Stream::of(channel, release, version_of)?;
    let (entries, removed) = rewrite::rewrite(&stream, manner)?;
    let channel = channel.with(entries);
    Ok(Outcome {
        channel,
        removed,
        unread,
    })
}
