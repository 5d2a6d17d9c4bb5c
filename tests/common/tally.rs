//! Keeps count of what was compared with the recorded answers.
#![expect(clippy::print_stdout, reason = "the counts are part of the result")]

use std::fmt::Debug;

/// What became of the cases of one file.
#[derive(Default)]
pub(crate) struct Tally {
    compared: usize,
    differences: Vec<String>,
}

impl Tally {
    /// Counts one case, which differs unless both are equal.
    pub(crate) fn compare<T: PartialEq + Debug>(
        &mut self,
        case: impl Debug,
        got: &T,
        expected: &T,
    ) {
        self.compared += 1;
        if got != expected {
            self.differences
                .push(format!("{case:?}: got {got:?}, expected {expected:?}"));
        }
    }

    /// Prints the counts; fails on any difference, and if nothing was compared.
    #[track_caller]
    pub(crate) fn finish(self, file: &str, left_out: usize, why: &str) {
        let Self {
            compared,
            differences,
        } = self;
        println!("{file}: {compared} compared, {left_out} left out ({why})");
        assert!(compared > 0, "{file}: nothing compared");
        let shown: Vec<_> = differences.iter().take(10).collect();
        assert!(
            differences.is_empty(),
            "{file}: {} differ: {shown:#?}",
            differences.len()
        );
    }
}
