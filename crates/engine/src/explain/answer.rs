//! The whole answer to one edit in the form that every command and the webhook print from.
//!
//! Who prints chooses what is shown of an [`Answer`], and how; it adds no fact and words nothing.

use crate::explain::message::{self, MessageFacts};
use crate::explain::text::CutLine;
use crate::explain::{ForbiddenReport, PolicyReport};
use crate::explain::{exempt, refusal, upstream, warning};
use crate::extension::{Fields, Filter, InstalledBundle, Policy};
use crate::judge::{
    Advice, Basis, DeadEnd, Edit, Exemption, ExemptionKind, FoundAdvice, Judgement,
    OutdatedCatalogs, PolicyFinding, PolicyRefusal, RuledEdit, Ruling, SpecFault, Stop, Token,
    UnansweredReason, Verdict, advise, judge, judge_with,
};
use crate::resolve::{Choice, NotLoadedCause};
use crate::snapshot::CatalogState;
use olmguard_policy::{Conditions, PolicyRule};

/// What becomes of one edit, in words and in data.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What becomes of it.
    pub verdict: Verdict,
    /// The row that answered.
    pub token: Token,
    /// The text for people, of one line or more; absent where nothing is refused or undecided.
    pub message: Option<String>,
    /// Why it is not judged, where it is not.
    pub exempt: Option<String>,
    /// The same as one of a few words.
    pub exemption: Option<ExemptionKind>,
    /// What was found, each with the field it is about.
    pub causes: Vec<Cause>,
    /// At most five lines of at most 120 characters.
    pub warnings: Vec<String>,
    /// Whether it is undecided only since the content of a catalog could not be read.
    pub rests_on_bad_input: bool,
    /// OLM's own text for the refusal, never cut.
    pub upstream: Option<String>,
    /// The package asked for, where that can be read.
    pub package: Option<String>,
    /// Whether upgrade edges bind the extension.
    pub policy: Option<Policy>,
    /// The version range asked for.
    pub range: Option<String>,
    /// The channels asked for.
    pub channels: Vec<String>,
    /// What is installed, where that is known.
    pub installed: Option<InstalledBundle>,
    /// What the edit resolves to.
    pub resolved: Option<ResolvedBundle>,
    /// The steps that OLM would take and guardrails forbid, those that the bypass lifts with them.
    pub forbidden: Vec<ForbiddenReport>,
    /// The rules of upgrade policies that the edit violates.
    pub policies: Vec<PolicyReport>,
    /// The upgrade path, the versions that can be reached in one edit, and whether the bypass helps.
    pub advice: Advice,
    /// The first step that guardrails forbid of the path that edges alone would give, where no path is left.
    pub blocked: Option<ForbiddenReport>,
    /// What is missing, where no edit of the object is known to help.
    pub needed: Option<String>,
    /// The catalog that the answer rests on most.
    pub catalog: Option<String>,
    /// The digest of its content.
    pub digest: Option<String>,
}

/// One finding of a refusal.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cause {
    /// The path of the field it is about; empty where it is about none.
    pub field: String,
    /// One sentence.
    pub message: String,
}

/// A bundle that an edit resolves to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ResolvedBundle {
    /// Its name.
    pub bundle: String,
    /// Its version, without a release.
    pub version: String,
    /// Its release; absent where there is none, also where it is explicitly empty.
    pub release: Option<String>,
    /// The catalog it comes from.
    pub catalog: String,
    /// Whether that catalog's deprecations name it.
    pub deprecated: bool,
}

/// Judges one edit and words the answer.
pub fn answer(basis: Basis<'_>, edit: &Edit<'_>) -> Answer {
    let judgement = judge(basis, edit);
    advised(basis, edit, &judgement, &Stop::default())
}

/// [`answer`] for a caller that cannot wait without end: a refusal is handed over as soon as it is known, in the
/// words that it has if nobody waits for the advice, and the search for that ends at the signal.
pub fn answer_until(
    basis: Basis<'_>,
    edit: &Edit<'_>,
    stop: &Stop,
    refused: impl FnOnce(Answer),
) -> Answer {
    let mut refused = Some(refused);
    let mut refuse = |judgement: &Judgement<'_>| {
        let advice = Advice::not_yet(&judgement.ruled);
        if let Some(refused) = refused.take_if(|_| advice.is_cut) {
            refused(worded(edit, judgement, advice.into()));
        }
    };
    // Conditions can outlast the time for the answer; what denies without them is known before.
    if basis.policies.upgrades.have_conditions() {
        refuse(&judge_with(basis, edit, Conditions::Skipped));
    }
    let is_over = || stop.is_set();
    let judgement = judge_with(basis, edit, Conditions::EvaluatedUntil(&is_over));
    refuse(&judgement);
    advised(basis, edit, &judgement, stop)
}

pub(super) fn advised(
    basis: Basis<'_>,
    edit: &Edit<'_>,
    judgement: &Judgement<'_>,
    stop: &Stop,
) -> Answer {
    let request = edit.request();
    let advise = |request| advise(basis, edit.new, &request, &judgement.ruled, stop);
    worded(edit, judgement, request.map(advise).unwrap_or_default())
}

/// The answer to an edit that is exempt, without what the catalogs would say about it.
pub fn exempted(edit: &Edit<'_>, exemption: Exemption) -> Answer {
    without_catalogs(edit, Ruling::NotJudged(exemption))
}

/// The answer to an edit that a server had no time or no room for.
pub fn unanswered(edit: &Edit<'_>, cause: UnansweredReason) -> Answer {
    without_catalogs(edit, Ruling::Unanswered(cause))
}

fn without_catalogs(edit: &Edit<'_>, ruling: Ruling<'_>) -> Answer {
    let judgement = Judgement {
        ruled: ruling.into(),
        warnings: Vec::new(),
    };
    worded(edit, &judgement, FoundAdvice::default())
}

fn worded(edit: &Edit<'_>, judgement: &Judgement<'_>, found: FoundAdvice<'_>) -> Answer {
    let FoundAdvice { advice, dead_end } = found;
    let ruled = &judgement.ruled;
    let request = edit.request();
    let upstream = upstream(edit, judgement);
    let catalog = cited(judgement);
    let facts = MessageFacts {
        extension: edit.new,
        request: request.as_ref(),
        judgement,
        advice: &advice,
        dead_end: dead_end.as_ref(),
        catalog,
        upstream: upstream.as_deref(),
    };
    let needed = message::lacking(&facts);
    let filter = edit.new.filter.as_ref().ok();
    Answer {
        verdict: judgement.verdict(),
        token: judgement.token(),
        message: message::message(&facts, needed.as_deref()).map(|lines| lines.text()),
        exempt: exemption(&ruled.ruling).map(exempt::why),
        exemption: exemption(&ruled.ruling).map(Exemption::kind),
        causes: causes(&facts),
        rests_on_bad_input: rests_on_bad_input(&ruled.ruling),
        warnings: warning::warnings(edit.new, &judgement.warnings),
        package: filter.map(|filter| filter.package.clone()),
        policy: filter.map(|filter| filter.policy),
        range: filter.and_then(|filter| filter.version.clone()),
        channels: filter
            .map(|filter| filter.channels.clone())
            .unwrap_or_default(),
        installed: edit.installed.bundle().cloned(),
        resolved: ruled.resolved().and_then(resolved),
        forbidden: forbidden(filter, ruled),
        policies: PolicyReport::all(ruled, request.as_ref()),
        blocked: blocked(dead_end.as_ref()),
        needed,
        catalog: catalog.map(|catalog| catalog.name.clone()),
        digest: catalog.and_then(CatalogState::digest).map(str::to_owned),
        upstream,
        advice,
    }
}

impl ResolvedBundle {
    /// `NAME VERSION[+RELEASE]`, as audit annotations have it.
    pub fn line(&self) -> String {
        match &self.release {
            Some(release) => format!("{} {}+{release}", self.bundle, self.version),
            None => format!("{} {}", self.bundle, self.version),
        }
    }
}

/// OLM's own text for a refusal.
pub(super) fn upstream(edit: &Edit<'_>, judgement: &Judgement<'_>) -> Option<String> {
    let request = edit.request()?;
    upstream::upstream(&request, &judgement.ruled.ruling)
}

/// The catalog that an answer rests on: that of the bundle it is about, else the only one asked.
pub(super) fn cited<'s>(judgement: &Judgement<'s>) -> Option<&'s CatalogState> {
    match &judgement.ruled.ruling {
        Ruling::Allowed(_, choice)
        | Ruling::Downgrade(choice, _)
        | Ruling::NotASuccessor(choice, _)
        | Ruling::BrokenSkipRange(choice)
        | Ruling::BundleVersionInvalid(choice, _)
        | Ruling::UnsupportedDependency(choice, _) => Some(choice.catalog),
        Ruling::Guardrail(forbidden) => Some(forbidden.to.catalog),
        Ruling::Policy(refusal) => Some(refusal.resolved.catalog),
        Ruling::PoliciesUnknown(unlisted) => Some(unlisted.resolved.catalog),
        Ruling::CatalogNotLoaded(failed) => Some(failed.catalog),
        Ruling::CatalogOutdated(outdated) => match outdated.catalogs() {
            [only] => Some(only),
            _ => None,
        },
        _ => match judgement.ruled.matched.as_slice() {
            [only] => Some(only.catalog),
            _ => None,
        },
    }
}

pub(super) fn exemption<'r>(ruling: &'r Ruling<'_>) -> Option<&'r Exemption> {
    match ruling {
        Ruling::NotJudged(exemption) => Some(exemption),
        _ => None,
    }
}

fn rests_on_bad_input(ruling: &Ruling<'_>) -> bool {
    let why = match ruling {
        Ruling::CatalogNotLoaded(failed) => &failed.why,
        _ => return false,
    };
    matches!(
        why,
        NotLoadedCause::Unreadable(_) | NotLoadedCause::Package(_)
    )
}

pub(super) fn causes(facts: &MessageFacts<'_>) -> Vec<Cause> {
    let fields = &facts.extension.fields;
    let one = |field: String| {
        vec![Cause {
            field,
            message: message::short(facts),
        }]
    };
    match &facts.judgement.ruled.ruling {
        Ruling::NotJudged(_) | Ruling::Allowed(..) => Vec::new(),
        Ruling::Unanswered(_) | Ruling::PoliciesUnknown(_) => one(String::new()),
        Ruling::InvalidSpec(faults) => faults.iter().map(spec_cause).collect(),
        Ruling::Guardrail(forbidden) => {
            let cause = |line: CutLine| Cause {
                field: fields.version(),
                message: line.within(message::LINE_1),
            };
            let each = refusal::guardrail::each(forbidden).into_iter();
            each.map(cause).collect()
        }
        Ruling::Policy(refusal) => policies(facts, refusal),
        ruling => one(field(ruling, fields)),
    }
}

/// Every rule that denies, with the field of the extension that it is about.
fn policies(facts: &MessageFacts<'_>, refusal: &PolicyRefusal<'_>) -> Vec<Cause> {
    let fields = &facts.extension.fields;
    let lines = refusal::policy::each(refusal, facts.request).into_iter();
    let causes = refusal.findings.iter().zip(lines);
    let cause = |(found, line): (&PolicyFinding<'_>, CutLine)| Cause {
        field: match found.violation.rule {
            PolicyRule::Bypass | PolicyRule::BypassPermission => fields.policy(),
            PolicyRule::Catalog { .. } => fields.selector(),
            _ => fields.version(),
        },
        message: line.within(message::LINE_1),
    };
    causes.map(cause).collect()
}

/// The field that a row is about, if it is one alone.
fn field(ruling: &Ruling<'_>, fields: &Fields) -> String {
    match ruling {
        Ruling::CatalogOutdated(OutdatedCatalogs::Superseded { denial, .. }) => {
            field(denial, fields)
        }
        Ruling::InvalidSelector(_)
        | Ruling::NoCatalogs(_)
        | Ruling::CatalogNotLoaded(_)
        | Ruling::CatalogOutdated(OutdatedCatalogs::TooOld(_))
        | Ruling::AmbiguousCatalogs(_) => fields.selector(),
        Ruling::PackageNotFound { .. } => fields.package_name(),
        Ruling::ChannelNotFound { .. } | Ruling::NotInChannel { .. } => fields.channels(),
        Ruling::InstalledUnknown(_) | Ruling::InstalledVersionInvalid(_) => {
            fields.installed.to_owned()
        }
        _ => fields.version(),
    }
}

fn spec_cause(fault: &SpecFault) -> Cause {
    match fault {
        SpecFault::Filter(error) => Cause {
            field: error.field.clone(),
            message: refusal::spec_fault(fault).within(message::LINE_1),
        },
        SpecFault::Schema(finding) => Cause {
            field: finding.path.clone(),
            message: finding.message.clone(),
        },
    }
}

/// In the order of the walk: it ends at the first step that holds.
fn forbidden(filter: Option<&Filter>, ruled: &RuledEdit<'_>) -> Vec<ForbiddenReport> {
    let policy = filter.map_or(Policy::CatalogProvided, |filter| filter.policy);
    let holding = match &ruled.ruling {
        Ruling::Guardrail(forbidden) => Some(forbidden),
        _ => None,
    };
    let steps = ruled.lifted.iter().chain(holding);
    let reports = steps.map(|forbidden| ForbiddenReport::of(forbidden, policy));
    reports.collect()
}

fn blocked(dead_end: Option<&DeadEnd<'_>>) -> Option<ForbiddenReport> {
    let blocked = dead_end?.blocked.as_ref()?;
    Some(ForbiddenReport::of(blocked, Policy::CatalogProvided))
}

fn resolved(choice: Choice<'_>) -> Option<ResolvedBundle> {
    let bundle = choice.bundle();
    let read = bundle.version.as_ref().ok()?;
    let release = read.release.as_ref().filter(|release| !release.is_empty());
    Some(ResolvedBundle {
        bundle: String::from(&*bundle.name),
        version: read.version.to_string(),
        release: release.map(ToString::to_string),
        catalog: choice.catalog.name.clone(),
        deprecated: choice.is_deprecated(),
    })
}

/// The answer to what is not even read as an edit of an extension.
pub fn not_judged(exemption: &Exemption) -> Answer {
    Answer {
        verdict: Verdict::NotJudged,
        token: Token::NotJudged,
        message: None,
        exempt: Some(exempt::why(exemption)),
        exemption: Some(exemption.kind()),
        causes: Vec::new(),
        rests_on_bad_input: false,
        warnings: warning::of_exemption(exemption).into_iter().collect(),
        upstream: None,
        package: None,
        policy: None,
        range: None,
        channels: Vec::new(),
        installed: None,
        resolved: None,
        forbidden: Vec::new(),
        blocked: None,
        policies: Vec::new(),
        advice: Advice::default(),
        needed: None,
        catalog: None,
        digest: None,
    }
}
