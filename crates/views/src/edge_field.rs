//! The field of an entry that an edge is written in.

use serde::Serialize;

/// Field of an entry that defines an edge.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Field")]
pub enum EdgeField {
    /// `replaces`
    Replaces,
    /// `skips`
    Skips,
    /// `skipRange`
    SkipRange,
}

impl EdgeField {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Replaces => "replaces",
            Self::Skips => "skips",
            Self::SkipRange => "skipRange",
        }
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
