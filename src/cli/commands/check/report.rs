//! The JSON of `check`, schema `olmguard.check/v1`.

mod past;

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::commands::check::cases::{Case, CasePlace};
use crate::cli::commands::check::inputs::GatheredInputs;
use olmguard_engine::explain::Answer;
use olmguard_engine::explain::ForbiddenReport;
use olmguard_engine::explain::plain::{self, PassedOver};
use olmguard_engine::judge::{FixValue, OneEdit, Verdict};
use olmguard_engine::snapshot::{CatalogState, Snapshot};
use past::{BaseReport, PastReport};

/// What `olmguard check -o json` prints.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
pub struct Report {
    /// The schema of this object.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// The catalogs, in byte order of their names.
    catalogs: Vec<CatalogReport>,
    /// What there was before; only with `--base`.
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<BaseReport>,
    /// One result for each extension, in the order of the inputs; with `--base` without `--all` those
    /// that are what they were are left out.
    results: Vec<ResultReport>,
    /// Templates that no one has rendered; left out where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<SkippedReport>,
    /// How many of each.
    summary: Summary,
}

/// One catalog.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct CatalogReport {
    name: String,
    /// The digest of `status.resolvedSource.image.ref`.
    digest: Option<String>,
    /// Whether its content is held, complete and decoded, and nothing says that it is not served.
    loaded: bool,
    /// Why its content could not be fetched, or cannot be read.
    error: Option<String>,
    packages: usize,
    bundles: usize,
}

/// A document that was not read.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct SkippedReport {
    file: String,
    /// 0-based index of the document in its file.
    document: usize,
    /// 1-based, of what makes it a template.
    line: u32,
    /// 1-based, in characters.
    column: u32,
}

/// One extension.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct ResultReport {
    /// `metadata.name`.
    name: Option<String>,
    file: String,
    /// 0-based index of the document in its file.
    document: usize,
    /// 1-based, of the deciding field.
    line: u32,
    /// 1-based, in characters.
    column: u32,
    /// What it was before; only with `--base`, and not of a review.
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
    /// What the edit resolves to, where it is allowed.
    resolved: Option<ResolvedReport>,
    /// All bundles that the successor rule accepts, the best first.
    successors: Option<Vec<String>>,
    /// The versions on the way, the installed one first.
    path: Vec<String>,
    fix: Option<FixReport>,
    /// The steps that OLM would take and guardrails forbid; left out where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    forbidden: Vec<ForbiddenReport>,
    /// The step that guardrails forbid of the path that edges alone would give; left out where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked_by: Option<ForbiddenReport>,
    /// The range under which OLM takes all steps of the path by itself; left out where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    one_edit: Option<OneEditReport>,
    warnings: Vec<String>,
    message: Option<String>,
    /// OLM's own text.
    upstream: Option<String>,
}

#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct InstalledReport {
    bundle: Option<String>,
    version: String,
    release: Option<String>,
}

#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct ResolvedReport {
    bundle: String,
    version: String,
    release: Option<String>,
    catalog: String,
    deprecated: bool,
}

#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct FixReport {
    field: String,
    value: FixValueReport,
}

/// One edit in place of several.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct OneEditReport {
    field: String,
    /// The range to set.
    value: String,
    /// The versions that OLM then installs, one after the other.
    through: Vec<String>,
}

/// A value has the type of its field.
#[derive(Debug, JsonSchema, Serialize)]
#[serde(untagged)]
enum FixValueReport {
    Text(String),
    List(Vec<String>),
}

/// How many results of each verdict there are.
#[derive(Debug, Default, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
pub(super) struct Summary {
    pub(super) allow: usize,
    pub(super) deny: usize,
    pub(super) undecided: usize,
    pub(super) not_judged: usize,
    /// Extensions that are what they were, and were not judged; only with `--base`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unchanged: Option<usize>,
    /// Extensions that are there no more; only with `--base`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) removed: Option<usize>,
    /// Templates that no one has rendered; left out where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) skipped: Option<usize>,
    /// Objects among the inputs that are neither extensions nor catalogs.
    pub(super) other_kinds: usize,
}

impl Report {
    pub(super) fn of(snapshot: &Snapshot, gathered: &GatheredInputs, answers: &[Answer]) -> Self {
        let results = gathered.cases.iter().zip(answers);
        Self {
            schema: SCHEMA,
            catalogs: snapshot.catalogs().iter().map(CatalogReport::of).collect(),
            base: gathered.base.as_ref().map(BaseReport::of),
            results: results
                .map(|(case, answer)| ResultReport::of(case, answer))
                .collect(),
            skipped: gathered.skipped.iter().map(SkippedReport::of).collect(),
            summary: Summary::of(gathered, answers),
        }
    }
}

impl Summary {
    pub(super) fn of(gathered: &GatheredInputs, answers: &[Answer]) -> Self {
        let count = |verdict| {
            answers
                .iter()
                .filter(|answer| answer.verdict == verdict)
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
        }
    }
}

impl SkippedReport {
    fn of(place: &CasePlace) -> Self {
        Self {
            file: place.file.clone(),
            document: place.document,
            line: place.at.line,
            column: place.at.column,
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
        f.write_str(&plain::summary(&verdicts, passed_over))
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
    fn of(case: &Case, answer: &Answer) -> Self {
        let installed = answer.installed.clone().map(|bundle| InstalledReport {
            bundle: bundle.name,
            version: bundle.version,
            release: bundle.release,
        });
        let resolved = answer.resolved.clone().map(|resolved| ResolvedReport {
            bundle: resolved.bundle,
            version: resolved.version,
            release: resolved.release,
            catalog: resolved.catalog,
            deprecated: resolved.deprecated,
        });
        let fix = answer.advice.fix.clone().map(|fix| FixReport {
            field: fix.field,
            value: match fix.value {
                FixValue::Text(text) => FixValueReport::Text(text),
                FixValue::List(items) => FixValueReport::List(items),
            },
        });
        Self {
            name: case.identity.name.clone(),
            file: case.place.file.clone(),
            document: case.place.document,
            line: case.place.at.line,
            column: case.place.at.column,
            base: PastReport::of(&case.past),
            package: answer.package.clone(),
            policy: answer
                .policy
                .map(olmguard_engine::extension::Policy::as_str),
            range: answer.range.clone(),
            channels: answer.channels.clone(),
            installed,
            verdict: answer.verdict.as_str(),
            token: answer.token.as_str(),
            resolved,
            successors: answer.successors.clone(),
            path: answer.advice.path.clone(),
            fix,
            forbidden: answer.forbidden.clone(),
            blocked_by: answer.blocked.clone(),
            one_edit: answer.advice.one_edit.as_ref().map(OneEditReport::of),
            warnings: answer.warnings.clone(),
            message: answer.message.clone(),
            upstream: answer.upstream.clone(),
        }
    }
}

impl OneEditReport {
    fn of(edit: &OneEdit) -> Self {
        Self {
            field: edit.field.clone(),
            value: edit.range.clone(),
            through: edit.through.clone(),
        }
    }
}

const SCHEMA: &str = "olmguard.check/v1";
