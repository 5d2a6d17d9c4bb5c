//! An edge as it is reported: which entry of which channel of which catalog writes it, and how.

use serde::Serialize;

use olmguard_catalog::version::go;
use olmguard_catalog::{NameEdge, WrittenEdge, word_set};
use olmguard_engine::explain::label;
use olmguard_engine::resolve::{Offer, OfferEdge};

/// An upgrade edge that an entry of a channel defines.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize, schemars::JsonSchema)]
pub struct EdgeReport {
    /// Catalog of the edge.
    pub catalog: String,
    /// Channel of the entry.
    pub channel: String,
    /// Whether edges of this channel count: the channel is requested, or no channel is.
    pub asked: bool,
    /// Bundle that the entry names. The edge ends at this bundle.
    pub entry: String,
    /// Field of the entry that defines the edge.
    pub field: EdgeField,
    /// Name or range in this field.
    pub value: String,
    /// The bundle by its version, for people.
    #[serde(skip)]
    pub(crate) to: String,
}

impl EdgeReport {
    fn of(edge: &OfferEdge<'_>) -> Option<Self> {
        let (field, value) = match &edge.written {
            WrittenEdge::Name { from: "", .. } | WrittenEdge::UnreadRange { .. } => return None,
            WrittenEdge::Name { from, kind, .. } => (EdgeField::from(*kind), (*from).to_owned()),
            WrittenEdge::Range { range, .. } => (EdgeField::SkipRange, range.as_str().to_owned()),
        };
        let bundle = edge.to.bundle();
        Some(Self {
            catalog: edge.to.catalog.name.clone(),
            channel: edge.channel.to_owned(),
            asked: edge.is_asked,
            entry: bundle.name.to_string(),
            field,
            value,
            to: label(bundle),
        })
    }

    /// `replaces NAME` or `skipRange "RANGE"`, fit for a terminal.
    pub(crate) fn how(&self) -> String {
        match self.field {
            EdgeField::SkipRange => format!("skipRange {}", go::quote(&self.value)),
            field => format!("{} {}", field.as_str(), go::escape(&self.value)),
        }
    }
}

/// The edges of these offers that pass a test: by catalog and channel, those that count first.
pub(crate) fn edges<'s>(
    offers: &[Offer<'s>],
    mut keep: impl FnMut(&OfferEdge<'s>) -> bool,
) -> Vec<EdgeReport> {
    let all = offers.iter().flat_map(Offer::edges);
    let kept = all.filter(|edge| keep(edge));
    let mut reports: Vec<_> = kept.filter_map(|edge| EdgeReport::of(&edge)).collect();
    reports.sort_by(|one, other| other.asked.cmp(&one.asked).then_with(|| one.cmp(other)));
    reports.dedup();
    reports
}

// === The field of an entry that an edge is written in ===

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

impl From<NameEdge> for EdgeField {
    fn from(kind: NameEdge) -> Self {
        match kind {
            NameEdge::Replaces => Self::Replaces,
            NameEdge::Skips => Self::Skips,
        }
    }
}
