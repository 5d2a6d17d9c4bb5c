//! Why an edit is not judged.

use crate::explain::text::cut_middle;
use crate::judge::Exemption;
use olmguard_catalog::version::go;

/// Why an edit is not judged.
pub(super) fn why(exemption: &Exemption) -> String {
    match exemption {
        Exemption::Operation => "the request neither creates nor updates the object".to_owned(),
        Exemption::Kind => "not an extension".to_owned(),
        Exemption::UnknownVersion { .. } => "an unknown API version".to_owned(),
        Exemption::Deleting => "it is being deleted".to_owned(),
        Exemption::Unchanged => "what it requests has not changed".to_owned(),
        Exemption::Source(source) => {
            format!(
                "its source is {}, not Catalog",
                cut_middle(&go::escape(source), 40)
            )
        }
        Exemption::Stricter => "it only turns the override off".to_owned(),
    }
}
