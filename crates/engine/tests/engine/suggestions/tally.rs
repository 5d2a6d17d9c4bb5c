//! What was walked, and what did not hold.

use std::collections::{BTreeMap, HashMap};

use olmguard_engine::explain::Answer;

/// Counts by kind of suggestion.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    pub(crate) answers: usize,
    pub(crate) denials: usize,
    pub(crate) fixes: usize,
    pub(crate) paths: usize,
    pub(crate) hops: usize,
    pub(crate) next: usize,
    pub(crate) overrides: usize,
    /// Denials without any suggestion, by token.
    pub(crate) without: BTreeMap<&'static str, usize>,
    /// The versions already tried as next, by all that they depend on.
    pub(crate) tried: HashMap<String, Vec<String>>,
    failures: Vec<String>,
}

impl Walked {
    /// Notes what does not hold.
    pub(crate) fn check(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.failures.push(what());
        }
    }

    /// Counts a denial that suggests nothing.
    pub(crate) fn without_any(&mut self, answer: &Answer) {
        *self.without.entry(answer.token.as_str()).or_default() += 1;
    }

    /// Prints the counts; fails if anything did not hold, or nothing was walked.
    #[track_caller]
    pub(crate) fn finish(self, of: &str) {
        let Self {
            answers,
            denials,
            fixes,
            paths,
            hops,
            next,
            overrides,
            without,
            failures,
            ..
        } = self;
        let suggestions = fixes + paths + next + overrides;
        println!(
            "{of}: {answers} answers, {denials} denials, {suggestions} suggestions walked ({fixes} \
             fixes, {paths} paths of {hops} hops, {next} next versions, {overrides} overrides); \
             denials without any: {without:?}"
        );
        assert!(
            fixes > 0 && paths > 0 && next > 0 && overrides > 0,
            "{of}: nothing walked"
        );
        let shown: Vec<_> = failures.iter().take(8).collect();
        assert!(
            failures.is_empty(),
            "{of}: {} do not hold: {shown:#?}",
            failures.len()
        );
    }
}
