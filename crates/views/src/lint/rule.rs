//! The rules: the id of each finding, its severity, why it matters and how to fix it.
//!
//! An id is an interface: pipelines allow and deny by it, and each has a page in `docs/lint`. None is
//! renamed.

mod page;
mod table;

pub use table::Rule;

use std::fmt;
use std::str::FromStr;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// Worth knowing; often on purpose.
    Note,
    /// Users are likely to be surprised or left behind.
    Warning,
    /// `opm validate` or an OLM rejects the catalog, or part of it; or olmguard denies upgrades because
    /// of it.
    Error,
}

impl Severity {
    /// Its name in options and results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a rule is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Family {
    /// Reading the files.
    Load,
    /// How the blobs refer to each other: what `opm validate` checks before the graph.
    Conversion,
    /// The graph of each channel, as `opm validate` checks it.
    Model,
    /// What no other program reports: how the catalog affects its users.
    Users,
}

impl Family {
    /// Whether `opm validate` fails wherever a rule of the family finds something.
    pub fn is_opms(self) -> bool {
        self != Self::Users
    }

    /// What its rules are about, in a few words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Load => "reading files",
            Self::Conversion => "references between blobs",
            Self::Model => "channel graphs",
            Self::Users => "effects on users",
        }
    }
}

impl Rule {
    /// Whether it is about guardrails in a catalog only: an administrator may forbid an edge and name the bypass, and
    /// no `opm` serves the file.
    pub(crate) fn is_about_authors(self) -> bool {
        matches!(
            self,
            Self::GuardrailAgainstEdge | Self::GuardrailBypassable | Self::GuardrailMisnamed
        )
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// A name that no rule has.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("no rule {}: {}", olmguard_catalog::version::go::quote(.name), advice(.nearest.as_ref()))]
pub struct UnknownRule {
    name: Box<str>,
    nearest: Option<Rule>,
}

fn advice(nearest: Option<&Rule>) -> String {
    match nearest {
        Some(rule) => format!("did you mean {rule}?"),
        None => "olmguard lint --list prints all rules".to_owned(),
    }
}

impl FromStr for Rule {
    type Err = UnknownRule;

    fn from_str(name: &str) -> Result<Self, UnknownRule> {
        let found = Self::ALL.iter().find(|rule| rule.id() == name);
        found.copied().ok_or_else(|| {
            let ids = Self::ALL.iter().map(|rule| rule.id());
            let nearest = olmguard_engine::nearest::nearest(name, ids, 1);
            let nearest = nearest.first().and_then(|id| {
                let mut rules = Self::ALL.iter();
                rules.find(|rule| rule.id() == *id).copied()
            });
            UnknownRule {
                name: name.into(),
                nearest,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_kebab_case_and_read_back() {
        for rule in Rule::ALL {
            let id = rule.id();
            let is_kebab = id.split('-').all(|part| {
                !part.is_empty()
                    && part
                        .bytes()
                        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            });
            assert!(is_kebab, "{id}");
            assert_eq!(id.parse::<Rule>(), Ok(*rule));
        }
    }

    #[test]
    fn an_unknown_id_names_the_nearest() {
        let text = |name: &str| name.parse::<Rule>().unwrap_err().to_string();
        assert_eq!(
            text("cut-of-version"),
            "no rule \"cut-of-version\": did you mean cut-off-version?"
        );
        assert_eq!(
            text("zzz"),
            "no rule \"zzz\": olmguard lint --list prints all rules"
        );
    }

    #[test]
    fn what_opm_refuses_is_an_error() {
        for rule in Rule::ALL {
            if rule.family().is_opms() {
                assert_eq!(rule.severity(), Severity::Error, "{rule}");
            }
        }
    }
}
