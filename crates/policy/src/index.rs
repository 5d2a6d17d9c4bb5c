//! An index of policies that finds those that can match an extension, without checking every
//! policy.
//!
//! A policy is filed under one part of its `match` that an extension must meet:
//!
//! | `match` | filed under |
//! | --- | --- |
//! | `packages` | each name, up to its first wildcard |
//! | otherwise a label with required values | each of the values |
//! | neither | nothing: a candidate for every extension |
//!
//! Invariant: the candidates contain every policy that matches. They may contain others.

use std::collections::{BTreeMap, BTreeSet};

use crate::change::Subject;
use crate::limits;
use crate::policy::UpgradePolicy;

/// The positions of policies in a list, by what they match.
#[derive(Clone, Debug, Default)]
pub struct PolicyIndex {
    by_package: BTreeMap<Box<str>, Vec<usize>>,
    by_package_prefix: BTreeMap<Box<str>, Vec<usize>>,
    by_label: BTreeMap<Box<str>, BTreeMap<Box<str>, Vec<usize>>>,
    others: Vec<usize>,
}

impl PolicyIndex {
    /// Builds the index of these policies.
    pub fn of<'p>(policies: impl IntoIterator<Item = &'p UpgradePolicy>) -> Self {
        let mut index = Self::default();
        for (place, policy) in policies.into_iter().enumerate() {
            index.file(place, policy);
        }
        index
    }

    fn file(&mut self, place: usize, policy: &UpgradePolicy) {
        if let Some(patterns) = policy.matching.packages() {
            for pattern in patterns {
                let (map, key) = match pattern.split_once('*') {
                    Some((prefix, _)) => (&mut self.by_package_prefix, prefix),
                    None => (&mut self.by_package, &**pattern),
                };
                map.entry(key.into()).or_default().push(place);
            }
        } else if let Some((key, values)) = policy.matching.required_label() {
            let by_value = self.by_label.entry(key.into()).or_default();
            for value in values {
                by_value.entry(value.clone()).or_default().push(place);
            }
        } else {
            self.others.push(place);
        }
    }

    /// Returns the positions of the policies that can match this extension, in order and without
    /// duplicates.
    pub fn candidates(&self, subject: &Subject<'_>) -> BTreeSet<usize> {
        let package = subject.package;
        let named = self.by_package.get(package);
        let prefixes = (0..=package.len()).filter_map(|end| package.get(..end));
        let by_prefix = prefixes.filter_map(|prefix| self.by_package_prefix.get(prefix));
        let places = named.into_iter().chain(by_prefix).chain([&self.others]);
        let mut found: BTreeSet<usize> = places.flatten().copied().collect();
        found.extend(self.labelled(subject).into_iter().flatten());
        found
    }

    /// The positions of the policies that are filed under a label.
    fn labelled(&self, subject: &Subject<'_>) -> Vec<&Vec<usize>> {
        // The labels beyond the limit are unknown to every selector, so all policies match.
        if subject.labels.len() > limits::SUBJECT_ENTRIES {
            return self.by_label.values().flat_map(BTreeMap::values).collect();
        }
        let labels = subject.labels.iter();
        labels
            .filter_map(|(key, value)| self.by_label.get(key.as_str())?.get(value.as_str()))
            .collect()
    }
}
