//! What is wrong with catalogs: what `opm validate` reports, and what it misses.
//!
//! ```text
//! files --intake--> Written (every blob, with places) --view--> View --checks--> findings, in order
//! ```
//!
//! `opm validate` stops at the first fault of reading, then at the first of how the blobs go together;
//! here all are found. What opm has a text for carries that text, byte for byte.
//!
//! Upstream: operator-registry, [`alpha/declcfg/load.go`], [`alpha/declcfg/declcfg.go`] and [`alpha/declcfg/declcfg_to_model.go`],
//! [`alpha/model/model.go`].
//!
//! [`alpha/declcfg/declcfg.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg.go
//! [`alpha/declcfg/declcfg_to_model.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg_to_model.go
//! [`alpha/declcfg/load.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/load.go
//! [`alpha/model/model.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/model/model.go

mod chain;
mod check;
mod finding;
mod guarded;
mod image;
mod policies;
mod rule;
mod rules;
mod view;
mod weigh;
mod words;
pub mod written;

pub use finding::LintFinding;
pub use olmguard_report::Severity;
pub use policies::{PolicyPart, WrittenPolicy, lint_policies};
pub use rule::{Family, Rule, UnknownRule};
pub use weigh::Weights;
pub use written::WrittenCatalog;

use finding::Findings;
use view::View;

/// Everything there is to say about some catalogs, in the order given and then by place.
pub fn lint(catalogs: &[WrittenCatalog]) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    let views: Vec<_> = catalogs.iter().map(View::of).collect();
    for view in &views {
        let mut own = Findings::new(view.written);
        check::run(view, &views, &mut own);
        findings.extend(own.finish());
    }
    findings
}

/// A catalog from bytes that are already in memory, as one file of its name.
pub fn written(name: &str, text: &[u8]) -> WrittenCatalog {
    let mut collector = written::Collector::new(name);
    // The collector takes every fault, so that none is left.
    let _none = olmguard_catalog::fbc::read_into(name, text, &mut collector);
    collector.finish()
}
