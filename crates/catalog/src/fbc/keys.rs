//! The keys of one blob, and whether two of them are spellings of one.
//!
//! Upstream folds with golang.org/x/text, `cases.Fold`: full Unicode case folding, so `ß` and
//! `ss` are one key.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use unicase::UniCase;

use crate::fbc::error::FbcErrorKind;
use crate::heap::allocated;

/// The keys of a blob, in the order read.
#[derive(Debug, Default)]
pub(super) struct Keys<'a>(Vec<Cow<'a, str>>);

impl<'a> Keys<'a> {
    /// What one key takes besides its text: a place in the list, and where there are many, one in the map
    /// of spellings with a set of its own.
    pub(super) const ROOM: usize = 3 * size_of::<Cow<'_, str>>()
        + 3 * size_of::<(String, BTreeSet<&str>)>()
        + allocated(11 * size_of::<&str>() + 16);

    pub(super) fn insert(&mut self, key: Cow<'a, str>) {
        self.0.push(key);
    }

    /// Whether this is one of them.
    pub(super) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|own| own == key)
    }

    /// The first fault, if keys differ in case only.
    pub(super) fn duplicate(&self) -> Option<FbcErrorKind> {
        self.duplicates().into_iter().next()
    }

    /// A fault for each key of which there are several spellings. Equal keys are none: the last one counts.
    pub(super) fn duplicates(&self) -> Vec<FbcErrorKind> {
        if self.are_plainly_distinct() {
            return Vec::new();
        }
        let mut spellings = BTreeMap::<String, BTreeSet<&str>>::new();
        for key in &self.0 {
            let folded = UniCase::unicode(key.as_ref()).to_folded_case();
            spellings.entry(folded).or_default().insert(key);
        }
        let several = spellings.into_iter().filter(|(_, keys)| keys.len() > 1);
        let fault = |(folded, keys): (String, BTreeSet<&str>)| FbcErrorKind::DuplicateKeys {
            folded: folded.into(),
            spellings: keys.into_iter().map(Box::from).collect(),
        };
        several.map(fault).collect()
    }

    /// A quick answer for the few ASCII keys that a blob usually has.
    fn are_plainly_distinct(&self) -> bool {
        let few = self.0.len() <= FEW;
        let distinct = |(n, key): (usize, &Cow<'_, str>)| {
            let earlier = self.0.iter().take(n);
            key.is_ascii()
                && !earlier
                    .into_iter()
                    .any(|other| key.eq_ignore_ascii_case(other))
        };
        few && self.0.iter().enumerate().all(distinct)
    }
}

/// Up to this many keys are compared each with each.
const FEW: usize = 16;
