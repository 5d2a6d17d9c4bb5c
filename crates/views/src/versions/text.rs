//! Text form of the list: one block per catalog, one row per bundle.

use std::collections::BTreeMap;

use super::{
    BundleVersions, CatalogVersions, ChannelVersions, Folded, Membership, NameVersions, Standing,
    Successor, VersionsReport,
};
use crate::see::{Highest, reachable};
use olmguard_catalog::version::go;
use olmguard_engine::explain::text::{counted, list, one_line};
use olmguard_engine::explain::{Reasons, label};
use olmguard_engine::resolve::{Choice, InstalledError, Maturity, NotGiven};
use olmguard_report::{Cell, Table, Text, Tone};

impl VersionsReport {
    /// Renders the report for `-o text`, with the last line break.
    pub fn to_text(&self) -> Text {
        let mut text = Text::default();
        if let Some(no_version) = &self.no_version {
            text.sentence(Tone::Bad, no_version);
        }
        if self.catalogs.is_empty() {
            self.say_missing(&mut text);
        }
        for (at, catalog) in self.catalogs.iter().enumerate() {
            if at > 0 {
                text.end_line();
            }
            self.say_catalog(catalog, &mut text);
        }
        text.notes(&self.notes);
        text
    }

    fn say_missing(&self, text: &mut Text) {
        let package = go::escape(&self.package);
        let unread: Vec<_> = self.unread.iter().map(|name| go::escape(name)).collect();
        let why = match unread.as_slice() {
            [] => "no catalog has this package".to_owned(),
            [only] => format!("not known: catalog {only} cannot be read"),
            several => format!("not known: catalogs {} cannot be read", several.join(", ")),
        };
        text.sentence(Tone::Bad, &format!("{package}: {why}"));
        let nearest: Vec<_> = self.nearest.iter().map(|name| go::escape(name)).collect();
        text.items("Nearest", Tone::Plain, &nearest);
    }

    fn say_catalog(&self, catalog: &CatalogVersions, text: &mut Text) {
        let (package, name) = (go::escape(&self.package), go::escape(&catalog.catalog));
        text.line(Tone::Plain, format!("{package} in catalog {name}"));
        if let Some(message) = &catalog.deprecated {
            text.fact("Deprecated", Tone::Caution, &or_none(message));
        }
        let channels: Vec<_> = catalog
            .channels
            .iter()
            .map(|channel| channel_words(channel, catalog.default_channel.as_deref()))
            .collect();
        text.items("Channels", Tone::Plain, &channels);
        if let Some(installed) = &self.installed {
            text.fact("Installed", Tone::Plain, &installed.label());
            self.say_upgrades(&catalog.bundles, text);
        }
        text.end_line();
        self.table(&catalog.bundles).say(text);
        say_names(&catalog.names, text);
        say_details(&catalog.bundles, &self.guardrails, text);
    }

    /// Prints the next versions, and the highest ones that can be reached.
    fn say_upgrades(&self, bundles: &[BundleVersions], text: &mut Text) {
        if let Some(ambiguous) = &self.ambiguous {
            let words = format!("{ambiguous}; use --in CATALOG");
            text.fact("Ambiguous", Tone::Caution, &words);
            return;
        }
        let next = bundles.iter().filter(|bundle| bundle.hops == Some(1));
        say_next(next.collect(), text);
        if self.is_complete
            && let Some(words) = highest_reachable(bundles)
        {
            text.sentence(Tone::Plain, &words);
        }
    }

    fn table(&self, bundles: &[BundleVersions]) -> Table {
        let from = match &self.installed {
            Some(installed) => format!("From {}", installed.label()),
            None => String::new(),
        };
        let heads = [
            "Version",
            &from,
            "In range",
            "Channels",
            "Replaced by",
            "Skipped by",
            "skipRange of",
            "Notes",
        ];
        let mut table = Table::new(heads);
        for bundle in bundles {
            table.row(row(bundle, &self.guardrails));
        }
        table
    }
}

/// Prints the next versions: releases of the default channel first, prereleases on a separate line.
fn say_next(mut next: Vec<&BundleVersions>, text: &mut Text) {
    next.sort_by_key(|bundle| bundle.maturity);
    let releases = next.partition_point(|bundle| bundle.maturity < Maturity::Prerelease);
    let (releases, prereleases) = next.split_at(releases);
    let words = |bundles: &[&BundleVersions]| {
        let labels: Vec<_> = bundles.iter().map(|bundle| bundle.label.clone()).collect();
        list(&labels, ", ", MOST_LABELS)
    };
    match (releases, prereleases) {
        ([], []) => {}
        ([], all) => {
            let words = format!("{} (prerelease)", words(all));
            text.fact("Allowed next", Tone::Caution, &words);
        }
        (releases, []) => text.fact("Allowed next", Tone::Good, &words(releases)),
        (releases, others) => {
            text.fact("Allowed next", Tone::Good, &words(releases));
            text.fact("Prerelease", Tone::Caution, &words(others));
        }
    }
}

/// Describes the highest versions that can be reached, and how many newer ones cannot.
fn highest_reachable(bundles: &[BundleVersions]) -> Option<String> {
    let is_newer = |bundle: &&BundleVersions| {
        !matches!(bundle.standing, Some(Standing::Installed | Standing::Older))
    };
    let newer = bundles.iter().take_while(is_newer);
    let readable = newer.filter(|bundle| bundle.error.is_none());
    let mut newer: Vec<_> = readable.collect();
    newer.dedup_by(|one, other| one.label == other.label);
    let mut reached = newer.iter().filter(|bundle| bundle.hops.is_some());
    let is_prerelease = |bundle: &&&BundleVersions| bundle.maturity == Maturity::Prerelease;
    let best = reached.clone().next();
    let highest = Highest {
        release: reached.find(|it| !is_prerelease(it)).map(|it| &*it.label),
        prerelease: best.filter(is_prerelease).map(|it| &*it.label),
    };
    let suggested = newer.iter().filter(|bundle| bundle.is_suggested);
    let beyond = suggested.take_while(|bundle| bundle.hops.is_none());
    reachable(highest, beyond.count())
}

/// Notes that nothing is reachable because the installed version is not valid.
pub(super) fn unreadable(error: &InstalledError) -> String {
    let error = one_line(&error.to_string());
    format!("the installed version is not valid, so OLM v1 resolves nothing: {error}")
}

/// Describes why no edit installs a bundle of this catalog.
pub(super) fn not_given(why: &NotGiven<'_>, catalog: &str) -> String {
    let name = |choice: &Choice<'_>| go::quote(&choice.catalog.name);
    let why = match why {
        NotGiven::Ambiguous(_) => "several catalogs of the same priority have it".to_owned(),
        NotGiven::Another(choice) if choice.catalog.name == catalog => {
            format!("OLM selects {} of this version", label(choice.bundle()))
        }
        NotGiven::Another(choice) => format!("OLM selects it from catalog {}", name(choice)),
        NotGiven::Refused(choice) => {
            format!(
                "OLM selects it from catalog {}, and rejects it",
                name(choice)
            )
        }
        NotGiven::NoPin => "OLM crashes on a skipRange for its version".to_owned(),
    };
    format!("no edit installs it: {why}")
}

/// Notes that OLM does not install a bundle.
pub(super) fn not_installed() -> String {
    "OLM does not install it: olmguard explain shows why".to_owned()
}

/// Notes that guardrails were not applied to every edge, to limit the effort.
pub(super) fn unjudged(judged: usize, all: usize) -> String {
    format!(
        "guardrails have too many rules: olmguard applied them to {judged} of the {all} upgrade edges, \
         so versions shown as \"not found\" may be reachable"
    )
}

fn row(bundle: &BundleVersions, guardrails: &Reasons) -> Vec<Cell> {
    let asked = match bundle.candidate {
        Some(true) => Cell::one(Tone::Good, "yes"),
        Some(false) => Cell::one(Tone::Label, "no"),
        None => Cell::empty(),
    };
    let channels = bundle.channels.iter().map(channel_mark).collect();
    vec![
        Cell::one(Tone::Plain, &bundle.label),
        standing(bundle),
        asked,
        Cell::list(Tone::Plain, channels),
        successors(&bundle.replaced_by),
        successors(&bundle.skipped_by),
        folded(bundle.held_by.as_ref()),
        notes(bundle, guardrails),
    ]
}

fn standing(bundle: &BundleVersions) -> Cell {
    let (tone, words) = match (bundle.standing, bundle.hops) {
        (None, _) => return Cell::empty(),
        (Some(Standing::Forbidden), Some(hops)) => (Tone::Caution, counted(hops, "step")),
        (Some(Standing::Forbidden), None) => (Tone::Bad, "forbidden".to_owned()),
        (Some(Standing::Installed), _) => (Tone::Plain, "installed".to_owned()),
        (Some(Standing::Successor), _) => (Tone::Good, "successor".to_owned()),
        (Some(Standing::Reachable), Some(hops)) => (Tone::Plain, counted(hops, "step")),
        (Some(Standing::Older), _) => (Tone::Label, "older".to_owned()),
        (Some(Standing::NotFound), _) => (Tone::Caution, "not found".to_owned()),
        (Some(Standing::Reachable | Standing::Unreachable), _) => {
            (Tone::Bad, "unreachable".to_owned())
        }
    };
    Cell::one(tone, words)
}

fn channel_mark(membership: &Membership) -> String {
    let mark = if membership.head { "*" } else { "" };
    format!("{}{mark}", go::escape(&membership.channel))
}

/// Lists the successors by label, each label once.
fn successors(successors: &[Successor]) -> Cell {
    let mut labels: Vec<String> = Vec::new();
    for successor in successors {
        if !labels.contains(&successor.label) {
            labels.push(successor.label.clone());
        }
    }
    Cell::list(Tone::Plain, labels)
}

fn folded(held_by: Option<&Folded>) -> Cell {
    let Some(Folded { count, labels, .. }) = held_by else {
        return Cell::empty();
    };
    let [highest, lowest] = labels;
    match count {
        1 => Cell::one(Tone::Plain, highest),
        2 => Cell::list(Tone::Plain, vec![highest.clone(), lowest.clone()]),
        _ => Cell::parts(
            Tone::Plain,
            vec![format!("{count}: {lowest}"), format!("to {highest}")],
        ),
    }
}

/// Lists the reasons why the bundle may not be a good choice.
fn notes(bundle: &BundleVersions, guardrails: &Reasons) -> Cell {
    let mut words = Vec::new();
    if bundle.deprecated.is_some() {
        words.push("deprecated".to_owned());
    }
    if let Some(kind) = bundle.requires {
        words.push(kind.to_owned());
    }
    if bundle.error.is_some() {
        words.push("invalid version".to_owned());
    }
    if !bundle.guardrails.is_empty() {
        words.push(format!(
            "forbidden: {}",
            guardrails.names(&bundle.guardrails)
        ));
    }
    if let Some(policies) = policies(bundle) {
        words.push(policies);
    }
    words.extend(bundle.not_given.as_deref().map(go::escape));
    let words = words.join(", ");
    let words = words.split(' ').filter(|word| !word.is_empty());
    Cell::parts(Tone::Caution, words.map(str::to_owned).collect())
}

/// Names the policies that deny the step, each once.
fn policies(bundle: &BundleVersions) -> Option<String> {
    let mut names: Vec<_> = bundle
        .policies
        .iter()
        .map(|found| go::escape(&found.policy))
        .collect();
    names.dedup();
    let names = list(&names, ", ", MOST_LABELS);
    (!bundle.policies.is_empty()).then(|| format!("forbidden by policy {names}"))
}

fn channel_words(channel: &ChannelVersions, default: Option<&str>) -> String {
    let name = go::escape(&channel.channel);
    let head = match channel.labels.as_slice() {
        [] => "no head".to_owned(),
        [head] => format!("head {head}"),
        heads => format!("heads {}", heads.join(", ")),
    };
    let default = if default == Some(&*channel.channel) {
        ", default"
    } else {
        ""
    };
    let asked = if channel.asked { "" } else { ", not requested" };
    let deprecated = channel.deprecated.as_deref();
    let deprecated = deprecated.map(|message| format!(", deprecated: {}", or_none(message)));
    let deprecated = deprecated.unwrap_or_default();
    format!("{name}: {head}{default}{asked}{deprecated}")
}

fn say_names(names: &[NameVersions], text: &mut Text) {
    if names.is_empty() {
        return;
    }
    text.end_line();
    let mut table = Table::new(["Name without a bundle", "Replaced by", "Skipped by"]);
    for name in names {
        table.row(vec![
            Cell::one(Tone::Plain, go::escape(&name.name)),
            successors(&name.replaced_by),
            successors(&name.skipped_by),
        ]);
    }
    table.say(text);
}

/// Prints the details that do not fit into the table.
fn say_details(bundles: &[BundleVersions], reasons: &Reasons, text: &mut Text) {
    let heads = bundles.iter().flat_map(|bundle| &bundle.channels);
    if heads.into_iter().any(|membership| membership.head) {
        text.end_line();
        text.fact("*", Tone::Plain, "channel head");
    }
    let line = |bundle: &BundleVersions, words: &str| format!("{}: {words}", bundle.label);
    let deprecated = bundles.iter().filter_map(|bundle| {
        let message = bundle.deprecated.as_deref()?;
        Some(line(bundle, &or_none(message)))
    });
    text.items("Deprecated", Tone::Caution, &deprecated.collect::<Vec<_>>());
    text.items("Guardrail", Tone::Bad, &guardrails(bundles, reasons));
    let unreadable = bundles.iter().filter_map(|bundle| {
        let error = bundle.error.as_deref()?;
        Some(line(bundle, &one_line(error)))
    });
    text.items("Invalid", Tone::Bad, &unreadable.collect::<Vec<_>>());
    let ignored = bundles.iter().flat_map(|bundle| {
        let ranges = bundle.skip_ranges.iter();
        let unread = ranges.filter(|range| range.holds.is_none());
        unread.map(|range| line(bundle, &go::quote(&range.range)))
    });
    text.items(IGNORED, Tone::Caution, &ignored.collect::<Vec<_>>());
}

/// Lists each reason once, with the bundles that it forbids.
fn guardrails(bundles: &[BundleVersions], reasons: &Reasons) -> Vec<String> {
    let mut barred = BTreeMap::<usize, Vec<String>>::new();
    for bundle in bundles {
        for place in &*bundle.guardrails {
            barred.entry(*place).or_default().push(bundle.label.clone());
        }
    }
    let lines = barred.iter().filter_map(|(place, barred)| {
        let reason = reasons.at(*place)?;
        let labels = list(barred, ", ", MOST_LABELS);
        Some(format!("forbids {labels}: {}", reason.line()))
    });
    lines.collect()
}

fn or_none(message: &str) -> String {
    match message {
        "" => "without a message".to_owned(),
        message => go::escape(message),
    }
}

/// Maximum number of bundles that a list names.
const MOST_LABELS: usize = 8;

/// Label of a skipRange that OLM ignores.
const IGNORED: &str = "Ignored";
