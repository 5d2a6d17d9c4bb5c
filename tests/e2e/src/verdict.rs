//! The verdict on an edit, as its user sees it.

/// The answer to one edit.
#[derive(Debug, Clone)]
pub(crate) enum Verdict {
    /// The edit is allowed, with these warnings.
    Passed(Vec<String>),
    /// The edit is denied, with this message.
    Denied(String),
}

impl Verdict {
    /// Whether the edit is allowed because it is right, and not because it is undecided.
    pub(crate) fn allows(&self) -> bool {
        matches!(self, Self::Passed(_)) && !self.warns(&["undecided"])
    }

    /// Whether the edit is denied with a message that contains all of these texts.
    pub(crate) fn denies(&self, texts: &[&str]) -> bool {
        match self {
            Self::Denied(message) => texts.iter().all(|text| message.contains(text)),
            Self::Passed(_) => false,
        }
    }

    /// Whether the edit is allowed with one warning that contains all of these texts.
    pub(crate) fn warns(&self, texts: &[&str]) -> bool {
        match self {
            Self::Passed(warnings) => warnings
                .iter()
                .any(|warning| texts.iter().all(|text| warning.contains(text))),
            Self::Denied(_) => false,
        }
    }
}
