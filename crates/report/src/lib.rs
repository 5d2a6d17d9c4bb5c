//! Reports as data, and all formats in which people and pipelines read them.
//!
//! ```text
//! a report of the views, a run of a command
//!   ├─> Text ──────────> a terminal, 80 columns
//!   ├─> Document ──────> Markdown for a pull request | a page for browsers
//!   ├─> Finding, ... ──> SARIF | workflow commands of GitHub
//!   └─> Case, ... ─────> JUnit XML
//! ```
//!
//! The author of a report defines its content. Escaping, wrapping, limits and markup are here, once
//! per format. JSON is not one of these formats: it is an interface, and each report has its own
//! types for it.

pub mod document;
mod finding;
mod junit;
mod sarif;
pub mod table;
pub mod text;
pub mod xml;

pub use document::Document;
pub use finding::{Finding, Place, Severity, github};
pub use junit::{Case, CaseStatus, Failure, SerializeError, junit};
pub use sarif::{Ended, Rule, Sarif, sarif};
pub use table::{Cell, Table};
pub use text::{Text, Tone};
