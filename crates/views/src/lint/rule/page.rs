//! The page about a rule, as `--explain` prints it and `docs/lint` keeps it.

use super::{Family, Rule};

impl Rule {
    /// The page, in Markdown.
    pub fn page(self) -> String {
        let mut page = format!(
            "# {}\n\n{}\n\nSeverity: {}. Group: {}.\n\n## Why it matters\n\n{}\n\n## How to fix it\n\n{}\n",
            self.id(),
            self.title(),
            self.severity(),
            self.family().as_str(),
            self.why(),
            self.fix(),
        );
        match (self.opm(), self.family()) {
            (Some(text), _) => {
                page.push_str("\n## What `opm validate` reports\n\n```text\n");
                page.push_str(text);
                page.push_str("\n```\n");
            }
            (None, Family::Users) => {
                page.push_str(
                    "\n## What `opm validate` reports\n\nNothing: it does not check this.\n",
                );
            }
            (None, _) => {
                page.push_str(
                    "\n## What `opm validate` reports\n\nIt also fails, with a message of its parser.\n",
                );
            }
        }
        page
    }

    /// The page that lists every rule.
    pub fn index() -> String {
        let mut page = String::from(
            "# Lint findings\n\n\
             This page lists every finding of `olmguard lint`. To print the page of a finding, run\n\
             `olmguard lint --explain ID`.\n\n\
             A finding is an error if `opm validate` or an OLM rejects the catalog or a part of it. It is\n\
             also an error if olmguard denies upgrades because of it.\n",
        );
        for family in [
            Family::Load,
            Family::Conversion,
            Family::Model,
            Family::Users,
        ] {
            page.push_str("\n## ");
            page.push_str(&upper_first(family.as_str()));
            page.push_str("\n\n| id | severity | description |\n| --- | --- | --- |\n");
            for rule in Self::ALL.iter().filter(|rule| rule.family() == family) {
                let id = rule.id();
                let title = rule.title().trim_end_matches('.');
                let row = format!("| [{id}]({id}.md) | {} | {title} |\n", rule.severity());
                page.push_str(&row);
            }
        }
        page
    }
}

/// As a heading starts.
fn upper_first(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}
