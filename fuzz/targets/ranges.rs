//! Any text as a range of either grammar, its second line as a version: a faulty text is refused at a place
//! inside of it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use olmguard_catalog::version::{Constraint, Masterminds, SkipRange, Version};

fuzz_target!(|text: &str| {
    let (range, version) = text.split_once('\n').unwrap_or((text, ""));
    let version = Version::parse(version).unwrap_or_else(|error| {
        assert!(error.at() <= version.len(), "{error}");
        Version::zero()
    });
    match Constraint::parse(range, Masterminds::V3_5) {
        Ok(range) => {
            let is_match = range.matches(&version);
            let again = Constraint::parse(range.as_str(), Masterminds::V3_5);
            assert_eq!(
                again.map(|again| again.matches(&version)).ok(),
                Some(is_match)
            );
        }
        Err(error) => assert!(range.is_char_boundary(error.fault().at), "{error}"),
    }
    if let Ok(range) = SkipRange::parse(range) {
        let again = SkipRange::parse(range.as_str()).expect("it was read before");
        assert_eq!(again.takes(&version), range.takes(&version));
    }
});
