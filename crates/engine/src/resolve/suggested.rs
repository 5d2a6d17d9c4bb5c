//! The versions that are suggested to users among those that can be installed, and their order.
//!
//! OLM has no such order: it prefers the highest version, and a prerelease is a version like any other.

use crate::resolve::{Choice, Offer, Origin};
use olmguard_catalog::version::VersionRelease;

/// How far a version is meant for all users, in the order of lists.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Maturity {
    /// A release in the default channel of its package.
    DefaultChannel,
    /// Another release.
    Release,
    /// A prerelease, such as a nightly build.
    Prerelease,
}

impl Choice<'_> {
    /// Whether its version is a prerelease.
    pub fn is_prerelease(&self) -> bool {
        self.bundle().is_prerelease()
    }

    /// How far it is meant for all users.
    pub fn maturity(&self) -> Maturity {
        if self.is_prerelease() {
            Maturity::Prerelease
        } else if self.package.is_in_default_channel(self.index) {
            Maturity::DefaultChannel
        } else {
            Maturity::Release
        }
    }
}

impl Origin<'_> {
    /// Whether a user who names no version is shown the upgrade to a bundle: a prerelease only if one is installed.
    pub fn suggests(&self, to: &Choice<'_>) -> bool {
        self.is_prerelease() || !to.is_prerelease()
    }

    /// Whether a prerelease is installed, or a version that cannot be read.
    fn is_prerelease(&self) -> bool {
        let is_prerelease = |read: &VersionRelease| read.version.is_prerelease();
        self.version().is_none_or(is_prerelease)
    }

    /// The first of these steps that installs a prerelease, if a release is installed.
    pub fn first_prerelease<'s>(&self, steps: &[Choice<'s>]) -> Option<Choice<'s>> {
        steps.iter().copied().find(|step| !self.suggests(step))
    }

    /// Keeps the candidates that are suggested.
    pub fn keep_suggested(&self, offers: &mut [Offer<'_>]) {
        for offer in offers {
            offer.keep(|choice| self.suggests(choice));
        }
    }
}

impl<'s> Offer<'s> {
    /// Keeps some of the candidates.
    pub fn keep(&mut self, is_kept: impl Fn(&Choice<'s>) -> bool) {
        let (catalog, package) = (self.catalog, self.package);
        self.candidates.retain(|index| {
            is_kept(&Choice {
                catalog,
                package,
                index,
            })
        });
    }
}
