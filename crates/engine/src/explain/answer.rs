//! The whole answer to one edit, in the form that every command and the webhook print from.
//!
//! A caller chooses which parts of an [`Answer`] it shows, and how. It adds no facts and words nothing.

use std::collections::{BTreeSet, HashSet};

use serde::Serialize;

use crate::explain::facts::MessageFacts;
use crate::explain::message::{self, Lines};
use crate::explain::refusal::RefusalWords;
use crate::explain::text::{CutLine, cut_middle};
use crate::explain::{Cause, ForbiddenReport, PolicyReport, RequesterFact, warning};
use crate::extension::{Filter, Installed, InstalledBundle, Policy};
use crate::judge::{
    Advice, Basis, DeadEnd, Edit, Exemption, ExemptionKind, FoundAdvice, Judgement, RuledEdit,
    Ruling, Stop, Token, Verdict, advise, images_named, judge, judge_with, successors,
};
use crate::resolve::Choice;
use crate::snapshot::{CatalogState, Snapshot};
use olmguard_catalog::CrdNames;
use olmguard_catalog::version::go;
use olmguard_policy::Conditions;
use olmguard_preflight::PreflightCheck;
use olmguard_preflight::content::NeededObject;

/// The result of one edit, as text and as data. By default, the edit is not judged.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The row that answered.
    pub token: Token,
    /// The text for users, of one or more lines; absent if the edit is neither refused nor undecided.
    pub message: Option<String>,
    /// The content of the first line of the message, without the edit: for a warning that has no room for the whole
    /// line.
    pub brief: CutLine,
    /// Why the edit is not judged; absent if it is.
    pub exemption: Option<ExemptionReport>,
    /// The findings, each with its field.
    pub causes: Vec<Cause>,
    /// The warnings: at most five lines of at most 120 characters.
    pub warnings: Vec<String>,
    /// Whether the edit is undecided only because the content of a catalog could not be read.
    pub rests_on_bad_input: bool,
    /// OLM's own text for the refusal, never cut.
    pub upstream: Option<String>,
    /// The requested filter, if it can be read.
    pub requested: Option<Filter>,
    /// The installed bundle, if it is known.
    pub installed: Option<InstalledBundle>,
    /// The bundle that the edit resolves to.
    pub resolved: Option<ResolvedBundle>,
    /// The steps that OLM would take and that guardrails forbid, including those that the bypass lifts.
    pub forbidden: Vec<ForbiddenReport>,
    /// The rules of upgrade policies that the edit violates.
    pub policies: Vec<PolicyReport>,
    /// The facts about the requester that rules of upgrade policies read, if the rules deny the edit, warn about it or
    /// block its path.
    pub reads: BTreeSet<RequesterFact>,
    /// The checks of the installation that fail, or possibly fail.
    pub checks: Vec<PreflightCheck>,
    /// The image that operator-controller would pull, which these checks depend on.
    pub image: Option<PulledImage>,
    /// The upgrade path, the versions that can be reached in one edit, and whether the bypass helps.
    pub advice: Advice,
    /// The first step that guardrails forbid on the path that edges alone allow, if no path is left.
    pub blocked: Option<ForbiddenReport>,
    /// The missing fact or change, if no edit of the object is known to help.
    pub needed: Option<String>,
    /// The catalog that the answer mainly depends on.
    pub catalog: Option<CitedCatalog>,
}

/// The image that operator-controller would pull to install a bundle, and the objects that the bundle creates and
/// needs.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct PulledImage {
    /// The image reference, as the catalog of the bundle has it.
    pub reference: String,
    /// The CRDs of the bundle, as its catalog lists them.
    pub crds: CrdNames,
    /// The namespace of a first installation, which creates all objects of the bundle.
    pub first_in: Option<String>,
    /// The objects that must exist before the installation.
    pub needs: BTreeSet<NeededObject>,
}

/// Why an edit is not judged.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ExemptionReport {
    /// The kind of the reason.
    pub kind: ExemptionKind,
    /// The reason as text.
    pub why: String,
}

/// The catalog that an answer depends on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CitedCatalog {
    /// The name of the catalog.
    pub name: String,
    /// The digest of the content.
    pub digest: Option<String>,
}

/// Bundle that an edit resolves to.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "ResolvedReport")]
pub struct ResolvedBundle {
    /// Name of the bundle.
    pub bundle: String,
    /// Version of the bundle, without its release.
    pub version: String,
    /// Release of the bundle. Null if it has none or an empty one.
    pub release: Option<String>,
    /// Catalog of the bundle.
    pub catalog: String,
    /// Whether the catalog deprecates the bundle.
    pub deprecated: bool,
}

/// Judges one edit and returns the answer.
pub fn answer(basis: Basis<'_>, edit: &Edit<'_>) -> Answer {
    Answer::advised(basis, edit, &judge(basis, edit), &Stop::default())
}

/// Like [`answer`], with the names of all bundles that the successor rule accepts, the best first. Some packages have
/// thousands.
pub fn answer_with_successors(basis: Basis<'_>, edit: &Edit<'_>) -> (Answer, Option<Vec<String>>) {
    let judgement = judge(basis, edit);
    let request = edit.request();
    let accepted = request.and_then(|it| successors(basis, &it, &judgement.ruled.ruling));
    let answer = Answer::advised(basis, edit, &judgement, &Stop::default());
    (answer, accepted.as_deref().map(names))
}

/// Like [`answer`], for a caller with a deadline. A refusal is passed to `refused` as soon as it is known, with the
/// text that it has without advice. The search for advice ends at the signal.
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
            refused(Answer::of(edit, judgement, &advice.into()));
        }
    };
    // Conditions can take longer than the time for the answer. A denial without conditions is known earlier.
    if basis.policies.upgrades.have_conditions() {
        refuse(&judge_with(basis, edit, Conditions::Skipped));
    }
    let is_over = || stop.is_set();
    let judgement = judge_with(basis, edit, Conditions::EvaluatedUntil(&is_over));
    refuse(&judgement);
    Answer::advised(basis, edit, &judgement, stop)
}

/// The images of the installed bundle of an answer, one for each catalog that has the bundle. The resolved bundle would
/// replace it.
pub fn installed_images(snapshot: &Snapshot, answer: &Answer) -> BTreeSet<String> {
    let installed = answer.installed.as_ref();
    let name = installed.and_then(|installed| installed.name.as_deref());
    let both = name.zip(answer.requested.as_ref());
    both.map(|(name, filter)| images_named(snapshot, filter, name))
        .unwrap_or_default()
}

/// The answer to an edit that is not judged against the catalogs, because it is exempt or the server had no time or
/// room for it.
pub fn answer_unasked(edit: &Edit<'_>, ruling: Ruling<'static>) -> Answer {
    let judgement = Judgement {
        ruled: ruling.into(),
        warnings: Vec::new(),
    };
    Answer::of(edit, &judgement, &FoundAdvice::default())
}

/// The answer to an object that is not read as an edit of an extension.
pub fn not_judged(exemption: &Exemption) -> Answer {
    Answer {
        exemption: Some(ExemptionReport::of(exemption)),
        warnings: warning::of_exemption(exemption).into_iter().collect(),
        ..Answer::default()
    }
}

impl Answer {
    /// The outcome of the edit.
    pub fn verdict(&self) -> Verdict {
        self.token.verdict()
    }

    fn advised(basis: Basis<'_>, edit: &Edit<'_>, judgement: &Judgement<'_>, stop: &Stop) -> Self {
        let advise = |request| advise(basis, edit.new, &request, &judgement.ruled, stop);
        let found = edit.request().map(advise).unwrap_or_default();
        Self::of(edit, judgement, &found)
    }

    fn of(edit: &Edit<'_>, judgement: &Judgement<'_>, found: &FoundAdvice<'_>) -> Self {
        let facts = MessageFacts::of(edit, judgement, found);
        let ruled = &judgement.ruled;
        let filter = edit.new.filter.as_ref().ok();
        let refusal = RefusalWords::of(&facts);
        Self {
            token: judgement.token(),
            message: refusal
                .as_ref()
                .map(|it| message::message(&facts, it).text()),
            brief: refusal
                .as_ref()
                .map(|it| message::brief(&facts, it))
                .unwrap_or_default(),
            needed: refusal.as_ref().and_then(|it| message::needed(&facts, it)),
            causes: refusal.map(|it| it.causes).unwrap_or_default(),
            exemption: ruled.ruling.exemption().map(ExemptionReport::of),
            warnings: warning::warnings(edit.new, &judgement.warnings),
            rests_on_bad_input: ruled.ruling.rests_on_bad_input(),
            requested: filter.cloned(),
            installed: edit.installed.bundle().cloned(),
            resolved: ruled.resolved().and_then(ResolvedBundle::of),
            forbidden: forbidden(filter, ruled),
            policies: PolicyReport::all(ruled, facts.range()),
            reads: RequesterFact::all(ruled, found.dead_end.as_ref()),
            checks: ruled
                .preflight()
                .map(|refusal| refusal.faults.checks())
                .unwrap_or_default(),
            image: ruled
                .pulled
                .and_then(|choice| PulledImage::of(choice, edit)),
            blocked: blocked(found.dead_end.as_ref()),
            catalog: facts.catalog.map(CitedCatalog::of),
            upstream: facts.upstream,
            advice: found.advice.clone(),
        }
    }
}

impl PulledImage {
    /// The image of a bundle, if its catalog has one.
    fn of(choice: Choice<'_>, edit: &Edit<'_>) -> Option<Self> {
        let bundle = choice.bundle();
        let reference = &*bundle.image;
        let is_first = matches!(edit.installed, Installed::Nothing);
        let install = edit.new.install.as_ref().filter(|_| is_first);
        (!reference.is_empty()).then(|| Self {
            reference: reference.to_owned(),
            crds: bundle
                .install
                .as_ref()
                .map(|it| it.crds.clone())
                .unwrap_or_default(),
            first_in: install.map(|install| install.namespace.clone()),
            needs: edit.needs(),
        })
    }
}

impl ExemptionReport {
    fn of(exemption: &Exemption) -> Self {
        Self {
            kind: exemption.kind(),
            why: why_exempt(exemption),
        }
    }
}

impl CitedCatalog {
    fn of(catalog: &CatalogState) -> Self {
        Self {
            name: catalog.name.clone(),
            digest: catalog.digest().map(str::to_owned),
        }
    }
}

impl ResolvedBundle {
    /// `None` if the version of the bundle cannot be read.
    fn of(choice: Choice<'_>) -> Option<Self> {
        let bundle = choice.bundle();
        let read = choice.version_release()?;
        let release = read.release.as_ref().filter(|release| !release.is_empty());
        Some(Self {
            bundle: String::from(&*bundle.name),
            version: read.version.to_string(),
            release: release.map(ToString::to_string),
            catalog: choice.catalog.name.clone(),
            deprecated: choice.is_deprecated(),
        })
    }

    /// `NAME VERSION[+RELEASE]`, the form of audit annotations.
    pub fn line(&self) -> String {
        match &self.release {
            Some(release) => format!("{} {}+{release}", self.bundle, self.version),
            None => format!("{} {}", self.bundle, self.version),
        }
    }
}

/// The forbidden steps in the order of the walk, which ends at the first step that the bypass does not lift.
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

/// The names of the bundles, each once, by version and release descending, then by name.
fn names(accepted: &[Choice<'_>]) -> Vec<String> {
    let mut bundles: Vec<_> = accepted.iter().map(Choice::bundle).collect();
    bundles.sort_by(|a, b| a.cmp_preference(b).then_with(|| a.name.cmp(&b.name)));
    let mut seen = HashSet::with_capacity(bundles.len());
    bundles.retain(|bundle| seen.insert(&bundle.name));
    bundles
        .into_iter()
        .map(|bundle| String::from(&*bundle.name))
        .collect()
}

// === Single texts about an edit, for callers that do not need the whole answer ===

/// Why an edit is refused or undecided, in one sentence. If there are several causes, the first.
pub fn reason(edit: &Edit<'_>, judgement: &Judgement<'_>) -> Option<String> {
    let found = FoundAdvice::default();
    let refusal = RefusalWords::of(&MessageFacts::of(edit, judgement, &found))?;
    let first = refusal.causes.into_iter().next()?;
    Some(first.message)
}

/// The whole message, as in [`Answer::message`](crate::explain::Answer::message).
pub fn message(
    edit: &Edit<'_>,
    judgement: &Judgement<'_>,
    found: &FoundAdvice<'_>,
) -> Option<String> {
    Some(lines(edit, judgement, found)?.text())
}

/// The whole message in one line.
pub fn line(edit: &Edit<'_>, judgement: &Judgement<'_>, found: &FoundAdvice<'_>) -> Option<String> {
    Some(lines(edit, judgement, found)?.in_one_line())
}

fn lines(edit: &Edit<'_>, judgement: &Judgement<'_>, found: &FoundAdvice<'_>) -> Option<Lines> {
    let facts = MessageFacts::of(edit, judgement, found);
    Some(message::message(&facts, &RefusalWords::of(&facts)?))
}

/// Why an edit is not judged; `None` if it is.
pub fn exemption(judgement: &Judgement<'_>) -> Option<String> {
    judgement.ruled.ruling.exemption().map(why_exempt)
}

/// Why an edit is not judged.
fn why_exempt(exemption: &Exemption) -> String {
    match exemption {
        Exemption::Operation => "the request neither creates nor updates the object".to_owned(),
        Exemption::Kind => "not an extension".to_owned(),
        Exemption::UnknownVersion { .. } => "an unknown API version".to_owned(),
        Exemption::Deleting => "it is being deleted".to_owned(),
        Exemption::Unchanged => "what it requests has not changed".to_owned(),
        Exemption::Source(source) => {
            format!(
                "its source is {}, not Catalog",
                cut_middle(&go::escape(source), 40)
            )
        }
        Exemption::Reconfigured => "it only changes how the bundle is configured".to_owned(),
        Exemption::Stricter => "it only turns the override off".to_owned(),
    }
}
