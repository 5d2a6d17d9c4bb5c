//! The checks after resolution: against recorded answers of the real code, and on any input.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails there, and says what it left out"
)]

mod any_json;
mod recorded;
