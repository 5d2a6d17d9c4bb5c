//! The limits on the content of a policy and of a change.
//!
//! An object that exceeds a limit has a fault. If a value of a change exceeds a limit, each condition that reads it
//! fails, because a truncated list would give a wrong answer.

pub use olmguard_catalog::members::ECHOED_BYTES;
pub(crate) use olmguard_catalog::members::beginning;

/// Entries of a list in a policy.
pub const LIST_ENTRIES: usize = 64;
/// Bytes of the name of a policy, package, namespace, catalog or time zone.
pub const NAME_BYTES: usize = 253;
/// Bytes of a version range; the limit of Masterminds/semver 3.5.
pub const RANGE_BYTES: usize = 512;
/// Bytes of a label key or value.
pub const LABEL_BYTES: usize = 317;
/// Bytes of a cron schedule.
pub const SCHEDULE_BYTES: usize = 128;
/// Bytes of a duration.
pub const DURATION_BYTES: usize = 64;
/// Hours that a window can be open: a week.
pub const WINDOW_HOURS: u64 = 168;
/// Bytes of the message of a condition.
pub const MESSAGE_BYTES: usize = 1024;
/// Bytes of a CEL expression.
pub const EXPRESSION_BYTES: usize = 1024;
/// Levels of nesting in a CEL expression.
pub const EXPRESSION_NESTING: usize = 64;
/// Nested comprehensions of a CEL expression.
pub const EXPRESSION_COMPREHENSIONS: usize = 2;
/// Evaluation steps of all CEL expressions of a policy, as estimated from the sizes below. The limit allows a
/// comparison of each pair of a user's groups, which takes less than 0.1 seconds.
pub const EXPRESSION_STEPS: u64 = 8_000_000;
/// Evaluation steps of the conditions of all policies of a cluster. The limit is that of four policies at their own
/// limit, which take less than a second.
pub const ALL_EXPRESSION_STEPS: u64 = 4 * EXPRESSION_STEPS;
/// Size of any value that a CEL expression can produce, in units of 64 bytes: 4 MiB.
pub const EXPRESSION_VALUE: u64 = 65_536;
/// Groups of a user in the scope of a CEL expression.
pub const SCOPE_GROUPS: usize = 256;
/// Labels in the scope of a CEL expression.
pub const SCOPE_LABELS: usize = 64;
/// Channels in the scope of a CEL expression.
pub const SCOPE_CHANNELS: usize = 64;
/// Labels of an extension, or groups of a user, that are read. An extension with more labels matches every selector;
/// more labels or groups make a condition that reads them fail.
pub const SUBJECT_ENTRIES: usize = 256;
/// Bytes of any text in the scope of a CEL expression.
pub const SCOPE_BYTES: usize = 1024;
/// Faults that are reported per policy.
pub const FAULTS: usize = 64;
/// Bytes of the text of an error in a CEL expression.
pub const ERROR_BYTES: usize = 512;
/// Bytes of a time in RFC 3339, with nanoseconds and an offset.
pub const MOMENT_BYTES: usize = 35;
