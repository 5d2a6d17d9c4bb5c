//! Text form of a step report.

use super::StepReport;
use super::catalogs::CatalogReading;
use crate::see::{EdgeReport, arrows, say_forbidden};
use crate::step::ClassicReading;
use olmguard_catalog::version::go;
use olmguard_engine::explain::GuardrailReport;
use olmguard_engine::explain::text::list;
use olmguard_report::{Text, Tone};

impl StepReport {
    /// Renders the report for `-o text`, with the last line break.
    pub fn to_text(&self) -> Text {
        let mut text = Text::default();
        let (package, from) = (go::escape(&self.package), self.from.label());
        text.line(
            Tone::Plain,
            format!("{package}: {from} -> {}", self.label()),
        );
        if let Some(reading) = &self.olm {
            self.say_catalog(reading, &mut text);
        }
        if let Some(reading) = &self.semver {
            let (tone, words) = match &reading.reason {
                None => (Tone::Good, "allowed".to_owned()),
                Some(reason) if reading.allowed => (Tone::Good, format!("allowed: {reason}")),
                Some(reason) => (Tone::Bad, format!("not allowed: {reason}")),
            };
            text.fact("By semver", tone, &words);
        }
        for reading in &self.classic {
            say_classic(reading, &mut text);
        }
        if let Some(reading) = &self.olm {
            self.say_around(reading, &mut text);
        }
        text.notes(&self.notes);
        text
    }

    fn say_catalog(&self, reading: &CatalogReading, text: &mut Text) {
        let (from, to) = (self.from.label(), self.label());
        let token = reading.token;
        let (tone, words) = match &reading.reason {
            None => (
                Tone::Good,
                format!("allowed with version {}", go::quote(&to)),
            ),
            Some(reason) => (Tone::Bad, format!("{}: {reason}", reading.refusal())),
        };
        text.fact(reading.judge, tone, &format!("{words} [{token}]"));
        if let [_, first, _, ..] = reading.path.as_slice() {
            text.fact("Fix", Tone::Good, &format!("install {first} first"));
            text.fact("Path", Tone::Plain, &arrows(&reading.path));
        }
        text.items("Edge", Tone::Plain, &self.lines(&reading.edges));
        if reading.edges.is_empty() && !reading.successor {
            let words = format!("none from {from} to {to}");
            text.fact("Edge", Tone::Plain, &words);
        }
        say_guardrails(&reading.guardrails, text);
        say_allowed_next(reading, text);
        text.items("To allow it", Tone::Caution, &reading.needed);
        let next = match &reading.unpinned {
            None => "OLM installs nothing next".to_owned(),
            Some(next) if next.is_prerelease => {
                format!("OLM installs the prerelease {} next", next.label())
            }
            Some(next) => format!("OLM installs {} next", next.label()),
        };
        text.fact("If unpinned", Tone::Plain, &next);
        say_forbidden(&reading.unpinned_forbidden, text);
    }

    /// Prints the other edges that end at the goal, then those that start at the installed version.
    fn say_around(&self, reading: &CatalogReading, text: &mut Text) {
        let into = format!("Edges into {}", self.label());
        text.list(&into, &self.lines(&reading.leading_to));
        let out_of = format!("Edges out of {}", self.from.label());
        text.list(&out_of, &self.lines(&reading.leading_from));
    }

    /// Formats edges, one per line, with their catalogs if several have the package.
    fn lines(&self, edges: &[EdgeReport]) -> Vec<String> {
        edges.iter().map(|edge| self.line(edge)).collect()
    }

    fn line(&self, edge: &EdgeReport) -> String {
        let channel = go::escape(&edge.channel);
        let requested = if edge.asked { "" } else { ", not requested" };
        let catalog = if self.is_of_several {
            format!(", catalog {}", go::escape(&edge.catalog))
        } else {
            String::new()
        };
        format!(
            "{}: {} (channel {channel}{requested}{catalog})",
            edge.to,
            edge.how()
        )
    }
}

/// Prints the versions that guardrails allow next.
fn say_allowed_next(reading: &CatalogReading, text: &mut Text) {
    if reading.guardrails.is_empty() {
        return;
    }
    let (tone, words) = match reading.free.as_slice() {
        [] => (Tone::Caution, "none".to_owned()),
        free => (Tone::Good, list(free, ", ", MOST_FREE)),
    };
    text.fact("Allowed next", tone, &words);
}

/// Reason if the semver rules do not apply.
pub(super) const UNREADABLE: &str = "one of the versions is not valid";

fn say_classic(reading: &ClassicReading, text: &mut Text) {
    let catalog = go::escape(&reading.catalog);
    let under = match &reading.channel {
        Some(channel) => format!("channel {}, catalog {catalog}", go::escape(channel)),
        None => format!("no channel, catalog {catalog}"),
    };
    let (tone, words) = match reading.is_allowed() {
        true if reading.installed => (Tone::Good, "already installed"),
        true => (Tone::Good, "a candidate"),
        false => (Tone::Bad, "not a candidate"),
    };
    text.fact("OLM v0", tone, &format!("{words} (Subscription: {under})"));
    if !reading.labels.is_empty() {
        let words = format!("{} (in this order)", reading.labels.join(", "));
        text.fact("Candidates", Tone::Plain, &words);
    }
    say_guardrails(&reading.guardrails, text);
    if !reading.installed {
        text.items("Reason", Tone::Plain, &reading.facts);
    }
}

/// Prints why guardrails forbid the step.
fn say_guardrails(guardrails: &[GuardrailReport], text: &mut Text) {
    let lines: Vec<_> = guardrails.iter().map(GuardrailReport::line).collect();
    text.items("Guardrail", Tone::Bad, &lines);
}

/// Maximum number of allowed versions that are printed.
const MOST_FREE: usize = 8;
