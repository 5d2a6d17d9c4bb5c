//! Reads the recorded answers.
#![expect(clippy::print_stdout, reason = "says what a test run did not see")]

use std::path::Path;

use serde::de::DeserializeOwned;

use super::shared::shared;

/// All cases of `vectors/NAME`: of the full set, or of the sample in this repository.
pub(crate) fn cases<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let folder = shared().unwrap_or_else(|| {
        println!("left out: the full {name}, no shared folder; the sample is compared");
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
    });
    let text = std::fs::read_to_string(folder.join("vectors").join(name)).expect(name);
    text.lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect()
}
