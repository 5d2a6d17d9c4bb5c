//! The graphs of the design documents, row by row, for both generations of OLM; a failure names its row.
//!
//! Each row says what OLM v0 tries, first one first, where it walks to by itself, and which successors
//! OLM v1 has, best first. Not here: rows about an `InstallPlan`'s approval and those about dependencies,
//! which a graph does not tell; a Subscription that names no catalog, which its CRD forbids.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on fails there"
)]

mod behaviour;
mod channels;
mod drawn;
mod invariant;
mod lines;
mod precedence;
mod skip_ranges;
mod skips;
