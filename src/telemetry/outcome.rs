//! What the API server was told to do with an edit.

use crate::judge::Verdict;

/// What the API server was told to do with an edit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// It goes through, as the verdict says.
    Admitted,
    /// It goes through with a warning, though the verdict does not say so: it is only observed, or
    /// the facts do not tell.
    LetThrough,
    /// It is refused.
    Refused,
}

impl Outcome {
    /// What a reply amounts to that allows an edit or does not.
    pub fn of(verdict: Verdict, allowed: bool) -> Self {
        match (verdict, allowed) {
            (_, false) => Self::Refused,
            (Verdict::Allow | Verdict::NotJudged, true) => Self::Admitted,
            (Verdict::Deny | Verdict::Undecided, true) => Self::LetThrough,
        }
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admitted => "admitted",
            Self::LetThrough => "let_through",
            Self::Refused => "refused",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_would_be_refused_is_let_through() {
        for (verdict, allowed, word) in [
            (Verdict::Allow, true, "admitted"),
            (Verdict::NotJudged, true, "admitted"),
            (Verdict::Deny, true, "let_through"),
            (Verdict::Undecided, true, "let_through"),
            (Verdict::Deny, false, "refused"),
            (Verdict::Undecided, false, "refused"),
        ] {
            assert_eq!(Outcome::of(verdict, allowed).as_str(), word, "{verdict:?}");
        }
    }
}
