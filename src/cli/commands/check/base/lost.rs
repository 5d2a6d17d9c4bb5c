//! What cannot be read of files of a revision that are there no more.
//!
//! Where nothing of such a file is missed there is nothing to compare, and whoever takes it away is not
//! told that it is broken. Where an extension may come from it, what that was is not known: then it is an
//! input that could not be read.

use std::collections::HashSet;

use crate::cli::commands::check::bad::BadInput;

/// All of it.
#[derive(Debug, Default)]
pub(super) struct LostObjects {
    /// Within what `-f` names, each with the name of its file in the revision.
    asked: Vec<(String, BadInput)>,
    elsewhere: Vec<(String, BadInput)>,
    missed: HashSet<String>,
    passed_over: Vec<BadInput>,
}

impl LostObjects {
    pub(super) fn of(asked: Vec<(String, BadInput)>) -> Self {
        Self {
            asked,
            ..Self::default()
        }
    }

    /// What is wrong with files that are in nothing that `-f` names.
    pub(super) fn add_elsewhere(&mut self, elsewhere: Vec<(String, BadInput)>) {
        self.elsewhere = elsewhere;
    }

    /// An extension may come from this file.
    pub(super) fn miss(&mut self, file: &str) {
        self.missed.insert(file.to_owned());
    }

    /// Once nothing more will be missed: what is. The rest is passed over, without a word where nobody asked
    /// for it.
    pub(super) fn settle(&mut self) -> Vec<BadInput> {
        let mut missed = Vec::new();
        for (file, one) in self.asked.drain(..) {
            if self.missed.contains(&file) {
                missed.push(one);
            } else {
                self.passed_over.push(one);
            }
        }
        let elsewhere = self.elsewhere.drain(..);
        let elsewhere = elsewhere.filter(|(file, _)| self.missed.contains(file));
        missed.extend(elsewhere.map(|(_, one)| one));
        missed
    }

    pub(super) fn passed_over(&self) -> &[BadInput] {
        &self.passed_over
    }
}
