//! Why an edit that pins the version of a bundle does not give that bundle.

use crate::resolve::olmv1::{Choice, ChoiceError, choose_among};
use crate::resolve::path::pins::{Pin, Pins};
use crate::resolve::{Offer, Origin};
use olmguard_catalog::version::Version;

/// The edits that pin one version each, from what is installed.
#[derive(Debug)]
pub struct Edits<'o, 's> {
    offers: &'o [Offer<'s>],
    /// The highest version first.
    pins: Vec<Pin<'s>>,
}

/// Why an edit does not give a bundle.
#[derive(Clone, Debug)]
pub enum NotGiven<'s> {
    /// Catalogs of one priority have the version: these.
    Ambiguous(Vec<Choice<'s>>),
    /// It gives this one: of another catalog, or of the same version.
    Another(Choice<'s>),
    /// It chooses this one, and then refuses it.
    Refused(Choice<'s>),
    /// No edit pins the version: a `skipRange` crashes OLM over it, or no edge leads to it.
    NoPin,
}

impl<'o, 's> Edits<'o, 's> {
    /// The edits that some offer accepts from here.
    pub fn of(offers: &'o [Offer<'s>], origin: &Origin<'_>) -> Self {
        Self {
            offers,
            pins: Pins::of(offers, origin).pins,
        }
    }

    /// Why the edit that pins a bundle's version does not give it; `None` where it does, and for a
    /// bundle whose version cannot be read.
    pub fn not_given(&self, bundle: &Choice<'s>) -> Option<NotGiven<'s>> {
        let version = &bundle.bundle().version.as_ref().ok()?.version;
        let pinned = self.pinning(version).iter();
        let candidates =
            pinned.filter_map(|pin| Some(self.offers.get(pin.offer)?.choice(pin.bundle)));
        match choose_among(candidates) {
            Ok(resolved) if resolved.choice == *bundle => None,
            Ok(resolved) => Some(NotGiven::Another(resolved.choice)),
            Err(ChoiceError::Nothing) => Some(NotGiven::NoPin),
            Err(ChoiceError::Ambiguous(left)) => Some(NotGiven::Ambiguous(left)),
            Err(ChoiceError::BundleVersion(choice, _) | ChoiceError::Dependency(choice, _)) => {
                Some(NotGiven::Refused(choice))
            }
        }
    }

    /// What would be given for a version, one bundle of each offer.
    fn pinning(&self, version: &Version) -> &[Pin<'s>] {
        let is_above = |pin: &Pin<'_>| pin.version.cmp_precedence(version).is_gt();
        let begin = self.pins.partition_point(is_above);
        let rest = self.pins.get(begin..).unwrap_or_default();
        let is_same = |pin: &Pin<'_>| pin.version.cmp_precedence(version).is_eq();
        let end = rest.partition_point(is_same);
        rest.get(..end).unwrap_or_default()
    }
}
