//! What became of an edit, as whoever made it is told.

/// The answer to one edit.
#[derive(Debug, Clone)]
pub(crate) enum Verdict {
    /// It passes, with these warnings.
    Passed(Vec<String>),
    /// It is denied, with this message.
    Denied(String),
}

impl Verdict {
    /// Whether the edit passes because it is right, and not because it is undecided.
    pub(crate) fn allows(&self) -> bool {
        matches!(self, Self::Passed(_)) && !self.warns(&["undecided"])
    }

    /// Whether it is a denial whose message has all of these in it.
    pub(crate) fn denies(&self, texts: &[&str]) -> bool {
        match self {
            Self::Denied(message) => texts.iter().all(|text| message.contains(text)),
            Self::Passed(_) => false,
        }
    }

    /// Whether the edit passes, and one warning has all of these in it.
    pub(crate) fn warns(&self, texts: &[&str]) -> bool {
        match self {
            Self::Passed(warnings) => warnings
                .iter()
                .any(|warning| texts.iter().all(|text| warning.contains(text))),
            Self::Denied(_) => false,
        }
    }
}
