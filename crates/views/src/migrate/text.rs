//! Text form of the report, and the comments above manifests.

use crate::migrate::objects::Approval;
use crate::migrate::words;
use crate::migrate::{MigrationReport, MoveFinding, MoveVerdict, SubscriptionReport};
use crate::see::{BundleReport, arrows};
use olmguard_catalog::version::go;
use olmguard_report::text::{MOST_COLUMNS, lines_of};
use olmguard_report::{Text, Tone};

impl MigrationReport {
    /// Renders the text form: the result, then each Subscription.
    pub fn to_text(&self) -> Text {
        let mut text = Text::default();
        let verdicts = [
            MoveVerdict::Can,
            MoveVerdict::Cannot,
            MoveVerdict::Undecided,
        ];
        let counts = verdicts.map(|verdict| (verdict, self.count(verdict)));
        let worst = self.subscriptions.first().map(|one| one.judged);
        let tone = worst.map_or(Tone::Plain, tone);
        text.sentence(tone, &words::result(self.release, counts));
        for subscription in &self.subscriptions {
            text.end_line();
            subscription.say(&mut text);
        }
        text
    }
}

impl SubscriptionReport {
    fn say(&self, text: &mut Text) {
        text.sentence(tone(self.judged), &self.head());
        text.items("Reason", Tone::Bad, &texts(&self.obstacles));
        if let Some(catalog) = &self.catalog {
            let (catalog, source) = (go::escape(catalog), go::escape(&self.source));
            let words = format!("{catalog}, for CatalogSource {source}");
            text.fact("Catalog", Tone::Plain, &words);
        }
        if self.judged == MoveVerdict::Can {
            text.fact("Upgrades", Tone::Plain, &self.upgrades());
        }
        text.items("Needed", Tone::Caution, &texts(&self.needs));
        text.items("Changes", Tone::Caution, &texts(&self.changes));
        self.say_steps(text);
    }

    fn say_steps(&self, text: &mut Text) {
        for (number, step) in (1..).zip(&self.steps) {
            let label = if number == 1 { "Steps" } else { "" };
            text.fact(label, Tone::Plain, &format!("{number}. {}", step.text));
            for command in &step.commands {
                say_command(command, text);
            }
        }
    }

    /// Formats the Subscription, its installed bundle, and the result.
    fn head(&self) -> String {
        let bundle = self.bundle.as_ref().map(BundleReport::label);
        let installed = bundle.or_else(|| self.installed.as_deref().map(go::escape));
        let installed = installed.map_or_else(String::new, |label| format!(" {label}"));
        let package = go::escape(&self.package);
        let verdict = words::verdict(self.judged);
        format!("{} ({package}{installed}): {verdict}", self.key())
    }

    /// Formats the namespace and the name.
    pub(super) fn key(&self) -> String {
        format!("{}/{}", go::escape(&self.namespace), go::escape(&self.name))
    }

    fn upgrades(&self) -> String {
        let labels: Vec<_> = self.upgrades.iter().map(BundleReport::label).collect();
        let path = arrows(&labels);
        if labels.is_empty() {
            "none for now".to_owned()
        } else if self.approval == Approval::Manual.as_str() {
            format!("if you change the version: {path}")
        } else if self.is_pinned_for_now {
            format!("automatic without the version: {path}")
        } else {
            format!("automatic: {path}")
        }
    }

    /// Returns the comment above the manifest: its origin, the reasons for its fields, and its
    /// additional needs.
    pub(super) fn comment(&self) -> Vec<String> {
        let package = go::escape(&self.package);
        let from = format!("Subscription {} of package {package}", self.key());
        let needs = self.needs.iter().map(|it| format!("Needed: {}", it.text));
        let changes = self
            .changes
            .iter()
            .map(|it| format!("Changes: {}", it.text));
        let first = [Some(from), self.selector_comment(), self.version_comment()];
        let all = first.into_iter().flatten().chain(needs).chain(changes);
        all.flat_map(|line| lines_of(&line, MOST_COLUMNS - "# ".len()))
            .collect()
    }

    fn selector_comment(&self) -> Option<String> {
        let catalog = go::escape(self.catalog.as_ref()?);
        let source = go::escape(&self.source);
        Some(format!(
            "selector: ClusterCatalog {catalog} for CatalogSource {source}"
        ))
    }

    fn version_comment(&self) -> Option<String> {
        let text = if self.is_pinned_for_now {
            "version: the version of OLM v0; remove it after the installation, for automatic \
             upgrades"
        } else if self.is_pinned {
            "version: the approval is Manual; change it for each upgrade"
        } else {
            return None;
        };
        Some(text.to_owned())
    }
}

/// Prints a command in several lines that a shell joins.
fn say_command(command: &str, text: &mut Text) {
    let lines = lines_of(command, MOST_COLUMNS - COMMAND.len() - CONTINUED.len());
    let last = lines.len().saturating_sub(1);
    for (at, line) in lines.iter().enumerate() {
        let end = if at == last { "" } else { CONTINUED };
        text.line(Tone::Plain, format!("{COMMAND}{line}{end}"));
    }
}

fn texts(findings: &[MoveFinding]) -> Vec<String> {
    findings
        .iter()
        .map(|finding| finding.text.clone())
        .collect()
}

fn tone(verdict: MoveVerdict) -> Tone {
    match verdict {
        MoveVerdict::Can => Tone::Good,
        MoveVerdict::Cannot => Tone::Bad,
        MoveVerdict::Undecided => Tone::Caution,
    }
}

/// Indentation of each line of a command.
const COMMAND: &str = "  ";

/// End of each line of a command except the last.
const CONTINUED: &str = " \\";
