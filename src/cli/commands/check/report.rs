//! The JSON of `check`, schema `olmguard.check/v1`.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::commands::BadInput;
use crate::cli::commands::check::args::CheckArgs;
use crate::cli::commands::check::base::{Ancestor, Base, BaseSource, Past};
use crate::cli::commands::check::cases::Case;
use crate::cli::commands::check::inputs::GatheredInputs;
use crate::cli::commands::check::judged;
use crate::cli::commands::check::kustomize::Skipped;
use olmguard_engine::explain::plain::{self, PassedOver};
use olmguard_engine::explain::{Answer, ForbiddenReport, PolicyReport, ResolvedBundle};
use olmguard_engine::judge::{Fix, OneEdit, Verdict};
use olmguard_engine::snapshot::{CatalogState, Snapshot};
use olmguard_views::see::InstalledReport;

/// Output of `olmguard check -o json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Report {
    /// Schema of this object.
    schema: &'static str,
    /// Catalogs, in byte order of their names.
    catalogs: Vec<CatalogReport>,
    /// The base: the state before the change. Only with `--base`.
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<BaseReport>,
    /// One result per extension, in the order of the inputs. With `--base` and without `--all`,
    /// unchanged extensions are omitted.
    results: Vec<ResultReport>,
    /// Templates and parts of kustomizations that are not rendered and were not checked. Omitted if
    /// empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<SkippedReport>,
    /// Number of results by verdict.
    summary: Summary,
}

/// A catalog that the check used.
#[derive(Debug, JsonSchema, Serialize)]
struct CatalogReport {
    name: String,
    /// Digest of the catalog image, from `status.resolvedSource.image.ref`.
    digest: Option<String>,
    /// Whether the content of the catalog is loaded and complete, and the catalog is served as far
    /// as known.
    loaded: bool,
    /// Why the content of the catalog could not be fetched or read.
    error: Option<String>,
    packages: usize,
    bundles: usize,
}

/// A document that was not checked.
#[derive(Debug, JsonSchema, Serialize)]
struct SkippedReport {
    file: String,
    /// Index of the YAML document in its file, from 0.
    document: usize,
    /// Line of the template expression, from 1.
    line: u32,
    /// Column of the template expression, in characters, from 1.
    column: u32,
    /// Why it was not checked, and how to render it.
    why: String,
}

/// The answer for one extension.
#[derive(Debug, JsonSchema, Serialize)]
struct ResultReport {
    /// Name of the extension: `metadata.name`.
    name: Option<String>,
    file: String,
    /// Index of the YAML document in its file, from 0.
    document: usize,
    /// Line of the deciding field, from 1.
    line: u32,
    /// Column of the deciding field, in characters, from 1.
    column: u32,
    /// State of the extension in the base. Only with `--base`, and not for an `AdmissionReview`.
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<PastReport>,
    package: Option<String>,
    policy: Option<&'static str>,
    range: Option<String>,
    channels: Vec<String>,
    installed: Option<InstalledReport>,
    #[schemars(extend("enum" = ["allow", "deny", "undecided", "not_judged"]))]
    verdict: &'static str,
    token: &'static str,
    /// Bundle that the edit resolves to, if it is allowed, or denied by guardrails, by policies or for its installation.
    resolved: Option<ResolvedBundle>,
    /// All bundles that are successors of the installed bundle, the best first.
    successors: Option<Vec<String>>,
    /// Versions of the upgrade path, the installed version first.
    path: Vec<String>,
    fix: Option<Fix>,
    /// Steps that OLM would make and guardrails forbid. Omitted if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    forbidden: Vec<ForbiddenReport>,
    /// First step that guardrails forbid on the path without guardrails. Only if guardrails leave no path.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked_by: Option<ForbiddenReport>,
    /// One edit that is enough for all steps of the path. Omitted if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    one_edit: Option<OneEdit>,
    /// Rules of upgrade policies that the edit violates. Omitted if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    policies: Vec<PolicyReport>,
    /// Checks of the installation that fail, or may fail, by their ids. Omitted if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    checks: Vec<&'static str>,
    warnings: Vec<String>,
    message: Option<String>,
    /// Error message of OLM itself.
    upstream: Option<String>,
}

/// Number of results by verdict.
#[derive(Debug, Default, JsonSchema, Serialize)]
pub(super) struct Summary {
    pub(super) allow: usize,
    pub(super) deny: usize,
    pub(super) undecided: usize,
    pub(super) not_judged: usize,
    /// Number of unchanged extensions that were not checked. Only with `--base`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unchanged: Option<usize>,
    /// Number of extensions that no longer exist. Only with `--base`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) removed: Option<usize>,
    /// Number of templates that are not rendered and were not checked. Omitted if zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) skipped: Option<usize>,
    /// Number of objects in the inputs that are neither extensions nor catalogs.
    pub(super) other_kinds: usize,
    /// Number of results that count as denied only because of their warnings. Only in the text for people.
    #[serde(skip)]
    pub(super) denied_by_warnings: usize,
}

impl Report {
    pub(super) fn of(
        args: &CheckArgs,
        snapshot: &Snapshot,
        gathered: &GatheredInputs,
        (answers, successors): (&[Answer], &[Option<Vec<String>>]),
    ) -> Self {
        let results = gathered.cases.iter().zip(answers.iter().zip(successors));
        Self {
            schema: SCHEMA,
            catalogs: snapshot.catalogs().iter().map(CatalogReport::of).collect(),
            base: gathered.base.as_ref().map(BaseReport::of),
            results: results
                .map(|(case, (answer, successors))| {
                    ResultReport::of(case, answer, successors.as_deref())
                })
                .collect(),
            skipped: gathered.skipped.iter().map(SkippedReport::of).collect(),
            summary: Summary::of(args, gathered, answers),
        }
    }
}

impl Summary {
    pub(super) fn of(args: &CheckArgs, gathered: &GatheredInputs, answers: &[Answer]) -> Self {
        let count = |verdict| {
            answers
                .iter()
                .filter(|answer| answer.verdict() == verdict)
                .count()
        };
        Self {
            allow: count(Verdict::Allow),
            deny: count(Verdict::Deny),
            undecided: count(Verdict::Undecided),
            not_judged: count(Verdict::NotJudged),
            unchanged: gathered.base.as_ref().map(|_| gathered.unchanged),
            removed: gathered.base.as_ref().map(|base| base.removed().count()),
            skipped: Some(gathered.skipped.len()).filter(|skipped| *skipped > 0),
            other_kinds: gathered.other_kinds,
            denied_by_warnings: answers
                .iter()
                .filter(|answer| judged::is_denied_by_warnings(answer, args))
                .count(),
        }
    }
}

impl SkippedReport {
    fn of(skipped: &Skipped) -> Self {
        let place = &skipped.place;
        Self {
            file: place.file.clone(),
            document: place.document,
            line: place.at.line,
            column: place.at.column,
            why: skipped.words(),
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdicts = [
            (Verdict::Deny, self.deny),
            (Verdict::Undecided, self.undecided),
            (Verdict::Allow, self.allow),
            (Verdict::NotJudged, self.not_judged),
        ];
        let passed_over = PassedOver {
            unchanged: self.unchanged.unwrap_or_default(),
            removed: self.removed.unwrap_or_default(),
            templates: self.skipped.unwrap_or_default(),
            other_kinds: self.other_kinds,
        };
        f.write_str(&plain::summary(&verdicts, passed_over))?;
        match self.denied_by_warnings {
            0 => Ok(()),
            count => write!(f, "; {}", plain::denied_by_warnings(count)),
        }
    }
}

impl CatalogReport {
    fn of(state: &CatalogState) -> Self {
        let loaded = state.loaded();
        let counts = loaded
            .map(olmguard_catalog::Catalog::counts)
            .unwrap_or_default();
        Self {
            name: state.name.clone(),
            digest: state.digest().map(str::to_owned),
            loaded: loaded.is_some(),
            error: state.content.fault().map(str::to_owned),
            packages: counts.packages,
            bundles: counts.bundles,
        }
    }
}

impl ResultReport {
    fn of(case: &Case, answer: &Answer, successors: Option<&[String]>) -> Self {
        let requested = answer.requested.as_ref();
        Self {
            name: case.identity.name.clone(),
            file: case.place.file.clone(),
            document: case.place.document,
            line: case.place.at.line,
            column: case.place.at.column,
            base: PastReport::of(&case.past),
            package: requested.map(|filter| filter.package.clone()),
            policy: requested.map(|filter| filter.policy.as_str()),
            range: requested.and_then(|filter| filter.version.clone()),
            channels: requested.map_or_else(Vec::new, |filter| filter.channels.clone()),
            installed: answer.installed.as_ref().map(InstalledReport::from),
            verdict: answer.verdict().as_str(),
            token: answer.token.as_str(),
            resolved: answer.resolved.clone(),
            successors: successors.map(<[_]>::to_vec),
            path: answer.advice.path.clone(),
            fix: answer.advice.fix.clone(),
            forbidden: answer.forbidden.clone(),
            blocked_by: answer.blocked.clone(),
            policies: answer.policies.clone(),
            one_edit: answer.advice.one_edit.clone(),
            checks: answer.checks.iter().map(|check| check.as_str()).collect(),
            warnings: answer.warnings.clone(),
            message: answer.message.clone(),
            upstream: answer.upstream.clone(),
        }
    }
}

const SCHEMA: &str = "olmguard.check/v1";

// === The additions of `--base` to the JSON of `check` ===

/// The base: the state before the change.
#[derive(Debug, JsonSchema, Serialize)]
struct BaseReport {
    /// Revision of the base, as given. Null if the base is a directory or a file.
    revision: Option<String>,
    /// Id of the commit of the base. Null if the base is a directory or a file.
    commit: Option<String>,
    /// Directory or file of the base. Null if the base is a revision.
    path: Option<String>,
    /// Extensions that no longer exist, in the order of the base.
    removed: Vec<RemovedReport>,
    /// Files of the base that no longer exist and could not be read, so nothing is compared with
    /// them. Omitted if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    passed_over: Vec<PassedOverReport>,
}

/// A file of the base that nothing is compared with.
#[derive(Debug, JsonSchema, Serialize)]
struct PassedOverReport {
    /// File as olmguard shows it: the revision, a colon, and the path from the root of the
    /// repository.
    file: String,
    /// Why the file could not be read.
    error: String,
}

/// An extension that no longer exists.
#[derive(Debug, JsonSchema, Serialize)]
struct RemovedReport {
    kind: String,
    name: String,
    /// File of the extension in the base. If the base is a revision: the path from the root of the
    /// repository.
    file: String,
    /// Index of the YAML document in its file, from 0.
    document: usize,
    /// Line of the deciding field, from 1.
    line: u32,
    /// Column of the deciding field, in characters, from 1.
    column: u32,
    /// Package that the extension requested.
    package: Option<String>,
    /// Version range that the extension requested.
    range: Option<String>,
}

/// State of an extension in the base.
#[derive(Debug, JsonSchema, Serialize)]
struct PastReport {
    #[schemars(extend("enum" = ["added", "changed", "unchanged", "unknown"]))]
    change: &'static str,
    /// File of the extension in the base. Null if the extension is new, or if olmguard cannot find
    /// this out.
    file: Option<String>,
    /// Index of the YAML document in its file, from 0.
    document: Option<usize>,
    /// Line of the deciding field, from 1.
    line: Option<u32>,
    /// Column of the deciding field, in characters, from 1.
    column: Option<u32>,
}

impl BaseReport {
    fn of(base: &Base) -> Self {
        let (revision, commit, path) = match base.source() {
            BaseSource::Path(path) => (None, None, Some(path.clone())),
            BaseSource::Revision { name, revision, .. } => {
                (Some(name.clone()), Some(revision.commit()), None)
            }
        };
        Self {
            revision,
            commit,
            path,
            removed: base.removed().map(RemovedReport::of).collect(),
            passed_over: base
                .passed_over()
                .iter()
                .map(PassedOverReport::of)
                .collect(),
        }
    }
}

impl PassedOverReport {
    fn of(one: &BadInput) -> Self {
        Self {
            file: one.file.clone(),
            error: one.problem.to_string(),
        }
    }
}

impl RemovedReport {
    fn of(one: &Ancestor) -> Self {
        let filter = one.filter();
        Self {
            kind: one.kind().to_owned(),
            name: one.name().unwrap_or_default().to_owned(),
            file: one.place.file.clone(),
            document: one.place.document,
            line: one.place.at.line,
            column: one.place.at.column,
            package: filter.map(|filter| filter.package.clone()),
            range: filter.and_then(|filter| filter.version.clone()),
        }
    }
}

impl PastReport {
    fn of(past: &Past) -> Option<Self> {
        let change = match past {
            Past::NotAsked => return None,
            Past::Added => "added",
            Past::Found(found) if found.is_same => "unchanged",
            Past::Found(_) => "changed",
            Past::Unknown(_) => "unknown",
        };
        let place = past.found().map(|found| &found.ancestor.place);
        Some(Self {
            change,
            file: place.map(|place| place.file.clone()),
            document: place.map(|place| place.document),
            line: place.map(|place| place.at.line),
            column: place.map(|place| place.at.column),
        })
    }
}
