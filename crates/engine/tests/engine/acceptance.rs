//! The acceptance tables of OLM v1's specification, row by row; a failure names its row.
//!
//! Tables: the resolver (8.2), the successor rule (8.3), filters and order (8.4), bundle versions
//! (8.5), what resolution can answer of the end-to-end runs (8.8), and the derived rows (8.9); then rows
//! of our own table (`rows`).
//!
//! Left out, with the reason:
//!
//! - 8.2 #2, #3, #34, #35: a failing Go interface; here a catalog that cannot be read is undecided
//!   before the walk (`CatalogNotLoaded`), and its text would quote Go. 8.2 #6: a validation that a
//!   test injects. 8.2 #36: the walk itself, which every row with several catalogs shows.
//! - 8.3, the bundle without a name: no blob without a name gets so far.
//! - 8.4, `And` and `Or`: our filters are sets.
//! - 8.6: conditions that the controller sets. 8.7: the CRD's rules, tested with the schema.
//! - 8.8 #8 is #7 by polling; #10 to #17: revisions, recovery, installation, access control; the
//!   texts of v0.10, of which the outcomes are kept; 69196, 68821, 74108 and 70723: their catalogs'
//!   graphs are not told.

mod bundle_versions;
mod data;
mod derived;
mod end_to_end;
mod expected;
mod filters;
mod resolver;
mod rows;
mod successors;
