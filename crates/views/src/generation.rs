//! The generation of OLM that a report is about.

use serde::Serialize;

/// Which OLM.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Generation {
    /// `ClusterExtension`s.
    #[default]
    V1,
    /// Subscriptions.
    V0,
}
