//! The parts of a refusal, row by row: the reason, the fields, further lines, and what would help.
//!
//! `message` joins the parts within its limit.

mod missing;
pub(super) mod preflight;

use crate::explain::facts::{MessageFacts, allowed_by};
use crate::explain::text::{CutLine, Detail, LINE_1, escaped, in_quotes, versioned, words};
use crate::explain::{guardrail, policy, range};
use crate::extension::schema::Correction;
use crate::extension::{FilterError, FilterProblem, SelectorField};
use crate::judge::{DeadEnd, ForbiddenStep, OutdatedCatalogs, PolicyRefusal, Ruling, SpecFault};
use crate::resolve::Choice;
use olmguard_catalog::json::JsonType;
use olmguard_catalog::version::{ConstraintError, Version, go, suggestion};
use olmguard_catalog::{BundleVersionError, DependencyKind};

pub use missing::unknown;

/// The parts of the text about a refused or undecided edit.
#[derive(Clone, Debug)]
pub(super) struct RefusalWords {
    /// The reason, for line 1, without the token.
    pub(super) reason: CutLine,
    /// Each finding, with its field.
    pub(super) causes: Vec<Cause>,
    /// Further lines.
    pub(super) details: Vec<Detail>,
    /// The missing fact or change and who can supply it, if no edit of the object is known to help.
    pub(super) needed: Option<CutLine>,
}

/// One finding of a refusal.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cause {
    /// The path of the field that the finding is about; empty if there is none.
    pub field: String,
    /// The finding in one sentence.
    pub message: String,
}

impl RefusalWords {
    /// The parts for the row that answered, and for the rules that block the path. `None` if the edit is neither
    /// refused nor undecided.
    pub(super) fn of(facts: &MessageFacts<'_>) -> Option<Self> {
        let mut refusal = Self::of_row(&facts.judgement.ruled.ruling, facts)?;
        if let Some(end) = facts.dead_end {
            let guardrails = end.blocked.as_ref().map(guardrail::blocked_by);
            refusal.details.extend(guardrails);
            refusal.details.push(policy::blocked_by(&end.policies));
            let bundle = end.uninstallable.as_ref();
            let bundle = bundle.map(|bundle| preflight::blocked_by(facts, bundle));
            refusal.details.extend(bundle);
        }
        Some(refusal)
    }

    fn of_row(ruling: &Ruling<'_>, facts: &MessageFacts<'_>) -> Option<Self> {
        Some(match ruling {
            Ruling::NotJudged(_) | Ruling::Allowed(..) => return None,
            Ruling::Unanswered(cause) => missing::unanswered(*cause),
            Ruling::InvalidSpec(faults) => invalid_spec(faults),
            Ruling::InvalidSelector(_) => invalid_selector(facts),
            Ruling::InvalidVersionRange(error) => invalid_range(facts, error),
            Ruling::NoCatalogs(none) => missing::no_catalogs(facts, *none),
            Ruling::InstalledUnknown(cause) => missing::installed(facts, cause),
            Ruling::CatalogNotLoaded(failed) => missing::not_loaded(facts, failed),
            Ruling::CatalogOutdated(OutdatedCatalogs::TooOld(old)) => missing::too_old(facts, old),
            Ruling::CatalogOutdated(OutdatedCatalogs::Superseded { catalogs, denial }) => {
                missing::superseded(Self::of_row(denial, facts)?, catalogs)
            }
            Ruling::PackageNotFound { searched, nearest } => {
                package_not_found(facts, searched, nearest)
            }
            Ruling::InstalledVersionInvalid(_) => missing::invalid_installed(facts),
            Ruling::ChannelNotFound { existing } => channel_not_found(facts, existing),
            Ruling::NotInChannel { having } => not_in_channel(facts, having),
            Ruling::VersionNotFound { nearest } => version_not_found(facts, nearest),
            Ruling::BrokenSkipRange(choice) => broken_skip_range(facts, *choice),
            Ruling::Downgrade(best, count) => no_successor(facts, *best, *count, true),
            Ruling::NotASuccessor(best, count) => no_successor(facts, *best, *count, false),
            Ruling::AmbiguousCatalogs(left) => ambiguous(facts, left),
            Ruling::BundleVersionInvalid(choice, error) => invalid_bundle(facts, *choice, error),
            Ruling::UnsupportedDependency(choice, kind) => dependency(facts, *choice, *kind),
            Ruling::Preflight(refusal) => preflight::refused(facts, refusal),
            Ruling::Guardrail(forbidden) => of_guardrails(facts, forbidden),
            Ruling::Policy(refusal) => of_policies(facts, refusal),
            Ruling::PoliciesUnknown(unlisted) => missing::policies(unlisted.why),
        })
    }

    fn new(field: impl Into<String>, reason: CutLine) -> Self {
        Self {
            causes: vec![Cause::of(field.into(), reason.clone())],
            reason,
            details: Vec::new(),
            needed: None,
        }
    }

    fn with(mut self, details: impl IntoIterator<Item = Detail>) -> Self {
        self.details.extend(details);
        self
    }

    fn needing(mut self, line: impl Into<CutLine>) -> Self {
        self.needed = Some(line.into());
        self
    }
}

impl Cause {
    fn of(field: String, line: CutLine) -> Self {
        let message = line.within(LINE_1);
        Self { field, message }
    }

    fn of_spec(fault: &SpecFault) -> Self {
        match fault {
            SpecFault::Filter(error) => Self::of(error.field.clone(), filter_error(error)),
            SpecFault::Schema(finding) => Self {
                field: finding.path.clone(),
                message: finding.message.clone(),
            },
        }
    }
}

// === Rows 1 to 3: the object itself ===

fn invalid_spec(faults: &[SpecFault]) -> RefusalWords {
    let more = faults.iter().skip(1);
    let more = more.map(|fault| spec_fault(fault).to_string()).collect();
    RefusalWords {
        reason: faults.first().map(spec_fault).unwrap_or_default(),
        causes: faults.iter().map(Cause::of_spec).collect(),
        details: vec![Detail::sentences("Also", more)],
        needed: None,
    }
}

/// One fault of a spec as a sentence.
fn spec_fault(fault: &SpecFault) -> CutLine {
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

fn invalid_selector(facts: &MessageFacts<'_>) -> RefusalWords {
    RefusalWords::new(
        facts.extension.fields.selector(),
        words("the catalog selector is not valid"),
    )
    .needing(
        "Use valid keys and values: In and NotIn need values, Exists and DoesNotExist take none.",
    )
}

fn invalid_range(facts: &MessageFacts<'_>, error: &ConstraintError) -> RefusalWords {
    let range = facts.range();
    let place = range::placed_fault(range, &error.fault());
    let instead = suggestion::constraint(range).filter(|_| !facts.advice.is_meant_refused);
    let instead = instead.map(|instead| range::suggestion(&instead));
    let sentences = [place].into_iter().chain(instead).collect();
    let reason = words("\"").written(range).say("\" is not a version range");
    RefusalWords::new(facts.extension.fields.version(), reason)
        .with([Detail::sentences("Range", sentences)])
        .needing("Use comparators such as >=1.2.3, <2.0.0 or 1.x.")
}

// === Rows 6 to 10a: the package, its channels and its versions ===

fn package_not_found(
    facts: &MessageFacts<'_>,
    searched: &[&str],
    nearest: &[&str],
) -> RefusalWords {
    let count = searched.len();
    let reason = match searched {
        [only] => words("catalog ")
            .name(only)
            .say(" does not have this package"),
        _ => words(&format!("none of the {count} catalogs has this package")),
    };
    let several = if count > 1 { searched } else { &[] };
    RefusalWords::new(facts.extension.fields.package_name(), reason)
        .with([
            Detail::items("Nearest", escaped(nearest)),
            Detail::items("Searched", escaped(several)),
        ])
        .needing(if facts.is_package_fixed() {
            "Add a catalog with this package, or create another extension: packageName cannot be changed."
        } else {
            "Add a catalog with this package, or set another packageName."
        })
}

fn channel_not_found(facts: &MessageFacts<'_>, existing: &[&str]) -> RefusalWords {
    let reason = match facts.channels() {
        [only] => words("channel ").name(only).say(" does not exist"),
        all => words(&format!(
            "none of the {} requested channels exists",
            all.len()
        )),
    };
    of_channels(facts, reason, Detail::items("Channels", escaped(existing)))
}

fn not_in_channel(facts: &MessageFacts<'_>, having: &[&str]) -> RefusalWords {
    let line = match facts.range() {
        "" => words("no bundle is in "),
        range => words("no bundle matching ").written(range).say(" is in "),
    };
    let reason = match facts.channels() {
        [only] => line.say("channel ").name(only),
        _ => line.say("the requested channels"),
    };
    of_channels(facts, reason, Detail::items("In channels", escaped(having)))
}

fn of_channels(facts: &MessageFacts<'_>, reason: CutLine, detail: Detail) -> RefusalWords {
    RefusalWords::new(facts.extension.fields.channels(), reason)
        .with([detail])
        .needing(match facts.dead_end {
            Some(end) => without_channels(facts, end),
            None if facts.advice.is_cut => {
                words("Set a channel with a bundle that can be installed now, or no channels.")
            }
            None => words(CHANNELS_ALONE),
        })
}

const CHANNELS_ALONE: &str = "A change of channels alone is not enough.";

/// The text about what helps if no change of channels does.
fn without_channels(facts: &MessageFacts<'_>, end: &DeadEnd<'_>) -> CutLine {
    match end.elsewhere {
        Some(to) => words("Without channels, olmguard path shows the steps to ")
            .then(versioned(to))
            .say("."),
        None => words(CHANNELS_ALONE).then(facts.highest()),
    }
}

fn version_not_found(facts: &MessageFacts<'_>, nearest: &[&Version]) -> RefusalWords {
    let reason = match facts.range() {
        "" => words("the package has no bundles"),
        range => words("no bundle matches ").written(range),
    };
    let versions = nearest.iter().map(ToString::to_string).collect();
    RefusalWords::new(facts.extension.fields.version(), reason)
        .with([Detail::items("Nearest", versions)])
        .needing(match facts.dead_end {
            Some(_) if facts.advice.allowed_next.is_empty() => {
                words("No other version can be installed in one edit.").then(facts.highest())
            }
            _ => words("olmguard versions shows which versions can be installed now."),
        })
}

fn broken_skip_range(facts: &MessageFacts<'_>, choice: Choice<'_>) -> RefusalWords {
    let reason = words("OLM crashes on the skipRange of ")
        .name(&choice.bundle().name)
        .say(": it has an empty OR group");
    RefusalWords::new(facts.extension.fields.version(), reason)
        .needing("The catalog author must fix the skipRange.")
}

// === Rows 11 to 15: the bundle that the edit resolves to ===

/// The text that no bundle is a successor, and whether all of them are older.
fn no_successor(
    facts: &MessageFacts<'_>,
    best: Choice<'_>,
    count: usize,
    is_older: bool,
) -> RefusalWords {
    let installed = facts.installed_version();
    let reason = match (count, is_older) {
        (1, true) => versioned(best)
            .say(" is older than ")
            .then(installed)
            .say(" and not a successor of it"),
        (1, false) => versioned(best)
            .say(" is not a successor of ")
            .then(installed),
        (_, true) => words(&format!(
            "all {count} bundles {} are older than ",
            facts.scope()
        ))
        .then(installed)
        .say(" and none is its successor"),
        (_, false) => words(&format!(
            "none of the {count} bundles {} is a successor of ",
            facts.scope()
        ))
        .then(installed),
    };
    let reason = match count {
        1 => reason.then(in_catalog(best)),
        _ => reason.say("; the best is ").then(of_catalog(best)),
    };
    no_path(facts, reason, best, count)
}

fn no_path(
    facts: &MessageFacts<'_>,
    reason: CutLine,
    best: Choice<'_>,
    count: usize,
) -> RefusalWords {
    let to = match count {
        1 => versioned(best),
        _ => words(&format!("any of the {count} bundles {}", facts.scope())),
    };
    let bound = facts.dead_end.and_then(bound);
    let line = facts
        .no_path_to(to)
        .say(bound.unwrap_or("."))
        .then(facts.highest());
    let needed = match bound {
        Some(_) => line,
        None => line.then(facts.other_path()),
    };
    RefusalWords::new(facts.extension.fields.version(), reason).needing(needed)
}

/// The rules that block a path which edges alone allow.
fn bound(end: &DeadEnd<'_>) -> Option<&'static str> {
    if end.uninstallable.is_some() {
        return Some(" that OLM can install.");
    }
    allowed_by(end.blocked.is_some(), !end.policies.is_empty())
}

fn of_catalog(choice: Choice<'_>) -> CutLine {
    versioned(choice).then(in_catalog(choice))
}

fn in_catalog(choice: Choice<'_>) -> CutLine {
    words(" in catalog ").name(&choice.catalog.name)
}

fn ambiguous(facts: &MessageFacts<'_>, left: &[Choice<'_>]) -> RefusalWords {
    let priorities = left.iter().map(|choice| choice.catalog.priority);
    let top = priorities.clone().next().unwrap_or_default();
    let tied = priorities.filter(|priority| *priority == top).count();
    let reason = format!("{tied} catalogs of the same priority ({top}) offer it");
    let catalogs = left.iter().map(|choice| {
        let (name, priority) = (go::escape(&choice.catalog.name), choice.catalog.priority);
        format!("{name} (priority {priority})")
    });
    RefusalWords::new(facts.extension.fields.selector(), words(&reason))
        .with([Detail::items("Catalogs", catalogs.collect())])
        .needing(match facts.extension.fields.selector {
            SelectorField::Present if !facts.advice.is_cut => {
                "A choice between these catalogs alone is not enough."
            }
            SelectorField::Present => {
                "Give the catalogs different priorities, or select one of them."
            }
            SelectorField::Absent => "Give the catalogs different priorities.",
        })
}

fn invalid_bundle(
    facts: &MessageFacts<'_>,
    choice: Choice<'_>,
    error: &BundleVersionError,
) -> RefusalWords {
    let reason = words("the version of bundle ")
        .name(&choice.bundle().name)
        .say(" cannot be read");
    let cause = (!error.is_olms_own()).then(|| Detail::items("Cause", vec![error.to_string()]));
    RefusalWords::new(facts.extension.fields.version(), reason)
        .with(cause)
        .needing("The catalog author must fix the version of the bundle.")
}

fn dependency(facts: &MessageFacts<'_>, choice: Choice<'_>, kind: DependencyKind) -> RefusalWords {
    let reason = CutLine::default().name(&choice.bundle().name).say(&format!(
        " declares {}, which OLM v1 does not support",
        kind.as_str()
    ));
    RefusalWords::new(facts.extension.fields.version(), reason)
        .needing("Only a bundle without dependencies can be installed.")
}

// === Rows 16 and 17: the rules of authors and administrators ===

fn of_guardrails(facts: &MessageFacts<'_>, forbidden: &ForbiddenStep<'_>) -> RefusalWords {
    let field = facts.extension.fields.version();
    let causes = guardrail::each(forbidden).map(|line| Cause::of(field.clone(), line));
    RefusalWords {
        reason: guardrail::reason(forbidden),
        causes: causes.collect(),
        details: guardrail::details(forbidden),
        needed: Some(guardrail::needed(facts, forbidden)),
    }
}

fn of_policies(facts: &MessageFacts<'_>, refusal: &PolicyRefusal<'_>) -> RefusalWords {
    let fields = &facts.extension.fields;
    let lines = policy::each(refusal, facts.range());
    let causes = refusal.findings.iter().zip(lines);
    let causes = causes.map(|(found, line)| Cause::of(policy::field(found, fields), line));
    RefusalWords {
        reason: policy::reason(refusal, facts.range()),
        causes: causes.collect(),
        details: policy::details(refusal, facts.range()),
        needed: Some(policy::needed(facts, refusal)),
    }
}
