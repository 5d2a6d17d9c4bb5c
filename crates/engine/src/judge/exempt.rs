//! Edits that are never judged.

use crate::extension::SourceType;
use crate::judge::Edit;
use olmguard_catalog::word_set;

/// Why an edit is not judged.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Exemption {
    /// Neither a creation nor an update, or of a subresource.
    Operation,
    /// Another kind.
    Kind,
    /// An extension in an `apiVersion` that this program does not know.
    UnknownVersion {
        /// The version.
        api_version: String,
        /// The kind.
        kind: String,
    },
    /// The object is being deleted.
    Deleting,
    /// An update that leaves the filter as it is.
    Unchanged,
    /// Its content does not come from a catalog.
    Source(String),
    /// An update whose only change to the filter turns the bypass off. Rows 16 and 17 are put to the step that OLM then
    /// takes, if it takes one.
    Stricter,
    /// An update that changes only how the bundle is configured: `spec.config`. Row 15a is put to it.
    Reconfigured,
}

word_set! {
    /// Why an edit is not judged, as one of a few words.
    pub enum ExemptionKind {
        /// [`Exemption::Operation`].
        Operation => "operation",
        /// [`Exemption::Kind`].
        Kind => "kind",
        /// [`Exemption::UnknownVersion`].
        UnknownVersion => "unknown_version",
        /// [`Exemption::Deleting`].
        Deleting => "deleting",
        /// [`Exemption::Unchanged`].
        Unchanged => "unchanged",
        /// [`Exemption::Source`].
        Source => "source",
        /// [`Exemption::Stricter`].
        Stricter => "stricter",
        /// [`Exemption::Reconfigured`].
        Reconfigured => "reconfigured",
    }
}

impl Exemption {
    /// The kind alone.
    pub fn kind(&self) -> ExemptionKind {
        match self {
            Self::Operation => ExemptionKind::Operation,
            Self::Kind => ExemptionKind::Kind,
            Self::UnknownVersion { .. } => ExemptionKind::UnknownVersion,
            Self::Deleting => ExemptionKind::Deleting,
            Self::Unchanged => ExemptionKind::Unchanged,
            Self::Source(_) => ExemptionKind::Source,
            Self::Stricter => ExemptionKind::Stricter,
            Self::Reconfigured => ExemptionKind::Reconfigured,
        }
    }

    /// Whether the catalogs must be asked first: a rule can forbid what OLM does then, or it can be worth a warning.
    pub fn takes_catalogs(&self) -> bool {
        matches!(self, Self::Stricter | Self::Reconfigured)
    }
}

/// The first exemption that fits. No catalog is asked, so an exemption that [`Exemption::takes_catalogs`] is not final.
pub fn exemption(edit: &Edit<'_>) -> Option<Exemption> {
    if edit.new.deleting {
        return Some(Exemption::Deleting);
    }
    let new = edit.new.filter.as_ref().ok();
    let both = new.zip(edit.old_filter());
    let is_unchanged = both.is_some_and(|(new, old)| new.asks_the_same_as(old));
    if is_unchanged && !edit.reconfigures() {
        return Some(Exemption::Unchanged);
    }
    if let SourceType::Other(other) = &edit.new.source_type {
        return Some(Exemption::Source(other.clone()));
    }
    if is_unchanged {
        return Some(Exemption::Reconfigured);
    }
    both.filter(|(new, old)| !new.bypasses() && old.bypasses() && new.selects_the_same_as(old))
        .map(|_| Exemption::Stricter)
}
