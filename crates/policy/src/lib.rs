//! `UpgradePolicy`: the rules that cluster administrators add to what OLM would do.
//!
//! ```text
//! object (JSON) --read--> UpgradePolicy { match, rules, faults }
//!                            |
//!        Change -------------+--> matches? --> Vec<PolicyViolation>
//! ```
//!
//! A policy only ever restricts. A policy that is partly unreadable enforces the readable part and
//! denies every move of the extensions that it matches: a typo must never allow more than the text
//! intends.
//!
//! No I/O, no clock, no environment, no threads, and no dependency on the order of a hash map: the
//! same facts give the same bytes. The time is a fact ([`Moment`]) and the time zones are compiled
//! in. Objects are read, compiled and measured in [`UpgradePolicy::read`], never while an edit
//! waits. No object can cause a panic, a hang or unbounded memory use: [`limits`] lists every
//! limit.
//!
//! # Upstream
//!
//! | what | library |
//! | --- | --- |
//! | `versions`, and `spec.version` | the grammar of Masterminds/semver, in `olmguard-catalog` |
//! | `extensionSelector` | the label selectors of apimachinery, in `olmguard-catalog` |
//! | `windows[].schedule` | [croner], over the time zones of [jiff] |
//! | `conditions` | [cel], after a scan of our own |
//!
//! [croner]: https://docs.rs/croner
//! [jiff]: https://docs.rs/jiff
//! [cel]: https://docs.rs/cel

mod change;
mod condition;
mod fault;
mod index;
mod judge;
pub mod limits;
mod matching;
mod policy;
mod rules;
mod violation;
mod window;

pub use crate::change::{Moment, MomentError};
pub use crate::index::PolicyIndex;
pub use change::{
    BypassPermission, Change, Maker, Operation, PolicyBundle, PolicyOrigin, Subject, UserInfo,
};
pub use condition::Conditions;
pub use fault::{PolicyFault, PolicyProblem};
pub use policy::UpgradePolicy;
pub use violation::{
    ConditionOutcome, ConditionSubject, Enforcement, Opening, PolicyRule, PolicyViolation,
    RangeShape, Step,
};

/// The API group of the object.
pub const GROUP: &str = "olmguard.dev";

/// The kind of the object.
pub const KIND: &str = "UpgradePolicy";
