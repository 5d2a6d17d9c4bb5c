//! The readings for people, and their sentences.

use super::StepReport;
use super::catalogs::CatalogReading;
use super::classic::{ClassicReading, Fact};
use crate::see::{
    BundleReport, EdgeReport, gives_another, say_fact, say_forbidden, say_more, say_notes, wrapped,
};
use olmguard_catalog::version::go;
use olmguard_engine::explain::GuardrailReport;
use olmguard_engine::explain::hindrance;
use olmguard_engine::explain::text::list;
use olmguard_engine::explain::tone::{Tone, TonedText};
use olmguard_engine::inquiry::Need;

impl StepReport {
    /// The report as it is printed with `-o text`, with its last line break.
    pub fn to_text(&self) -> TonedText {
        let mut text = TonedText::default();
        let (package, from) = (go::escape(&self.package), self.from.label());
        text.say(
            Tone::Plain,
            format!("{package}: {from} -> {}", self.label()),
        );
        text.end_line();
        if let Some(reading) = &self.olm {
            self.say_catalog(reading, &mut text);
        }
        if let Some(reading) = &self.semver {
            let (tone, words) = match &reading.reason {
                None => (Tone::Good, "allowed by versions alone".to_owned()),
                Some(reason) if reading.is_allowed() => (Tone::Good, reason.clone()),
                Some(reason) => (Tone::Bad, format!("not allowed: {reason}")),
            };
            say_fact("By semver", tone, &words, &mut text);
        }
        for reading in &self.classic {
            say_classic(reading, &mut text);
        }
        say_notes(&self.notes, &mut text);
        text
    }

    fn say_catalog(&self, reading: &CatalogReading, text: &mut TonedText) {
        let (from, to) = (self.from.label(), self.label());
        let token = reading.token;
        match &reading.reason {
            None => {
                let words = format!(
                    "carries it out where {} is pinned [{token}]",
                    go::quote(&to)
                );
                say_fact("OLM v1", Tone::Good, &words, text);
            }
            Some(reason) => {
                let verb = if reading.is_of_another() {
                    "does not install it"
                } else {
                    "refuses it"
                };
                let words = format!("{verb}: {reason} [{token}]");
                say_fact("OLM v1", Tone::Bad, &words, text);
            }
        }
        say_more("Edge", Tone::Plain, &lines(&reading.edges), text);
        if reading.edges.is_empty() && !reading.successor {
            let words = format!("none leads from {from} to {to}");
            say_fact("Edge", Tone::Plain, &words, text);
        }
        say_guardrails(&reading.guardrails, text);
        say_more("To there", Tone::Plain, &lines(&reading.leading_to), text);
        say_more(
            "From here",
            Tone::Plain,
            &lines(&reading.leading_from),
            text,
        );
        say_free(reading, text);
        say_more("Needed", Tone::Caution, &reading.needed, text);
        say_more("Path", Tone::Plain, &wrapped(&reading.path), text);
        let next = reading.unpinned.as_ref().map(BundleReport::label);
        let next = next.map_or_else(
            || "OLM installs nothing next".to_owned(),
            |next| format!("OLM installs {next} next"),
        );
        say_fact("Unpinned", Tone::Plain, &next, text);
        say_forbidden(&reading.unpinned_forbidden, text);
    }
}

/// Where edits lead that guardrails do not forbid.
fn say_free(reading: &CatalogReading, text: &mut TonedText) {
    if reading.guardrails.is_empty() {
        return;
    }
    match reading.free.as_slice() {
        [] => say_fact("Free next", Tone::Caution, "nothing", text),
        free => say_fact("Free next", Tone::Good, &list(free, ", ", MOST_FREE), text),
    }
}

/// What would have to differ.
pub(super) fn needed(need: &Need<'_>) -> String {
    match need {
        Need::Versions(what) => format!("a step that versions allow: {}", hindrance(*what)),
        Need::Edge { name, version } => {
            let version = go::escape(version);
            match name {
                Some(name) => {
                    let name = go::escape(name);
                    format!(
                        "an entry that replaces or skips {name}, or whose skipRange holds {version}"
                    )
                }
                None => format!("an entry whose skipRange holds {version}"),
            }
        }
        Need::Channel(channels) => format!("to ask for channel {}", either(channels)),
        Need::Member(channels) if channels.is_empty() => {
            "to ask for no channel: it is in none".to_owned()
        }
        Need::Member(channels) => format!("to ask for channel {}, where it is", either(channels)),
        Need::Range(range) => format!(
            "a version range that holds it: {} does not",
            go::quote(range)
        ),
        Need::Dependency(kind) => {
            let kind = kind.as_str();
            format!("a bundle without {kind}, which OLM v1 does not support")
        }
        Need::Chosen { pin, given } => {
            let another = gives_another(pin, given);
            format!("to be the best bundle of its version: {another}")
        }
        Need::Version => "a version of it that can be read".to_owned(),
        Need::Catalogs(catalogs) => {
            let names: Vec<_> = catalogs.iter().map(|name| go::escape(name)).collect();
            let names = names.join(", ");
            format!("different priorities of catalogs {names}, or a selector")
        }
        Need::BrokenRange => "a skipRange without an empty OR group: OLM crashes on it".to_owned(),
        Need::Installed => "an installed version that can be read".to_owned(),
        Need::UnreadRange(ranges) => {
            let ranges: Vec<_> = ranges.iter().map(|range| go::quote(range)).collect();
            format!(
                "a skipRange that can be read: OLM ignores {}",
                ranges.join(", ")
            )
        }
        Need::Deprecated => {
            "to pin it: it is deprecated, and without a pin what is not goes before it".to_owned()
        }
    }
}

/// What is to be known of a step in OLM v0.
pub(super) fn fact(fact: &Fact) -> String {
    match fact {
        Fact::Absent => "the catalog does not have it".to_owned(),
        Fact::NoOrder(error) => format!("nothing is resolved in the whole namespace: {error}"),
        Fact::Installed => "it is what is installed".to_owned(),
        Fact::Behind(first) => format!("{first} is tried first, and installed if it can be"),
        Fact::First => "it is tried first".to_owned(),
        Fact::Skipped => "another entry skips it, so it is not installed by an update".to_owned(),
        Fact::NotInChannel => "it is not in the channel".to_owned(),
        Fact::NoEdge => "no edge of the channel leads there".to_owned(),
        Fact::Stranded => {
            "nothing leads on: the Subscription says AtLatestKnown, as at a head".to_owned()
        }
        Fact::AtHead => "what is installed is the head".to_owned(),
    }
}

/// Where a version cannot be read, versions say nothing.
pub(super) const UNREADABLE: &str = "one of the versions cannot be read";

fn say_classic(reading: &ClassicReading, text: &mut TonedText) {
    let catalog = go::escape(&reading.catalog);
    let under = match &reading.channel {
        Some(channel) => format!("channel {} of catalog {catalog}", go::escape(channel)),
        None => format!("catalog {catalog}, no channel"),
    };
    let (tone, words) = match reading.is_allowed() {
        true if reading.installed => (Tone::Good, "installed already"),
        true => (Tone::Good, "a candidate"),
        false => (Tone::Bad, "no candidate"),
    };
    say_fact(
        "OLM v0",
        tone,
        &format!("{words}, Subscription to {under}"),
        text,
    );
    if !reading.labels.is_empty() {
        say_fact("Tried", Tone::Plain, &reading.labels.join(", "), text);
    }
    say_guardrails(&reading.guardrails, text);
    if !reading.installed {
        say_more("Since", Tone::Plain, &reading.facts, text);
    }
}

/// Why guardrails forbid the step.
fn say_guardrails(guardrails: &[GuardrailReport], text: &mut TonedText) {
    let lines: Vec<_> = guardrails.iter().map(GuardrailReport::line).collect();
    say_more("Guardrail", Tone::Bad, &lines, text);
}

/// How many versions are named that guardrails leave free.
const MOST_FREE: usize = 8;

fn lines(edges: &[EdgeReport]) -> Vec<String> {
    edges.iter().map(line).collect()
}

fn line(edge: &EdgeReport) -> String {
    let channel = go::escape(&edge.channel);
    let catalog = go::escape(&edge.catalog);
    let asked = if edge.asked { "" } else { ", not asked for" };
    format!(
        "{}: {} (channel {channel}{asked}, catalog {catalog})",
        edge.to,
        edge.how()
    )
}

fn either(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| go::escape(name)).collect();
    names.join(" or ")
}
