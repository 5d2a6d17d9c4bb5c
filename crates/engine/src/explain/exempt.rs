//! Why an edit is not judged.

use crate::explain::text::cut_middle;
use crate::judge::Exemption;
use olmguard_catalog::version::go;

/// Why an edit is not judged.
pub(super) fn why(exemption: &Exemption) -> String {
    match exemption {
        Exemption::Operation => "neither a creation nor an update of the object".to_owned(),
        Exemption::Kind => "not an extension".to_owned(),
        Exemption::UnknownVersion { .. } => "an API version that is not known here".to_owned(),
        Exemption::Deleting => "it is being deleted".to_owned(),
        Exemption::Unchanged => "what it asks for is what it asked for before".to_owned(),
        Exemption::Source(source) => {
            format!(
                "its source is {}, not Catalog",
                cut_middle(&go::escape(source), 40)
            )
        }
        Exemption::Stricter => "all it does is to turn the bypass off".to_owned(),
    }
}
