//! Any objects as a bundle: without schemas, it answers as the whole bundle does.

#![no_main]

use libfuzzer_sys::fuzz_target;
use olmguard_catalog::memory::Heap;
use olmguard_preflight::bundle::{RegistryBundle, WrongField};
use serde_json::Value;

fuzz_target!(|text: &str| {
    let objects: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    let Ok(objects) = objects else { return };
    for object in &objects {
        assert_eq!(WrongField::of(object), WrongField::of(object));
    }
    let Ok(whole) = RegistryBundle::of("p", objects) else {
        return;
    };
    let kept = whole.without_schemas();
    assert!(kept.heap_bytes() <= whole.heap_bytes() + SPARE);
    assert_eq!(kept.install_facts(), whole.install_facts());
    assert_eq!(kept.object_kinds(), whole.object_kinds());
    assert_eq!(kept.defined_kinds(), whole.defined_kinds());
    for minor in [2, 5, 8, 11] {
        assert_eq!(kept.faults(minor), whole.faults(minor), "1.{minor}");
    }
});

/// Absent fields of small objects are written out.
const SPARE: usize = 1 << 20;
