//! The decision, row by row: against the tables of the specification, the recorded answers of OLM, and laws that
//! hold for any catalog.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on fails there"
)]

mod acceptance;
mod audit;
mod compared;
mod decisions;
mod earlier;
mod fbc_vectors;
mod generations;
mod golden_ranges;
mod growth;
mod guardrails;
mod model;
mod parsers;
mod policies;
mod preflight;
mod properties;
mod quick;
mod recorded;
mod recorded_origin;
mod stated;
mod suggestions;
mod unpinned;
mod vectors_ranges;
mod vectors_versions;
mod words;
