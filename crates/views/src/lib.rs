//! Reports about catalogs and their upgrade graph, for administrators and for package authors.
//!
//! Reports are plain data with a text and a JSON form. This crate does not read files and does not decide about
//! edits: `olmguard_engine` does.

pub mod audit_change;
pub mod audit_report;
pub mod author;
pub mod bundle_report;
pub mod diff;
pub mod doctor;
pub mod fleet;
pub mod lint;
pub mod migrate;
pub mod packages;
pub mod page;
pub mod path;
pub mod picture;
pub mod range_report;
pub mod readiness;
pub mod see;
pub mod step;
pub mod versions;
