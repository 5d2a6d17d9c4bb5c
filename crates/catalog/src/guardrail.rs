//! Guardrails: which upgrade steps of a package are safe, as its author or an administrator says it.
//!
//! ```text
//! blob of a catalog, property of its olm.package, file or object of an administrator
//!        \--read--> Guardrails { graph, rules }   or   Unread, which refuses every step upwards
//! ```
//!
//! No OLM knows of them: a catalog carries them as a blob of a schema of its own, and every tool that
//! keeps unknown blobs keeps them. Ranges are those of `skipRange`, since the author writes them in
//! the same file. Here is only what is written; `olmguard_engine::resolve::Guards` judges steps by it.
//!
//! Invariant: what cannot be read forbids every step upwards. Those downwards it leaves to the catalog:
//! of what can be read, graph `Semver` alone forbids them, and nobody knows whether that was meant.

mod authored;
mod hints;
mod imposed;
mod members;
mod object;
mod problem;
mod range;
mod read;
mod rule;

pub use authored::AuthorGuardrails;
pub use imposed::{AdministratorGuardrails, ImposedBy};
pub use object::GuardrailsObject;
pub use problem::{Problem, UnreadGuardrails};
pub use range::Range;
pub use read::read;
pub use rule::{Action, BaseGraph, Guardrails, Passage, Rule, RuleKind};

/// The schema of a blob, and the type of a property, that holds guardrails.
pub const SCHEMA: &str = "olmguard.guardrails.v1alpha1";

/// Whether a schema is that of guardrails in a version which is not known here.
pub fn is_of_other_version(schema: &str) -> bool {
    schema.starts_with("olmguard.guardrails.") && schema != SCHEMA
}
