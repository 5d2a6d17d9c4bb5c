//! Any text as the expression of a condition: it is compiled, or refused with a place inside of it.
//!
//! What the fuzzer watches besides: no panic, no time and no memory out of proportion.

#![no_main]

#[path = "policy/mod.rs"]
mod policy;

use libfuzzer_sys::fuzz_target;
use policy::policy;

fuzz_target!(|expression: &str| {
    let policy = policy(expression);
    for fault in policy.faults() {
        assert_eq!(fault.path, "spec.rules.conditions[0].expression", "{fault}");
        let at = fault.at().unwrap_or_default();
        assert!(expression.is_char_boundary(at), "byte {at}: {fault}");
        assert!(!fault.to_string().contains('\n'), "{fault:?}");
    }
});
