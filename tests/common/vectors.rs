//! Reads the recorded answers and keeps count of what was compared.

use std::fmt::Debug;
use std::path::Path;

use serde::de::DeserializeOwned;

use super::shared::shared;

/// All cases of `vectors/NAME`: of the full set, or of the sample in this repository.
pub(crate) fn cases<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let folder = shared().unwrap_or_else(|| {
        println!("left out: the full {name}, no shared folder; the sample is compared");
        sample
    });
    let path = folder.join("vectors").join(name);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    text.lines()
        .enumerate()
        .map(|(index, line)| {
            serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{}:{}: {error}", path.display(), index + 1))
        })
        .collect()
}

/// What became of the cases of one file.
#[derive(Default)]
pub(crate) struct Tally {
    compared: usize,
    left_out: usize,
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

    /// Counts one case that is not compared.
    pub(crate) fn leave_out(&mut self) {
        self.left_out += 1;
    }

    /// Prints the counts; fails on any difference, and if nothing was compared.
    #[track_caller]
    pub(crate) fn finish(self, file: &str, why_left_out: &str) {
        let Self {
            compared,
            left_out,
            differences,
        } = self;
        println!("{file}: {compared} compared, {left_out} left out ({why_left_out})");
        assert!(compared > 0, "{file}: nothing compared");
        let shown: Vec<_> = differences.iter().take(10).collect();
        assert!(
            differences.is_empty(),
            "{file}: {} differ: {shown:#?}",
            differences.len()
        );
    }
}
