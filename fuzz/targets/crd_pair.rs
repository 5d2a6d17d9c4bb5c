//! Any two documents as a CRD and its successor: they are compared or refused, the same each time, in each generation.

#![no_main]

use libfuzzer_sys::fuzz_target;
use olmguard_preflight::crd::{ComparedCrd, ComparisonBudget, CrdGeneration, compare};
use serde_json::Value;

fuzz_target!(|text: &str| {
    let Some((old, new)) = text.split_once('\n') else {
        return;
    };
    let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
    let (Some(old), Some(new)) = (parsed(old), parsed(new)) else {
        return;
    };
    for generation in [5, 9, 11].map(CrdGeneration::of) {
        let answer = || {
            let (old, new) = (ComparedCrd::read(&old).ok()?, ComparedCrd::read(&new).ok()?);
            let mut budget = ComparisonBudget::default();
            let compared = compare(&old, &new, generation, &mut budget);
            Some(format!("{compared:?}"))
        };
        assert_eq!(answer(), answer());
    }
});
