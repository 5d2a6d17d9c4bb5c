//! Which catalogs a ClusterExtension selects by label, and why a selector does not compile.
//!
//! Mirrors k8s.io/apimachinery: `LabelSelectorAsSelector` ([`pkg/apis/meta/v1/helpers.go`]) and
//! `NewRequirement` ([`pkg/labels/selector.go`]), as operator-controller's resolver calls them.
//! `matchLabels` comes first, then `matchExpressions`; the first requirement with a fault ends it,
//! and all faults of that one requirement are reported.
//!
//! Invariant: the requirements of a [`Selector`] are valid, and all must hold.
//!
//! [`pkg/apis/meta/v1/helpers.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/apis/meta/v1/helpers.go
//! [`pkg/labels/selector.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/labels/selector.go

use std::collections::BTreeMap;

mod error;
mod go_list;
mod label;
mod label_selector;
mod requirement;
#[cfg(test)]
mod tests;

pub use error::{RequirementFault, SelectorError, SelectorTexts};
pub use label::{LabelKeyFault, LabelValueFault};
pub use label_selector::{FieldTypeError, LabelSelector, LabelSelectorRequirement};
use requirement::Requirement;

/// A compiled label selector.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Selector {
    requirements: Vec<Requirement>,
}

impl Selector {
    /// Compiles `selector`; one without requirements selects everything.
    ///
    /// Upstream visits `matchLabels` in no defined order; here it is the byte order of the keys.
    ///
    /// # Errors
    /// The first requirement that apimachinery would refuse, worded as the release of `texts`.
    pub fn compile(selector: &LabelSelector, texts: SelectorTexts) -> Result<Self, SelectorError> {
        let labels = selector.match_labels.iter();
        let labels = labels.map(|(key, value)| Requirement::label(key, value, texts));
        let expressions = selector.match_expressions.iter();
        let expressions = expressions.map(|written| Requirement::expression(written, texts));
        let requirements = labels.chain(expressions).collect::<Result<_, _>>()?;
        Ok(Self { requirements })
    }

    /// The selector of an extension that has none: it selects every catalog.
    #[must_use]
    pub fn everything() -> Self {
        Self::default()
    }

    /// A label that every selected object has, and the values that it can have there; the first of several. What an
    /// index of selectors goes by.
    pub fn required_label(&self) -> Option<(&str, &[Box<str>])> {
        self.requirements.iter().find_map(Requirement::listed)
    }

    /// Whether an object with these labels is selected.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.requirements
            .iter()
            .all(|requirement| requirement.holds(labels))
    }
}
