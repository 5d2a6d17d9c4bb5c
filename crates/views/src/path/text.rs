//! The way for people.

use super::{BarredReport, End, Generation, Hop, PathReport, WalkReport};
use crate::see::{
    BundleReport, FORBIDDEN, column, say_fact, say_forbidden, say_more, say_notes, wrapped,
};
use crate::table::{Cell, Table};
use olmguard_catalog::version::go;
use olmguard_engine::explain::ForbiddenReport;
use olmguard_engine::explain::tone::{Tone, TonedText};
use olmguard_engine::inquiry::MOST_BENDS;

impl PathReport {
    /// The report as it is printed with `-o text`, with its last line break.
    pub fn to_text(&self) -> TonedText {
        let mut text = TonedText::default();
        match self.olm {
            Generation::V1 => self.say_way(&mut text),
            Generation::V0 => self.say_walked(&mut text),
        }
        for walk in &self.walks {
            self.say_walk(walk, &mut text);
        }
        say_notes(&self.notes, &mut text);
        text
    }

    fn say_way(&self, text: &mut TonedText) {
        match self.hops.as_deref() {
            Some([]) => self.say_headline("already installed", Tone::Good, text),
            Some([_]) => self.say_headline("in 1 hop", Tone::Good, text),
            Some(hops) => self.say_headline(&format!("in {} hops", hops.len()), Tone::Good, text),
            None if self.is_cut => self.say_headline("no way was found", Tone::Caution, text),
            None if self.to.is_some() => self.say_headline("no way", Tone::Bad, text),
            None => self.say_headline(NOTHING_HIGHER, Tone::Plain, text),
        }
        if let Some(message) = &self.message {
            let lines: Vec<_> = message.lines().map(str::to_owned).collect();
            say_more("Why", Tone::Plain, &lines, text);
        }
        if !self.hops().is_empty() {
            text.end_line();
            self.table().say(text);
            text.end_line();
            say_fact("Each hop", Tone::Plain, EACH_HOP, text);
            self.say_bends(text);
        }
        if let Some(barred) = &self.barred {
            self.say_barred(barred, text);
        }
    }

    /// Why hops are there that edges alone would not need.
    fn say_bends(&self, text: &mut TonedText) {
        for (at, hop) in (1..).zip(self.hops()) {
            let steps = hop.bent_by.iter().flat_map(ForbiddenReport::told);
            let lines: Vec<_> = steps.map(|(step, why)| since(&step, &why)).collect();
            say_more(&format!("Hop {at}"), Tone::Caution, &lines, text);
        }
    }

    fn say_barred(&self, barred: &BarredReport, text: &mut TonedText) {
        let bundles = barred.bundles.iter().map(BundleReport::label);
        let way: Vec<_> = std::iter::once(self.from.label()).chain(bundles).collect();
        let label = if self.is_free { ONE_EDIT } else { EDGES_LEAD };
        say_more(label, Tone::Plain, &wrapped(&way), text);
        say_forbidden(&barred.forbidden, text);
    }

    fn say_walked(&self, text: &mut TonedText) {
        let (words, tone) = match (&self.to, self.is_walked()) {
            (None, _) => (WALKED, Tone::Plain),
            (Some(_), true) => ("OLM v0 comes there", Tone::Good),
            (Some(_), false) => ("OLM v0 does not come there", Tone::Bad),
        };
        self.say_headline(words, tone, text);
    }

    /// Why there is no way, in one line; nothing where there is one.
    pub fn no_way(&self) -> Option<String> {
        let mut text = TonedText::default();
        if self.is_found() {
            return None;
        }
        self.say_way(&mut text);
        say_notes(&self.notes, &mut text);
        let text = text.to_string();
        let lines: Vec<_> = text.lines().map(said).collect();
        Some(lines.join("; "))
    }

    fn say_headline(&self, words: &str, tone: Tone, text: &mut TonedText) {
        let (package, from) = (go::escape(&self.package), self.from.label());
        let to = self.to.as_ref().map(|to| format!(" -> {}", to.label()));
        text.say(
            Tone::Plain,
            format!("{package}: {from}{}: ", to.unwrap_or_default()),
        );
        text.say(tone, words);
        text.end_line();
    }

    fn table(&self) -> Table {
        let catalogs = self.hops().iter().map(|hop| &hop.bundle.catalog);
        let is_one = catalogs
            .clone()
            .all(|name| Some(name) == catalogs.clone().next());
        let mut table = Table::new(["Hop", "Set version to", "In catalog", "Because it", "But"]);
        for (at, hop) in self.hops().iter().enumerate() {
            let catalog = (!is_one).then(|| go::escape(&hop.bundle.catalog));
            table.row(vec![
                Cell::one(Tone::Plain, (at + 1).to_string()),
                Cell::one(Tone::Good, go::quote(&hop.version)),
                Cell::list(Tone::Plain, catalog.into_iter().collect()),
                Cell::one(Tone::Plain, self.because(hop)),
                but(&hop.bundle),
            ]);
        }
        table
    }

    fn because(&self, hop: &Hop) -> String {
        match hop.edges.split_first() {
            _ if self.is_free => "is free of edges: SelfCertified".to_owned(),
            None => "is allowed by versions alone".to_owned(),
            Some((edge, [])) => format!("{} in {}", edge.how(), go::escape(&edge.channel)),
            Some((edge, more)) => {
                let channel = go::escape(&edge.channel);
                format!("{} in {channel}; {} more", edge.how(), more.len())
            }
        }
    }

    fn say_walk(&self, walk: &WalkReport, text: &mut TonedText) {
        let start = self.from.label();
        let steps = walk.steps.iter().map(BundleReport::label);
        let way: Vec<_> = std::iter::once(start).chain(steps).collect();
        let under = match (&walk.catalog, &self.range, self.olm) {
            (Some(catalog), _, _) => self.subscription(catalog),
            (None, Some(range), _) => format!("within {}", go::quote(range)),
            (None, None, _) => "without a version range".to_owned(),
        };
        let mut lines = vec![format!("{under}:")];
        lines.extend(wrapped(&way));
        say_more("By itself", Tone::Plain, &lines, text);
        let (tone, end) = end_words(walk.end);
        say_fact("Then", tone, end, text);
        say_forbidden(&walk.forbidden, text);
        let said = walk.message.iter().flat_map(|message| message.lines());
        let said: Vec<_> = said.map(str::to_owned).collect();
        say_more("OLM says", Tone::Plain, &said, text);
    }

    fn subscription(&self, catalog: &str) -> String {
        let catalog = go::escape(catalog);
        match self.channels.first() {
            Some(channel) => {
                let channel = go::escape(channel);
                format!("Subscription to channel {channel} of catalog {catalog}")
            }
            None => format!("Subscription to catalog {catalog} without a channel"),
        }
    }
}

/// A line without the column of its label.
fn said(line: &str) -> &str {
    let labels = ["Why", EDGES_LEAD, ONE_EDIT, FORBIDDEN, "Note", ""];
    let mut columns = labels.iter().map(|label| column(label));
    columns
        .find_map(|column| line.strip_prefix(&*column))
        .unwrap_or(line)
}

fn since(step: &str, why: &str) -> String {
    format!("since {step} is forbidden: {why}")
}

/// That not every hop was compared with what edges alone would give.
pub(super) fn not_all_compared() -> String {
    format!("which hops guardrails ask for is told of the first {MOST_BENDS} alone")
}

/// That an edit that leaves the edges was not looked for.
pub(super) fn only_along_edges() -> String {
    "only ways along edges were looked for: with the bypass there may be others".to_owned()
}

/// That guardrails were not applied to every step that is told along edges.
pub(super) fn barred_so_far(looked_at: usize) -> String {
    format!(
        "edges lead on for more than {looked_at} steps: guardrails were applied to so many only"
    )
}

fn but(bundle: &BundleReport) -> Cell {
    match &bundle.deprecated {
        Some(_) => Cell::one(Tone::Caution, "deprecated"),
        None => Cell::empty(),
    }
}

fn end_words(end: End) -> (Tone, &'static str) {
    match end {
        End::Stays => (
            Tone::Good,
            "stays there: nothing that it may take is better",
        ),
        End::Round => (
            Tone::Bad,
            "goes back to a bundle that was installed before, for ever",
        ),
        End::Refused => (Tone::Bad, "stops: OLM resolves nothing from there"),
        End::Head => (Tone::Good, "stays there: it is the head"),
        End::Stranded => (
            Tone::Bad,
            "stranded: no entry leads on, and the Subscription says AtLatestKnown as at a head",
        ),
    }
}

const EACH_HOP: &str =
    "is one edit of spec.source.catalog.version; make the next once that version is installed";
const EDGES_LEAD: &str = "Edges lead";
const ONE_EDIT: &str = "One edit";
const NOTHING_HIGHER: &str = "nothing higher can be reached";
const WALKED: &str = "what OLM v0 does";
