//! The page about a rule, as `--explain` prints it and `docs/lint` keeps it.

use super::{Family, Rule};

impl Rule {
    /// The page, in Markdown.
    pub fn page(self) -> String {
        let mut page = format!(
            "# {}\n\n{}\n\nSeverity: {}. About: {}.\n\n## Why it matters\n\n{}\n\n## How to mend it\n\n{}\n",
            self.id(),
            self.title(),
            self.severity(),
            self.family().as_str(),
            self.why(),
            self.fix(),
        );
        match (self.opm(), self.family()) {
            (Some(text), _) => {
                page.push_str("\n## What `opm validate` says\n\n```text\n");
                page.push_str(text);
                page.push_str("\n```\n");
            }
            (None, Family::Users) => {
                page.push_str(
                    "\n## What `opm validate` says\n\nNothing: it does not look at this.\n",
                );
            }
            (None, _) => {
                page.push_str(
                    "\n## What `opm validate` says\n\nIt fails too, with a text of the parser that it uses.\n",
                );
            }
        }
        page
    }

    /// The page that lists every rule.
    pub fn index() -> String {
        let mut page = String::from(
            "# What `olmguard lint` finds\n\n\
             Each finding has the id of a rule; `olmguard lint --explain ID` prints its page.\n\
             Errors are what `opm validate` or an OLM refuses, and guardrails for which olmguard refuses upgrades.\n",
        );
        for family in [
            Family::Load,
            Family::Conversion,
            Family::Model,
            Family::Users,
        ] {
            page.push_str("\n## About ");
            page.push_str(family.as_str());
            page.push_str("\n\n| id | severity | finds |\n| --- | --- | --- |\n");
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
