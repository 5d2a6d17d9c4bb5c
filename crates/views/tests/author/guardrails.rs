//! What lint and the schema for editors say of guardrails, against what becomes of edits.

mod linted;
mod schema;
