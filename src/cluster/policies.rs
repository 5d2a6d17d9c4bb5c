//! The `UpgradePolicy` and `UpgradeGuardrails` objects of a cluster: watched for good, and judged by at once.
//!
//! ```text
//! UpgradePolicies ----watch--> read --.
//! UpgradeGuardrails --watch--> read --+--> table --> store --> Policies, by which edits are judged
//! bypass policy ------watch-----------'      |         ^-- files of --guardrails
//!                                            '--> board (probes), metrics, status
//! ```
//!
//! An object that cannot be read denies what it is about, as `olmguard check` has it, and reports that. Until both kinds
//! are listed, what no known rule denies is undecided. While a watch is lost, what was read last is in force. A cluster
//! without the definitions is judged without policies; if definitions are gone, the objects that were read last stay in
//! force for minutes.
//!
//! Invariants: objects are read apart from where edits are answered, and published as a whole; no verdict depends on the
//! status, on the lease, or on what is in the status of an object.

mod board;
mod follow;
mod list;
mod matched;
mod permission;
mod read;
mod report;
mod status;
mod store;
mod table;
#[cfg(test)]
mod tests;

pub use board::{ListedPolicies, PolicyBoard, UnlistedPolicies};
pub use follow::{PolicyListener, follow};
pub(in crate::cluster) use list::list_whole;
pub use list::{PoliciesError, list};
pub use permission::{BYPASS, ExpectedPermission};
pub use report::Reports;
pub use status::report;
pub use store::PolicyStore;

use crate::cluster::served::Names;
use olmguard_catalog::guardrail::GuardrailsObject;
use olmguard_policy::{GROUP, KIND};

const POLICIES: &Names = &[(GROUP, "v1alpha1", KIND)];
const GUARDRAILS: &Names = &[(GROUP, "v1alpha1", GuardrailsObject::KIND)];
