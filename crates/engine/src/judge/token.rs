//! The words that every command, metric and log uses for an answer.

use olmguard_catalog::word_set;

word_set! {
    /// The outcome of an edit.
    pub enum Verdict {
        /// OLM would apply the edit.
        Allow => "allow",
        /// OLM would not apply the edit, or a rule forbids it.
        Deny => "deny",
        /// The facts are not sufficient to decide.
        Undecided => "undecided",
        /// The edit is not judged.
        NotJudged => "not_judged",
    }
}

macro_rules! tokens {
    ($($(#[$about:meta])* $token:ident => $verdict:ident,)+) => {
        /// The row of the decision table that answered.
        #[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum Token {
            $($(#[$about])* $token,)+
        }

        impl Token {
            /// Every token, in the order of the rows.
            pub const ALL: [Self; [$(stringify!($token)),+].len()] = [$(Self::$token),+];

            /// The word for it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$token => stringify!($token),)+
                }
            }

            /// Whether only a cluster, or a snapshot of one, gives this answer; files alone never do.
            pub fn takes_a_cluster(self) -> bool {
                matches!(
                    self,
                    Self::DeadlineExceeded
                        | Self::Overloaded
                        | Self::CatalogOutdated
                        | Self::PoliciesUnknown
                )
            }

            /// The verdict it stands for.
            pub fn verdict(self) -> Verdict {
                match self {
                    $(Self::$token => Verdict::$verdict,)+
                }
            }
        }
    };
}

tokens! {
    /// The edit is not judged.
    #[default]
    NotJudged => NotJudged,
    /// Before any row, in a server only: the time for the answer is over.
    DeadlineExceeded => Undecided,
    /// Before any row, in a server only: too many edits wait already.
    Overloaded => Undecided,
    /// Row 1: the filter cannot be read, or the CRD would refuse it.
    InvalidSpec => Deny,
    /// Row 2: the selector does not compile.
    InvalidSelector => Deny,
    /// Row 3: the version range does not compile.
    InvalidVersionRange => Deny,
    /// Row 4: no catalog is in play.
    NoCatalogs => Undecided,
    /// Row 4a: it is not known what is installed.
    InstalledUnknown => Undecided,
    /// Row 5: a catalog in play is not loaded, or the package in it cannot be decoded.
    CatalogNotLoaded => Undecided,
    /// Rows 5a and 5b: the content of a catalog in play was last confirmed current too long ago, or is
    /// superseded while a further row would deny by it.
    CatalogOutdated => Undecided,
    /// Row 6: no catalog in play has the package.
    PackageNotFound => Deny,
    /// Row 7: the installed version or release cannot be read.
    InstalledVersionInvalid => Deny,
    /// Row 8: no asked channel exists.
    ChannelNotFound => Deny,
    /// Row 9: what is in the range is in other channels.
    NotInChannel => Deny,
    /// Row 10: nothing is in the range.
    VersionNotFound => Deny,
    /// Row 10a: OLM crashes on a `skipRange`.
    BrokenSkipRange => Deny,
    /// Row 11: everything in the range is older than what is installed.
    Downgrade => Deny,
    /// Row 12: nothing in the range is a successor.
    NotASuccessor => Deny,
    /// Row 13: several catalogs tie.
    AmbiguousCatalogs => Deny,
    /// Row 14: the version of the bundle resolved to cannot be read.
    BundleVersionInvalid => Deny,
    /// Row 15: the bundle resolved to declares a dependency.
    UnsupportedDependency => Deny,
    /// Row 15a: operator-controller cannot install the bundle resolved to.
    Preflight => Deny,
    /// Row 16: guardrails forbid a step that OLM would take.
    Guardrail => Deny,
    /// Row 17: an upgrade policy of the cluster forbids the edit.
    Policy => Deny,
    /// Row 17a: nothing known forbids the edit, but not all policies of the cluster are known.
    PoliciesUnknown => Undecided,
    /// Row 18: it resolves to what is installed.
    Unchanged => Allow,
    /// Row 18: it resolves to what only the bypass lets through.
    Bypassed => Allow,
    /// Row 18: it resolves.
    Resolved => Allow,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_decision_table() {
        let words: Vec<_> = Token::ALL.iter().map(|token| token.as_str()).collect();
        assert_eq!(words.first(), Some(&"NotJudged"));
        assert_eq!(words.len(), 28);
        assert!(Token::ALL.iter().is_sorted());
        assert_eq!(Token::NotASuccessor.verdict().as_str(), "deny");
        assert_eq!(Token::NoCatalogs.verdict().as_str(), "undecided");
        assert_eq!(Token::NotJudged.verdict().as_str(), "not_judged");
        assert_eq!(Token::Bypassed.verdict().as_str(), "allow");
    }
}
