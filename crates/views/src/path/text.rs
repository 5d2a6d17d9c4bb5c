//! Text form of a path report.

use super::{BarredReport, End, Generation, Hop, PathReport, WalkReport};
use crate::see::{BundleReport, arrows, say_forbidden};
use olmguard_catalog::version::go;
use olmguard_engine::explain::{self, ForbiddenReport};
use olmguard_engine::inquiry::{Inquiry, MOST_BENDS, UninstallableStep};
use olmguard_engine::judge::OneEdit;
use olmguard_engine::resolve::Choice;
use olmguard_report::{Cell, Table, Text, Tone};

impl PathReport {
    /// Renders the report for `-o text`, with the last line break.
    pub fn to_text(&self) -> Text {
        let mut text = Text::default();
        match self.olm {
            Generation::V1 => self.say_path(&mut text),
            Generation::V0 => {
                self.say_walked(&mut text);
                self.say_walks(&mut text);
            }
        }
        text.notes(&self.notes);
        text
    }

    /// Prints the steps first if there is a target, otherwise the automatic upgrades.
    fn say_path(&self, text: &mut Text) {
        self.say_outcome(text);
        if self.is_targeted {
            self.say_steps(text);
            self.say_walks(text);
        } else {
            self.say_walks(text);
            self.say_steps(text);
        }
    }

    fn say_walks(&self, text: &mut Text) {
        // If the installed version is not one of the package, "no upgrade" means nothing.
        let is_known = |walk: &&WalkReport| {
            self.no_version.is_none() || !walk.steps.is_empty() || walk.end == End::Unknown
        };
        for walk in self.walks.iter().filter(is_known) {
            self.say_walk(walk, text);
        }
    }

    fn say_outcome(&self, text: &mut Text) {
        if let Some(no_version) = &self.no_version {
            text.sentence(Tone::Bad, no_version);
        }
        let (words, tone) = self.outcome();
        self.say_headline(&words, tone, text);
        if self.ambiguous.is_some() {
            text.fact("Fix", Tone::Plain, SELECT);
        }
        if let Some(reachable) = &self.reachable {
            text.sentence(Tone::Caution, reachable);
        }
        text.items("Reason", Tone::Plain, &self.reasons());
        if let Some(edit) = &self.one_edit {
            text.fact("One edit", Tone::Good, &edit.sentence());
        }
    }

    fn say_steps(&self, text: &mut Text) {
        if !self.hops().is_empty() {
            text.end_line();
            self.table().say(text);
            text.end_line();
            text.fact("Each step", Tone::Plain, EACH_STEP);
            self.say_bends(text);
        }
        if let Some(barred) = &self.barred {
            text.list(self.barred_label(), &[self.barred_path(barred)]);
            say_forbidden(&barred.forbidden, text);
        }
    }

    /// Returns the result of the search for a path, and its tone.
    fn outcome(&self) -> (String, Tone) {
        let (words, tone) = match self.hops.as_deref() {
            Some([]) => ("already installed", Tone::Good),
            Some([_]) => ("1 step", Tone::Good),
            Some(hops) => return (format!("{} steps", hops.len()), Tone::Good),
            None if self.doubt.is_some() => ("no upgrade path found", Tone::Caution),
            None => match (&self.ambiguous, &self.to) {
                (Some(ambiguous), _) => return (format!("ambiguous: {ambiguous}"), Tone::Bad),
                (None, Some(_)) => ("no upgrade path", Tone::Bad),
                (None, None) if self.prerelease.is_some() => (NO_RELEASE, Tone::Plain),
                (None, None) => (NOTHING_NEWER, Tone::Plain),
            },
        };
        (words.to_owned(), tone)
    }

    /// Returns why there is no path, one line per item.
    fn reasons(&self) -> Vec<String> {
        let lines = self.message.iter().flat_map(|message| message.lines());
        lines.map(str::to_owned).collect()
    }

    /// Prints why the path has steps that the edges alone would not need.
    fn say_bends(&self, text: &mut Text) {
        for (at, hop) in (1..).zip(self.hops()) {
            let steps = hop.bent_by.iter().flat_map(ForbiddenReport::told);
            let lines: Vec<_> = steps.map(|(step, why)| because(&step, &why)).collect();
            text.items(&format!("Step {at}"), Tone::Caution, &lines);
        }
    }

    /// Formats the path that the edges alone would give.
    fn barred_path(&self, barred: &BarredReport) -> String {
        let bundles = barred.bundles.iter().map(BundleReport::label);
        let path: Vec<_> = std::iter::once(self.from.label()).chain(bundles).collect();
        arrows(&path)
    }

    fn barred_label(&self) -> &'static str {
        if self.is_free {
            ONE_EDIT
        } else {
            WITHOUT_GUARDRAILS
        }
    }

    fn say_walked(&self, text: &mut Text) {
        let (words, tone) = match (&self.to, self.is_walked()) {
            (None, _) => (WALKED, Tone::Plain),
            (Some(_), true) => ("OLM v0 upgrades to it", Tone::Good),
            (Some(_), false) if self.is_walk_unknown() => {
                ("no OLM v0 upgrade to it found", Tone::Caution)
            }
            (Some(_), false) => ("OLM v0 does not upgrade to it", Tone::Bad),
        };
        self.say_headline(words, tone, text);
    }

    /// Returns the note that OLM does not install a bundle of the path, if there is one.
    pub fn uninstallable(&self) -> Option<&str> {
        self.uninstallable.as_deref()
    }

    /// Returns why there is no path, in one line, or `None` if there is one.
    pub fn no_way(&self) -> Option<String> {
        if self.is_found() {
            return None;
        }
        let mut parts = vec![format!("{}{}", self.subject(), self.outcome().0)];
        parts.extend(self.reasons());
        parts.extend(self.reachable.clone());
        if let Some(barred) = &self.barred {
            let path = self.barred_path(barred);
            parts.push(format!("{}: {path}", self.barred_label()));
            let forbidden = barred.forbidden.iter().flat_map(ForbiddenReport::told);
            parts.extend(forbidden.map(|(step, why)| format!("{step}: {why}")));
        }
        parts.extend(self.notes.iter().cloned());
        Some(parts.join("; "))
    }

    /// Returns the start of the headline: package, installed version and goal.
    fn subject(&self) -> String {
        let (package, from) = (go::escape(&self.package), self.from.label());
        let to = self.to.as_ref().map(|to| format!(" -> {}", to.label()));
        format!("{package}: {from}{}: ", to.unwrap_or_default())
    }

    fn say_headline(&self, words: &str, tone: Tone, text: &mut Text) {
        text.say(Tone::Plain, self.subject());
        text.line(tone, words);
    }

    fn table(&self) -> Table {
        let catalogs = self.hops().iter().map(|hop| &hop.bundle.catalog);
        let is_one = catalogs
            .clone()
            .all(|name| Some(name) == catalogs.clone().next());
        let mut table = Table::new(["Step", "Set version to", "In catalog", "Edge", "Notes"]);
        for (at, hop) in self.hops().iter().enumerate() {
            let catalog = (!is_one).then(|| go::escape(&hop.bundle.catalog));
            table.row(vec![
                Cell::one(Tone::Plain, (at + 1).to_string()),
                Cell::one(Tone::Good, go::quote(&hop.version)),
                Cell::list(Tone::Plain, catalog.into_iter().collect()),
                Cell::parts(Tone::Plain, self.edge(hop)),
                notes(&hop.bundle),
            ]);
        }
        table
    }

    /// Formats the edge that allows a step, in parts.
    fn edge(&self, hop: &Hop) -> Vec<String> {
        match hop.edges.split_first() {
            _ if self.is_free => vec!["none needed: SelfCertified".to_owned()],
            None if hop.stays => vec!["none needed: same version".to_owned()],
            None => vec!["none needed: semver rules".to_owned()],
            Some((edge, more)) => {
                let channel = go::escape(&edge.channel);
                let channel = match more.len() {
                    0 => format!("in {channel}"),
                    more => format!("in {channel}; {more} more"),
                };
                vec![edge.how(), channel]
            }
        }
    }

    fn say_walk(&self, walk: &WalkReport, text: &mut Text) {
        let start = self.from.label();
        let steps = walk.steps.iter().map(BundleReport::label);
        let path: Vec<_> = std::iter::once(start).chain(steps).collect();
        let under = match (&walk.catalog, &self.range) {
            (Some(catalog), _) => self.subscription(catalog),
            (None, Some(range)) => format!("if the version is {}", go::quote(range)),
            (None, None) => "if no version is set".to_owned(),
        };
        let lines = match path.as_slice() {
            [_] if walk.end == End::Unknown => vec![format!("{under}: no upgrade found")],
            [_] => vec![format!("{under}: no upgrade")],
            _ => vec![format!("{under}:"), arrows(&path)],
        };
        text.items("Automatic", Tone::Plain, &lines);
        let (tone, end) = end_words(walk.end);
        let last = path.last().map(String::as_str).unwrap_or_default();
        let end = match walk.end {
            End::Round => end.to_owned(),
            _ => format!("{last}: {end}"),
        };
        text.fact("Stops at", tone, &end);
        if let Some(to) = &walk.to_prerelease {
            let words = format!("OLM upgrades automatically to {to}");
            text.fact("Prerelease", Tone::Caution, &words);
        }
        say_forbidden(&walk.forbidden, text);
        let said = walk.message.iter().flat_map(|message| message.lines());
        let said: Vec<_> = said.map(str::to_owned).collect();
        text.items("Reason", Tone::Plain, &said);
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

fn because(step: &str, why: &str) -> String {
    format!("because {step} is forbidden: {why}")
}

/// Notes that not every step was compared with the path that the edges alone would give.
pub(super) fn not_all_compared() -> String {
    format!("olmguard checked only the first {MOST_BENDS} steps for guardrails that require them")
}

/// Notes that OLM does not install a bundle of the path, and why.
pub(super) fn not_installed(step: &UninstallableStep<'_>) -> Option<String> {
    let decision = &step.decision;
    let why = explain::reason(&decision.edit(), decision.judgement())?;
    Some(if step.is_assumed {
        format!("without spec.config, OLM does not install this: {why}; -f checks a manifest")
    } else {
        format!("OLM does not install this: {why}; olmguard check shows what helps")
    })
}

/// Notes that an upgrade policy denies an edit of the path, and which one.
pub(super) fn policed<'a>(inquiry: &Inquiry<'a>, path: &[Choice<'a>]) -> Option<String> {
    let decision = inquiry.policed(path)?;
    let why = explain::reason(&decision.edit(), decision.judgement())?;
    let to = BundleReport::of(decision.resolved()?).label();
    Some(format!("the edit to {to} is denied: {why}"))
}

/// Formats the comment above the manifest of the one edit.
pub(super) fn one_edit(edit: &OneEdit) -> String {
    let end = edit.end();
    format!("One edit is enough: OLM upgrades to {end}. Or apply the steps below one by one.")
}

/// Formats the comment above the manifest of a step.
pub(super) fn step(at: usize, count: usize) -> String {
    format!("Step {at} of {count}")
}

/// Notes that the search did not consider edits without an edge.
pub(super) fn only_along_edges() -> String {
    "the search considered only upgrade edges; the override may allow other paths".to_owned()
}

/// Notes that guardrails were not applied to every step along the edges.
pub(super) fn barred_so_far(looked_at: usize) -> String {
    format!(
        "the path without guardrails is longer than {looked_at} steps: olmguard applied guardrails \
         only to the first {looked_at}"
    )
}

fn notes(bundle: &BundleReport) -> Cell {
    let words = [
        (bundle.is_prerelease, "prerelease"),
        (bundle.deprecated.is_some(), "deprecated"),
    ];
    let words = words.into_iter().filter(|(is_so, _)| *is_so);
    Cell::list(
        Tone::Caution,
        words.map(|(_, word)| word.to_owned()).collect(),
    )
}

fn end_words(end: End) -> (Tone, &'static str) {
    match end {
        End::Stays => (Tone::Good, "no newer version is reachable automatically"),
        End::Round => (
            Tone::Bad,
            "no version: OLM v0 returns to a bundle that was installed before",
        ),
        End::Refused => (Tone::Bad, "OLM cannot resolve any version from there"),
        End::NotInstalled => (Tone::Bad, "OLM does not install the next version"),
        End::Head => (Tone::Good, "it is the channel head"),
        End::Stranded => (
            Tone::Bad,
            "it has no upgrade edge, but the Subscription reports AtLatestKnown as at a channel head",
        ),
        End::Unknown => (
            Tone::Caution,
            "whether it has an upgrade edge depends on its bundle name, which is unknown",
        ),
    }
}

const EACH_STEP: &str = "is one change of spec.source.catalog.version. Wait until a version is \
                         installed before the next step.";
const WITHOUT_GUARDRAILS: &str = "Path without guardrails";
const ONE_EDIT: &str = "One edit without guardrails";
const NO_RELEASE: &str = "no newer release is reachable";
const NOTHING_NEWER: &str = "no newer version is reachable";
const SELECT: &str = "select one of them with --in CATALOG";
const WALKED: &str = "automatic upgrades of OLM v0";
