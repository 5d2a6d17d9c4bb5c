//! What is done to the object under review.

/// What is done to the object under review.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operation {
    /// It is created.
    Create,
    /// It is updated.
    Update,
    /// Anything else, which is never judged.
    Other,
}

impl Operation {
    pub(super) fn of(word: &str) -> Self {
        match word {
            "CREATE" => Self::Create,
            "UPDATE" => Self::Update,
            _ => Self::Other,
        }
    }

    /// The word of the API; `OTHER` for all that are not judged.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Other => "OTHER",
        }
    }
}
