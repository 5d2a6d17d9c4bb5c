//! The generation of OLM that a report is about.

use serde::Serialize;

/// Generation of OLM.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Generation {
    /// OLM v1, with `ClusterExtension`.
    #[default]
    V1,
    /// OLM v0, with Subscription.
    V0,
}
