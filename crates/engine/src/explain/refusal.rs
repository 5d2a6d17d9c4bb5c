//! Why an edit is refused or undecided: the reason in line 1, and what there is to know besides.

mod catalogs;
pub(super) mod guardrail;
pub(super) mod installed;
mod needed;
pub(super) mod policy;

pub(super) use needed::needed;

use crate::explain::text::{CutLine, in_quotes, list, one_line};
use crate::explain::{range, unanswered};
use crate::extension::schema::Correction;
use crate::extension::{FilterError, FilterProblem, InstalledBundle};
use crate::judge::{OutdatedCatalogs, Request, Ruling, SpecFault};
use crate::resolve::Choice;
use olmguard_catalog::json_type::JsonType;
use olmguard_catalog::version::{BundleReleaseSupport, go, suggestion};

/// One further line: what it is about, and the items or the sentence.
#[derive(Clone, Debug)]
pub(super) struct Detail {
    pub(super) label: &'static str,
    pub(super) items: Vec<String>,
    /// What stands between the items: sentences have commas of their own.
    pub(super) between: &'static str,
}

/// The reason, without the token.
pub(super) fn reason(ruling: &Ruling<'_>, request: Option<&Request<'_>>) -> CutLine {
    let line = CutLine::default();
    match ruling {
        Ruling::Unanswered(cause) => line.say(&unanswered::reason(*cause)),
        Ruling::InvalidSpec(faults) => faults.first().map(spec_fault).unwrap_or_default(),
        Ruling::InvalidSelector(_) => line.say("the catalog selector is not valid"),
        Ruling::InvalidVersionRange(_) => line
            .say("\"")
            .written(range_of(request))
            .say("\" is not a version range"),
        Ruling::NoCatalogs(none) => line.say(catalogs::none(*none)),
        Ruling::InstalledUnknown(cause) => line.say(installed::reason(cause)),
        Ruling::CatalogNotLoaded(failed) => catalogs::not_loaded(failed),
        Ruling::CatalogOutdated(OutdatedCatalogs::TooOld(old)) => catalogs::outdated(old),
        Ruling::CatalogOutdated(OutdatedCatalogs::Superseded { denial, .. }) => {
            reason(denial, request)
        }
        Ruling::PackageNotFound { searched, .. } => match searched.as_slice() {
            [only] => line
                .say("catalog ")
                .name(only)
                .say(" does not have this package"),
            all => line.say(&format!(
                "none of the {} catalogs has this package",
                all.len()
            )),
        },
        Ruling::InstalledVersionInvalid(_) => line.say("the installed version cannot be read"),
        Ruling::ChannelNotFound { .. } => match channels_of(request) {
            [only] => line.say("channel ").name(only).say(" does not exist"),
            all => line.say(&format!(
                "none of the {} requested channels exists",
                all.len()
            )),
        },
        Ruling::NotInChannel { .. } => not_in_channel(request),
        Ruling::VersionNotFound { .. } => not_found(request),
        Ruling::BrokenSkipRange(choice) => line
            .say("OLM crashes on the skipRange of ")
            .name(&choice.bundle().name)
            .say(": it has an empty OR group"),
        Ruling::Downgrade(best, 1) => older(*best, request),
        Ruling::Downgrade(best, count) => line
            .say(&format!(
                "all {count} bundles {} are older than ",
                asked(request)
            ))
            .then(installed_version(request))
            .say(" and none is its successor; the best is ")
            .then(of_catalog(*best)),
        Ruling::NotASuccessor(best, 1) => no_successor(*best, request),
        Ruling::NotASuccessor(best, count) => line
            .say(&format!(
                "none of the {count} bundles {} is a successor of ",
                asked(request)
            ))
            .then(installed_version(request))
            .say("; the best is ")
            .then(of_catalog(*best)),
        Ruling::AmbiguousCatalogs(left) => tie(left),
        Ruling::BundleVersionInvalid(choice, _) => line
            .say("the version of bundle ")
            .name(&choice.bundle().name)
            .say(" cannot be read"),
        Ruling::UnsupportedDependency(choice, kind) => line.name(&choice.bundle().name).say(
            &format!(" declares {}, which OLM v1 does not support", kind.as_str()),
        ),
        Ruling::Guardrail(forbidden) => guardrail::reason(forbidden),
        Ruling::Policy(refusal) => policy::reason(refusal, request),
        Ruling::PoliciesUnknown(_) => line.say(policy::UNLISTED),
        Ruling::NotJudged(_) | Ruling::Allowed(..) => line,
    }
}

/// What there is to know besides the reason.
pub(super) fn details(ruling: &Ruling<'_>, request: Option<&Request<'_>>) -> Vec<Detail> {
    match ruling {
        Ruling::Unanswered(cause) => {
            vec![detail("Fix", vec![unanswered::again(*cause).to_owned()])]
        }
        Ruling::InvalidSpec(faults) => also(faults),
        Ruling::InvalidVersionRange(error) => {
            let fault = error.fault();
            let range = range_of(request);
            let place = character(range, fault.at);
            let place = format!("{}, at character {place}", range::fault(range, &fault));
            let instead = suggestion::constraint(range).map(|instead| range::suggestion(&instead));
            vec![sentences(
                "Range",
                [Some(place), instead].into_iter().flatten().collect(),
            )]
        }
        Ruling::InstalledUnknown(cause) => installed::details(cause),
        Ruling::NoCatalogs(none) => vec![catalogs::of_none(*none)],
        Ruling::CatalogNotLoaded(failed) => catalogs::of_not_loaded(failed),
        Ruling::CatalogOutdated(outdated) => catalogs::of_outdated(outdated),
        Ruling::PackageNotFound { searched, nearest } => {
            let several = searched.get(1).and(Some(searched));
            vec![
                detail("Nearest", names(nearest)),
                detail("Searched", several.map_or_else(Vec::new, |all| names(all))),
            ]
        }
        Ruling::ChannelNotFound { existing } => vec![detail("Channels", names(existing))],
        Ruling::NotInChannel { having } => vec![detail("In channels", names(having))],
        Ruling::VersionNotFound { nearest } => {
            let versions = nearest.iter().map(ToString::to_string).collect();
            vec![detail("Nearest", versions)]
        }
        Ruling::AmbiguousCatalogs(left) => vec![detail("Catalogs", with_priorities(left))],
        Ruling::Guardrail(forbidden) => guardrail::details(forbidden),
        Ruling::Policy(refusal) => policy::details(refusal, request),
        Ruling::PoliciesUnknown(unlisted) => {
            vec![sentences("Cause", vec![unlisted.why.to_owned()])]
        }
        Ruling::BundleVersionInvalid(_, error) if !error.is_olms_own() => {
            vec![detail("Cause", vec![error.to_string()])]
        }
        _ => Vec::new(),
    }
}

/// What a refusal says where the search for advice ended at its bound, or was stopped.
pub(super) const SEARCH_CUT: &str =
    "the search for an upgrade path was cut short; try a nearer version, or run olmguard path";

/// The place of a byte of a text as people count: in characters, from 1.
fn character(text: &str, byte: usize) -> usize {
    text.char_indices().take_while(|(at, _)| *at < byte).count() + 1
}

/// One fault of a spec as a sentence.
pub(super) fn spec_fault(fault: &SpecFault) -> CutLine {
    match fault {
        SpecFault::Filter(error) => filter_error(error),
        SpecFault::Schema(finding) => {
            let line = CutLine::default()
                .written(&finding.path)
                .say(": ")
                .said(&finding.message);
            match &finding.instead {
                Some(Correction::Word(word)) => line.say(&format!(" (here the word is {word})")),
                Some(Correction::Range(range)) => {
                    line.say(&format!("; {}", range::suggestion(range)))
                }
                None => line,
            }
        }
    }
}

fn filter_error(error: &FilterError) -> CutLine {
    let line = CutLine::default().name(&error.field);
    match &error.problem {
        FilterProblem::Missing => line.say(" is missing: expected the name of a package"),
        FilterProblem::Type {
            expected,
            found,
            written,
        } => {
            let is_unquoted = *expected == JsonType::String && found.is_scalar();
            let quotes = is_unquoted.then(|| in_quotes(written.as_deref()));
            let quotes = quotes.unwrap_or_default();
            line.say(&format!(": expected {expected}, found {found}{quotes}"))
        }
        FilterProblem::TooLarge { most } => line.say(&format!(
            " has too many channels and entries of the selector: expected at most {most} in all"
        )),
        FilterProblem::Both { other } => line
            .say(" and ")
            .name(other)
            .say(" are both there: no OLM reads both; keep one"),
    }
}

fn also(faults: &[SpecFault]) -> Vec<Detail> {
    let more = faults
        .iter()
        .skip(1)
        .map(|fault| spec_fault(fault).to_string())
        .collect();
    vec![sentences("Also", more)]
}

fn not_in_channel(request: Option<&Request<'_>>) -> CutLine {
    let line = match range_of(request) {
        "" => CutLine::default().say("no bundle is in "),
        range => CutLine::default()
            .say("no bundle matching ")
            .written(range)
            .say(" is in "),
    };
    match channels_of(request) {
        [only] => line.say("channel ").name(only),
        _ => line.say("the requested channels"),
    }
}

fn not_found(request: Option<&Request<'_>>) -> CutLine {
    match range_of(request) {
        "" => CutLine::default().say("the package has no bundles"),
        range => CutLine::default().say("no bundle matches ").written(range),
    }
}

fn older(best: Choice<'_>, request: Option<&Request<'_>>) -> CutLine {
    versioned(best)
        .say(" is older than ")
        .then(installed_version(request))
        .say(" and not a successor of it")
        .then(in_catalog(best))
}

fn no_successor(best: Choice<'_>, request: Option<&Request<'_>>) -> CutLine {
    versioned(best)
        .say(" is not a successor of ")
        .then(installed_version(request))
        .then(in_catalog(best))
}

fn of_catalog(choice: Choice<'_>) -> CutLine {
    versioned(choice).then(in_catalog(choice))
}

fn in_catalog(choice: Choice<'_>) -> CutLine {
    CutLine::default()
        .say(" in catalog ")
        .name(&choice.catalog.name)
}

/// Which bundles a count is of.
fn asked(request: Option<&Request<'_>>) -> &'static str {
    match (range_of(request), channels_of(request)) {
        ("", []) => "of the package",
        ("", _) => "in the channels",
        _ => "in range",
    }
}

fn tie(left: &[Choice<'_>]) -> CutLine {
    let top = left.first().map_or(0, |choice| choice.catalog.priority);
    let tied = left
        .iter()
        .filter(|choice| choice.catalog.priority == top)
        .count();
    CutLine::default().say(&format!(
        "{tied} catalogs of the same priority ({top}) offer it"
    ))
}

fn with_priorities(left: &[Choice<'_>]) -> Vec<String> {
    let catalog = |choice: &Choice<'_>| {
        format!(
            "{} (priority {})",
            go::escape(&choice.catalog.name),
            choice.catalog.priority
        )
    };
    left.iter().map(catalog).collect()
}

/// A bundle by its version, by its name where that cannot be read.
fn versioned(choice: Choice<'_>) -> CutLine {
    let bundle = choice.bundle();
    match &bundle.version {
        Ok(read) => {
            CutLine::default().version(read.recorded(BundleReleaseSupport::Disabled).version)
        }
        Err(_) => CutLine::default().name(&bundle.name),
    }
}

fn installed_version(request: Option<&Request<'_>>) -> CutLine {
    let bundle = request.and_then(|request| request.installed.bundle());
    bundle.map_or_else(CutLine::default, |bundle| {
        CutLine::default().version(recorded(bundle))
    })
}

/// The installed version as one text: an explicit release stands behind a plus sign, as it does
/// where it is recorded as build metadata.
pub(super) fn recorded(bundle: &InstalledBundle) -> String {
    match bundle.release.as_deref() {
        None | Some("") => bundle.version.clone(),
        Some(release) => format!("{}+{release}", bundle.version),
    }
}

fn range_of<'a>(request: Option<&Request<'a>>) -> &'a str {
    request
        .and_then(|request| request.filter.range())
        .unwrap_or_default()
}

fn channels_of<'a>(request: Option<&Request<'a>>) -> &'a [String] {
    request.map_or(&[], |request| request.filter.channels.as_slice())
}

fn detail(label: &'static str, items: Vec<String>) -> Detail {
    Detail {
        label,
        items: items.into_iter().map(|item| one_line(&item)).collect(),
        between: ", ",
    }
}

fn sentences(label: &'static str, items: Vec<String>) -> Detail {
    Detail {
        between: "; ",
        ..detail(label, items)
    }
}

fn names(names: &[impl AsRef<str>]) -> Vec<String> {
    names.iter().map(|name| go::escape(name.as_ref())).collect()
}

impl Detail {
    /// The line with the first items, as many as asked for; empty where there is nothing to say.
    pub(super) fn naming(&self, named: usize) -> Option<String> {
        let list = || list(&self.items, self.between, named);
        (!self.items.is_empty()).then(|| format!("{}: {}", self.label, list()))
    }
}
