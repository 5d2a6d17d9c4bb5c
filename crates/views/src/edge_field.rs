//! The field of an entry that an edge is written in.

use olmguard_catalog::word_set;
use serde::Serialize;

word_set! {
    /// Field of an entry that defines an edge.
    #[derive(Serialize, schemars::JsonSchema)]
    #[serde(rename_all = "camelCase")]
    #[schemars(rename = "Field")]
    pub enum EdgeField {
        /// `replaces`
        Replaces => "replaces",
        /// `skips`
        Skips => "skips",
        /// `skipRange`
        SkipRange => "skipRange",
    }
}

impl From<olmguard_catalog::NameEdge> for EdgeField {
    fn from(kind: olmguard_catalog::NameEdge) -> Self {
        match kind {
            olmguard_catalog::NameEdge::Replaces => Self::Replaces,
            olmguard_catalog::NameEdge::Skips => Self::Skips,
        }
    }
}
