//! The graphs of the design documents, row by row, for both generations of OLM; a failure names its row.
//!
//! Each row has the entries that OLM v0 tries, in order, the end of its automatic upgrades, and the successors of OLM
//! v1, the best first. Omitted are rows about the approval of an `InstallPlan` and about dependencies, which a graph
//! does not contain, and a Subscription without a catalog, which its CRD forbids.

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
