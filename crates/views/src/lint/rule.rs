//! A rule: the id of its findings, their severity, its page and its check.
//!
//! Ids are an interface, because pipelines allow and deny by them. They must not change.

use std::fmt;
use std::str::FromStr;

use super::Severity;
use super::check::Check;
use super::rules::INDEX;
use olmguard_catalog::word_set;

/// A rule, by its position in the index.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Rule(usize);

/// All parts of a rule: its heading, and the check that finds faults and words the findings.
pub(super) struct RuleItem {
    heading: Heading,
    pub(super) check: Check,
}

/// The id, family, severity and page of a rule. Some findings are notes if the page says so.
#[derive(Clone, Copy)]
pub(super) struct Heading {
    pub(super) id: &'static str,
    pub(super) family: Family,
    pub(super) severity: Severity,
    /// Page in Markdown.
    pub(super) page: &'static str,
}

impl Heading {
    pub(super) const fn on(self, check: Check) -> RuleItem {
        RuleItem {
            heading: self,
            check,
        }
    }
}

/// Creates the heading of a rule from its id, group and severity. The page is in `docs/lint`.
macro_rules! rule {
    ($id:literal, $family:ident, $severity:ident) => {
        $crate::lint::rule::Heading {
            id: $id,
            family: $crate::lint::Family::$family,
            severity: $crate::lint::Severity::$severity,
            page: include_str!(concat!("../../../../../docs/lint/", $id, ".md")),
        }
    };
}

pub(super) use rule;

impl Rule {
    /// Returns every rule, in the order of the index.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        (0..INDEX.len()).map(Self)
    }

    pub(super) fn item(self) -> &'static RuleItem {
        INDEX.get(self.0).expect("a Rule is a place in the index")
    }

    /// Returns the stable id.
    pub fn id(self) -> &'static str {
        self.item().heading.id
    }

    /// Returns the group of the rule.
    pub fn family(self) -> Family {
        self.item().heading.family
    }

    /// Returns the severity of the findings, unless a flag changes it.
    pub fn severity(self) -> Severity {
        self.item().heading.severity
    }

    /// Returns the page about the rule, in Markdown.
    pub fn page(self) -> &'static str {
        self.item().heading.page
    }

    /// Describes the finding, in one sentence.
    pub fn title(self) -> &'static str {
        let mut paragraphs = self.page().split("\n\n");
        paragraphs.nth(1).unwrap_or_default()
    }

    /// Describes why the finding matters to users.
    pub fn why(self) -> &'static str {
        self.section("Why it matters")
    }

    /// Describes how to fix the finding.
    pub fn fix(self) -> &'static str {
        self.section("How to fix it")
    }

    /// Returns the text of a section of the page.
    fn section(self, heading: &str) -> &'static str {
        let mut sections = self.page().split("\n## ").skip(1);
        let text = sections.find_map(|section| section.strip_prefix(heading));
        text.unwrap_or_default().trim()
    }

    /// Renders the page that lists every rule.
    pub fn index() -> String {
        let mut page = String::from(
            "# Lint findings\n\n\
             This page lists every finding of `olmguard lint`. To print the page of a finding, run\n\
             `olmguard lint --explain ID`.\n\n\
             A finding is an error if `opm validate` or an OLM rejects the catalog or a part of it. It is\n\
             also an error if olmguard denies upgrades because of it.\n",
        );
        for family in Family::ALL {
            let heading = family.as_heading();
            let rows = Self::all()
                .filter(|rule| rule.family() == family)
                .map(|rule| {
                    let title = rule.title().trim_end_matches('.');
                    format!("| [{rule}]({rule}.md) | {} | {title} |\n", rule.severity())
                });
            page.extend([format!("\n## {heading}\n\n{ROW}")].into_iter().chain(rows));
        }
        page
    }
}

/// Head of a table of rules.
const ROW: &str = "| id | severity | description |\n| --- | --- | --- |\n";

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

word_set! {
    /// Group of a rule.
    pub enum Family {
        /// Faults while reading files.
        Load => "reading files",
        /// References between blobs, which `opm validate` checks before the graph.
        Conversion => "references between blobs",
        /// The graph of each channel, as `opm validate` checks it.
        Model => "channel graphs",
        /// Effects of the catalog on its users, which no other program reports.
        Users => "effects on users",
    }
}

impl Family {
    fn as_heading(self) -> String {
        let mut heading = self.as_str().to_owned();
        heading.get_mut(..1).expect("ASCII").make_ascii_uppercase();
        heading
    }
}

/// The error for an id that no rule has.
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
        let named = |name: &str| Self::all().find(|rule| rule.id() == name);
        named(name).ok_or_else(|| {
            let nearest = olmguard_engine::nearest::nearest(name, Self::all().map(Self::id), 1);
            UnknownRule {
                name: name.into(),
                nearest: nearest.first().and_then(|id| named(id)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_kebab_case_and_read_back() {
        for rule in Rule::all() {
            let id = rule.id();
            let is_kebab = id.split('-').all(|part| {
                !part.is_empty()
                    && part
                        .bytes()
                        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            });
            assert!(is_kebab, "{id}");
            assert_eq!(id.parse::<Rule>(), Ok(rule));
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
        for rule in Rule::all() {
            if rule.family() != Family::Users {
                assert_eq!(rule.severity(), Severity::Error, "{rule}");
            }
        }
    }

    #[test]
    fn a_page_has_the_severity_the_group_and_the_sections_of_its_rule() {
        for rule in Rule::all() {
            let family = rule.family();
            // The text of opm, with letters for names.
            let opm = match (rule.section("What `opm validate` reports"), family) {
                (text, _) if text.starts_with("```text\n") && text.ends_with("\n```") => text,
                (_, Family::Users) => "Nothing: it does not check this.",
                _ => "It also fails, with a message of its parser.",
            };
            let page = format!(
                "# {rule}\n\n{}\n\nSeverity: {}. Group: {}.\n\n## Why it matters\n\n{}\n\n## How \
                 to fix it\n\n{}\n\n## What `opm validate` reports\n\n{opm}\n",
                rule.title(),
                rule.severity(),
                family.as_str(),
                rule.why(),
                rule.fix(),
            );
            assert_eq!(rule.page(), page);
            for text in [rule.title(), rule.why(), rule.fix()] {
                assert!(
                    text.ends_with('.') && !text.contains('\n'),
                    "{rule}: {text}"
                );
            }
        }
    }
}
