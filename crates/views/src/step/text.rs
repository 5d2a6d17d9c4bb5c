//! The readings for people, and their sentences.

use super::StepReport;
use super::catalogs::CatalogReading;
use super::classic::{ClassicReading, Fact};
use crate::see::{EdgeReport, arrows, gives_another, say_forbidden};
use olmguard_catalog::version::go;
use olmguard_engine::explain::text::list;
use olmguard_engine::explain::{GuardrailReport, hindrance};
use olmguard_engine::inquiry::Need;
use olmguard_report::{Text, Tone};

impl StepReport {
    /// The report as it is printed with `-o text`, with its last line break.
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
                Some(reason) if reading.is_allowed() => (Tone::Good, format!("allowed: {reason}")),
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
        text.fact("OLM v1", tone, &format!("{words} [{token}]"));
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

    /// The other edges that end at the goal, and those that start at the installed version.
    fn say_around(&self, reading: &CatalogReading, text: &mut Text) {
        let into = format!("Edges into {}", self.label());
        text.list(&into, &self.lines(&reading.leading_to));
        let out_of = format!("Edges out of {}", self.from.label());
        text.list(&out_of, &self.lines(&reading.leading_from));
    }

    /// Edges, one per line; with their catalogs if several have the package.
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

/// The versions that guardrails allow next.
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

/// What must change so that the step is possible.
pub(super) fn needed(need: &Need<'_>) -> String {
    match need {
        Need::Versions(what) => {
            let what = hindrance(*what);
            format!("the semver rules forbid the step ({what}), so choose another version")
        }
        Need::Edge { name, version } => {
            let version = go::escape(version);
            match name {
                Some(name) => format!(
                    "the catalog author must add an entry that replaces or skips {}, or whose \
                     skipRange matches {version}",
                    go::escape(name)
                ),
                None => format!(
                    "the catalog author must add an entry whose skipRange matches {version}"
                ),
            }
        }
        Need::Name { version } => format!(
            "give the name of the installed bundle: {},bundle=NAME",
            go::escape(version)
        ),
        Need::Channel(channels) => {
            format!("request channel {}, which has the edge", either(channels))
        }
        Need::Member(channels) if channels.is_empty() => {
            "request no channel, because this version is in none".to_owned()
        }
        Need::Member(channels) => {
            format!(
                "request channel {}, which has this version",
                either(channels)
            )
        }
        Need::Range(range) => format!(
            "request a version range that matches it: {} does not",
            go::quote(range)
        ),
        Need::Dependency(kind) => format!(
            "the catalog author must remove {} from the bundle: OLM v1 does not support it",
            kind.as_str()
        ),
        Need::Chosen { pin, given } => {
            let another = gives_another(pin, given);
            format!("it must be the best bundle of its version: {another}")
        }
        Need::Version => "the catalog author must give the bundle a valid version".to_owned(),
        Need::Catalogs(catalogs) => {
            let names: Vec<_> = catalogs.iter().map(|name| go::escape(name)).collect();
            let names = names.join(", ");
            format!("give catalogs {names} different priorities, or select one of them")
        }
        Need::BrokenRange => "the catalog author must remove the empty OR group from a skipRange: \
                              OLM crashes on it"
            .to_owned(),
        Need::Installed => "the installed version must be a valid version".to_owned(),
        Need::UnreadRange(ranges) => {
            let ranges: Vec<_> = ranges.iter().map(|range| go::quote(range)).collect();
            format!(
                "the catalog author must fix the skipRange {}: OLM ignores it because it is not valid",
                ranges.join(", ")
            )
        }
        Need::Deprecated => {
            "pin it: without a pin, OLM prefers versions that are not deprecated".to_owned()
        }
    }
}

/// What a user should know of a step in OLM v0.
pub(super) fn fact(fact: &Fact) -> String {
    match fact {
        Fact::Absent => "the catalog does not have it".to_owned(),
        Fact::NoOrder(error) => {
            format!("OLM v0 resolves nothing in the whole namespace: {error}")
        }
        Fact::Installed => "it is already installed".to_owned(),
        Fact::Behind(first) => {
            format!("OLM v0 tries {first} first, and installs it if possible")
        }
        Fact::First => "OLM v0 tries it first".to_owned(),
        Fact::Skipped => {
            "another entry skips it, so OLM v0 never installs it as an update".to_owned()
        }
        Fact::NotInChannel => "it is not in the channel".to_owned(),
        Fact::NoEdge => "the channel has no edge to it from the installed version".to_owned(),
        Fact::Nameless => {
            "whether the channel has an edge to it depends on the name of the installed bundle, which is unknown"
                .to_owned()
        }
        Fact::Stranded => {
            "the installed version has no upgrade edge, but the Subscription reports \
                           AtLatestKnown as at a channel head"
                .to_owned()
        }
        Fact::AtHead => "the installed version is the channel head".to_owned(),
    }
}

/// If a version is not valid, the semver rules do not apply.
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

/// Why guardrails forbid the step.
fn say_guardrails(guardrails: &[GuardrailReport], text: &mut Text) {
    let lines: Vec<_> = guardrails.iter().map(GuardrailReport::line).collect();
    text.items("Guardrail", Tone::Bad, &lines);
}

/// How many of the versions are named that guardrails allow.
const MOST_FREE: usize = 8;

fn either(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| go::escape(name)).collect();
    names.join(" or ")
}
