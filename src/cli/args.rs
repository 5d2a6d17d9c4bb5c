//! The flags that several commands share, and what they mean.

pub(super) mod catalogs;
pub(super) mod cluster;
pub(super) mod color;
pub(super) mod command_line;
pub(super) mod edges;
pub(super) mod environment;
pub(super) mod guardrails;
pub(super) mod heading;
pub(super) mod installed;
pub(super) mod log;
pub(super) mod memory;
pub(super) mod policies;
