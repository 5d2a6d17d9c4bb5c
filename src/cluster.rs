//! The cluster: how it is reached, which catalogs and which OLM are in it.
//!
//! ```text
//! access --> kube::Client --> catalogs  ClusterCatalogs: listed, read, watched for good
//!                        |--> doctor    the guard itself, and what surrounds it
//!                        |--> configuration  the webhook configuration, as shipped or not
//!                        |--> olm       which operator-controller runs, with which gates
//!                        |--> bundle_objects  what is there of a bundle, before it is installed
//!                        |--> extensions  ClusterExtensions, by name or all of them
//!                        |--> audit     what is installed, audited at an interval by one replica
//!                        |--> images    the bundles that extensions can be upgraded to, read ahead
//!                        |--> policies  UpgradePolicies and UpgradeGuardrails, watched for good
//!                        |--> look      the catalogs as they are now, with contents, and what OLM v0 has there
//!                        |--> scrapers  who can read the metrics
//!                        '--> authority the certificate authority of the replicas, and who trusts it
//! ```
//!
//! Invariants: nothing here ends because the API server is away, and none of it is asked in a tight
//! loop; an object that cannot be read costs that object alone; no credential is in any text.

pub mod access;
pub mod audit;
pub mod authority;
pub mod bundle_objects;
pub mod catalogs;
pub mod configuration;
pub mod doctor;
pub mod events;
pub mod extensions;
pub mod fault;
pub mod follow;
pub mod images;
mod lease;
mod line;
pub mod look;
mod object;
pub mod olm;
pub mod policies;
pub mod scrapers;
#[cfg(test)]
pub(crate) mod tests;
mod watch;

pub use access::{Access, Caller, Cluster, ConnectError, connect};
pub use fault::{FailedOperation, FaultClass, WatchFault};
pub use lease::Leadership;
pub use watch::WatchEvent;
