//! Turns verdicts and ranges into text. No other module words anything about an edit.
//!
//! Texts here are part of the interface; tests pin them.

mod answer;
mod facts;
mod guardrail;
mod message;
pub mod plain;
mod policy;
pub mod range;
mod refusal;
pub mod text;
pub mod warning;

use olmguard_catalog::version::go::escape;
use olmguard_preflight::crd::{
    ComparedVersions, CrdChange, CrdFinding, FindingCertainty, PropertyChange,
};

pub use crate::explain::plain::{Renderer, Unrendered};
pub use answer::{
    Answer, CitedCatalog, ExemptionReport, PulledImage, ResolvedBundle, answer, answer_unasked,
    answer_until, answer_with_successors, exemption, installed_images, line, message, not_judged,
    reason,
};
pub use guardrail::{
    Author, ForbiddenReport, GuardrailReport, Places, ReasonTable, Reasons, hindrance,
};
pub use message::MESSAGE;
pub use policy::{PolicyReport, RequesterFact, denial};
pub use refusal::{Cause, unknown};
pub use text::{LINE_1, counted, cut_end, in_quotes, label, list, one_line};
pub use warning::{
    let_through, of_catalog, of_preflight, only_observed, only_observed_of_catalog, renamed,
    too_costly_together, warn_first, warn_last, warn_of_base,
};

// === The text about the manifests of a bundle and its CRDs ===

/// The text about a CRD on which operator-controller panics.
pub const CRD_PANIC: &str = "a version without a schema: operator-controller crashes on it";

/// The text about a fault that a validator finds in a bundle. The validator names the fault itself.
pub fn of_validator(upstream: &str) -> String {
    one_line(upstream)
}

/// The text about a webhook whose name is too short.
pub fn of_webhook_name(name: &str) -> String {
    format!(
        "the API server refuses webhook {}: a name needs 3 segments, for example v.lantern.example",
        escape(name)
    )
}

/// The text about one change of a CRD.
pub fn of_crd_change(finding: &CrdFinding) -> String {
    let words = match &finding.change {
        CrdChange::FieldRemoved { version, path } => {
            format!("{} of {} is removed", field(path), escape(version))
        }
        CrdChange::Scope { from, to } => {
            format!("the scope changes from {} to {}", escape(from), escape(to))
        }
        CrdChange::StoredVersionsRemoved(versions) => format!(
            "removed although objects can be stored in it: version {}",
            escape(&versions.join(", "))
        ),
        CrdChange::Property { path, change } => {
            let versions = match &finding.versions {
                ComparedVersions::Same(version) => format!(" of {}", escape(version)),
                ComparedVersions::Served(lower, higher) => {
                    format!(" from {} to {}", escape(lower), escape(higher))
                }
                ComparedVersions::All => String::new(),
            };
            format!("{}{versions}: {}", field(path), of_property(change))
        }
    };
    if finding.certainty == FindingCertainty::Unsteady {
        return format!("{words} (in about half of the attempts)");
    }
    words
}

/// A path without its root.
fn field(path: &str) -> String {
    match path.strip_prefix("^.") {
        Some(path) => format!("field {}", escape(path)),
        None if path == "^" => "the object".to_owned(),
        None => format!("field {}", escape(path)),
    }
}

fn of_property(change: &PropertyChange) -> String {
    match change {
        PropertyChange::Type { from, to } => {
            format!("the type changes from {} to {}", or_none(from), or_none(to))
        }
        PropertyChange::EnumAdded(values) => listed("only these values are allowed now: ", values),
        PropertyChange::EnumRemoved(values) => listed("no longer allowed: ", values),
        PropertyChange::Default { from, to } => {
            let value =
                |value: &Option<String>| value.as_deref().map_or_else(|| "none".to_owned(), escape);
            format!("the default changes from {} to {}", value(from), value(to))
        }
        PropertyChange::Required(names) => listed("required now: ", names),
        PropertyChange::Bound { field, from, to } => {
            let from = from.as_deref().unwrap_or("none");
            format!("{field} changes from {from} to {to}")
        }
        PropertyChange::Pattern { from, to } => {
            format!(
                "the pattern changes from {} to {}",
                or_none(from),
                or_none(to)
            )
        }
        PropertyChange::Nullable(true) => "null is allowed now".to_owned(),
        PropertyChange::Nullable(false) => "null is no longer allowed".to_owned(),
        PropertyChange::OneOf(_) => "the alternatives of oneOf change".to_owned(),
        PropertyChange::Unhandled { .. } if change.is_of_map() => {
            "what the map holds changes; OLM refuses any such change, harmless ones too".to_owned()
        }
        PropertyChange::Unhandled { fields } => format!(
            "OLM does not understand this change, and refuses it: {}",
            fields.join(", ")
        ),
    }
}

fn listed(words: &str, all: &[String]) -> String {
    format!("{words}{}", escape(&all.join(", ")))
}

fn or_none(text: &str) -> String {
    match text {
        "" => "none".to_owned(),
        text => escape(text),
    }
}
