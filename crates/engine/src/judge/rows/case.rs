//! What the rows look at: a filter that was put to the catalogs, with what is installed.

use crate::judge::Ruling;
use crate::judge::filter_question::FilterQuestion;
use crate::judge::read_installed::ReadInstalled;
use crate::judge::ruled::{MatchedBundles, RuledEdit};
use crate::resolve::{Match, Offer, Origin, weigh};

/// One case of the decision table.
pub(super) struct Case<'a, 's> {
    pub(super) question: &'a FilterQuestion<'a, 's>,
    pub(super) installed: &'a ReadInstalled<'a>,
    /// What the filter and the edges leave in each catalog that has the package.
    pub(super) matches: Vec<Match<'a, 's>>,
}

impl<'a, 's> Case<'a, 's> {
    pub(super) fn of(
        question: &'a FilterQuestion<'a, 's>,
        installed: &'a ReadInstalled<'a>,
    ) -> Self {
        let origin = installed.origin();
        let binding = origin.filter(|_| !question.filter.bypasses());
        Self {
            question,
            installed,
            matches: weigh(question.offers(), binding),
        }
    }

    /// Where upgrade edges start, if that can be read.
    pub(super) fn origin(&self) -> Option<&'a Origin<'a>> {
        self.installed.origin()
    }

    /// The catalogs that have the package.
    pub(super) fn offers(&self) -> impl Iterator<Item = &'a Offer<'s>> + Clone {
        self.matches.iter().map(|found| found.offer)
    }

    /// Whether the package has a bundle in the asked channels and in the range.
    pub(super) fn has_candidates(&self) -> bool {
        self.offers().any(|offer| !offer.candidates.is_empty())
    }

    /// A ruling with what was found before it. The matches are over then.
    pub(super) fn with_evidence(&mut self, ruling: Ruling<'s>) -> RuledEdit<'s> {
        let is_bare = matches!(ruling, Ruling::InstalledVersionInvalid(_));
        let mut ruled = RuledEdit::from(ruling);
        if !is_bare {
            ruled.matched = self.matches.iter_mut().map(MatchedBundles::of).collect();
        }
        ruled
    }
}
