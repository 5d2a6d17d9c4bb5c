//! A suite as written, schema `olmguard.test/v1`.

use std::path::{Path, PathBuf};

use crate::cli::args::catalogs::CatalogArgs;
use crate::cli::args::installed::SaidArg;
use crate::cli::args::olm::AskedRelease;
use crate::cli::commands::test::subject::SuiteSubject;
use crate::facts::olm::OlmRequest;
use crate::manifest::{Document, DocumentField, FieldError, Position};
use olmguard_engine::judge::{Requester, StatedInstalled, Token, UserInfo, Verdict};
use olmguard_policy::Moment;

/// A suite: its facts, and its cases with the expected results.
#[derive(Debug)]
pub(super) struct Suite {
    /// The path of the file, as given by the user.
    pub(super) file: String,
    /// The directory to which the paths in the suite are relative.
    pub(super) folder: PathBuf,
    pub(super) facts: SuiteFacts,
    /// Whether the suite sets the time of every edit.
    pub(super) has_times: bool,
    pub(super) cases: Vec<SuiteCase>,
}

/// The origin of the facts.
#[derive(Debug)]
pub(super) struct SuiteFacts {
    pub(super) catalogs: CatalogArgs,
    /// Files with objects that set the labels, the priority and the mode of catalogs.
    pub(super) objects: Vec<PathBuf>,
    pub(super) snapshot: Option<PathBuf>,
    /// Rules of administrators.
    pub(super) guardrails: Vec<PathBuf>,
    /// Upgrade policies of administrators.
    pub(super) policies: Vec<PathBuf>,
    pub(super) olm: OlmRequest,
}

/// One edit, and its expected result.
#[derive(Debug)]
pub(super) struct SuiteCase {
    pub(super) name: String,
    pub(super) at: Position,
    pub(super) extension: SuiteSubject,
    pub(super) installed: Option<SaidArg>,
    pub(super) old: Option<Old>,
    /// The user who makes the edit, and the time.
    pub(super) requester: Requester,
    pub(super) expected: Expectation,
}

/// The extension before the edit.
#[derive(Debug)]
pub(super) enum Old {
    /// The same extension with this range.
    Range(String),
    Subject(SuiteSubject),
}

/// The expected result. Absent fields may have any value.
#[derive(Debug)]
pub(super) struct Expectation {
    pub(super) verdict: Option<Verdict>,
    pub(super) token: Option<Token>,
    pub(super) resolved: Option<String>,
    /// Texts that must each be in some warning. An empty list expects no warnings.
    pub(super) warnings: Option<Vec<String>>,
    /// Texts that must all be in the message.
    pub(super) message: Vec<String>,
}

impl Suite {
    pub(super) fn read(file: &str, document: &Document) -> Result<Self, FieldError> {
        let root = DocumentField::root(document, "the suite");
        root.mapping(&KEYS)?;
        let schema = root.need("schema", SCHEMA)?;
        schema.word(&[(SCHEMA, ())])?;
        let folder = Path::new(file).parent().unwrap_or(Path::new("")).to_owned();
        let facts = SuiteFacts::read(&root, &folder)?;
        let list = root.need("cases", "a list of cases")?;
        let cases = list.items()?;
        let has_time = |case: &DocumentField<'_>| case.get("at").is_some();
        let has_times = root.get("at").is_some() || cases.iter().all(has_time);
        let at = moment(&root, &facts, has_times)?;
        let cases: Result<Vec<_>, _> = cases.iter().map(|case| SuiteCase::read(case, at)).collect();
        let cases = cases?;
        if cases.is_empty() {
            let name = list.name();
            return Err(list.error(format!("{name} is empty: expected at least one case")));
        }
        Ok(Self {
            file: file.to_owned(),
            folder,
            facts,
            has_times,
            cases,
        })
    }
}

impl SuiteFacts {
    fn read(root: &DocumentField<'_>, folder: &Path) -> Result<Self, FieldError> {
        let paths = |field: DocumentField<'_>| {
            let names = field.texts()?.into_iter();
            Ok(names.map(|name| folder.join(name)).collect::<Vec<_>>())
        };
        let paths = |key| root.optional(key, paths).map(Option::unwrap_or_default);
        let catalogs = root.optional("catalogs", |field| CatalogArgs::of_field(&field, folder))?;
        let release = root.optional("olmRelease", |field| {
            field.parsed(|text| {
                text.parse::<AskedRelease>()
                    .map_err(|error| error.to_string())
            })
        })?;
        let gates = root.optional("featureGates", |field| field.texts())?;
        Ok(Self {
            catalogs: catalogs.unwrap_or_default(),
            objects: paths("clusterCatalogs")?,
            snapshot: root.optional("snapshot", |field| Ok(folder.join(field.text()?)))?,
            guardrails: paths("guardrails")?,
            policies: paths("policies")?,
            olm: OlmRequest {
                release: release.and_then(AskedRelease::release),
                gates: gates.unwrap_or_default(),
            },
        })
    }
}

impl SuiteCase {
    /// Reads a case. `at` is the time of the edits of the suite.
    fn read(field: &DocumentField<'_>, at: Moment) -> Result<Self, FieldError> {
        field.mapping(&[
            "name",
            "extension",
            "installed",
            "old",
            "by",
            "at",
            "expect",
        ])?;
        let name = field.need("name", "what the case is about")?;
        let extension = field.need("extension", "the extension after the edit")?;
        Ok(Self {
            name: name.text()?.to_owned(),
            at: name.at(),
            extension: SuiteSubject::read(&extension)?,
            installed: field.optional("installed", |field| installed(&field))?,
            old: field.optional("old", |field| Old::read(&field))?,
            requester: requester(field, at)?,
            expected: Expectation::read(&field.need("expect", "what is expected of it")?)?,
        })
    }
}

/// The time of the edits. A suite with policies needs one, because it must give the same answers
/// tomorrow.
fn moment(
    root: &DocumentField<'_>,
    facts: &SuiteFacts,
    has_times: bool,
) -> Result<Moment, FieldError> {
    match root.get("at") {
        None if !facts.policies.is_empty() && !has_times => {
            root.need("at", A_TIME).map(|_| Moment::EPOCH)
        }
        None => Ok(Moment::EPOCH),
        Some(field) => time(&field),
    }
}

fn time(field: &DocumentField<'_>) -> Result<Moment, FieldError> {
    field.parsed(|text| Moment::parse(text).map_err(|error| error.to_string()))
}

fn requester(case: &DocumentField<'_>, at: Moment) -> Result<Requester, FieldError> {
    let own = case.optional("at", |field| time(&field))?;
    let by = case.optional("by", |by| user(&by))?;
    Ok(Requester {
        user: Some(by.unwrap_or_default()),
        at: own.unwrap_or(at),
    })
}

fn user(by: &DocumentField<'_>) -> Result<UserInfo, FieldError> {
    by.mapping(&["user", "groups"])?;
    let name = by.optional("user", |field| field.text().map(str::to_owned))?;
    let groups = by.optional("groups", |field| field.texts())?;
    Ok(UserInfo {
        name: name.unwrap_or_default(),
        groups: groups.unwrap_or_default(),
    })
}

fn installed(field: &DocumentField<'_>) -> Result<SaidArg, FieldError> {
    field.mapping(&["version", "bundle", "release"])?;
    let text = |key| field.optional(key, |part| part.text().map(str::to_owned));
    // An empty release is a release, too.
    let release = field.get("release").filter(|release| release.value() == "");
    let release = release.map(|_| Ok(Some(String::new())));
    Ok(SaidArg(StatedInstalled {
        text: field
            .need("version", "the installed version")?
            .text()?
            .to_owned(),
        bundle: text("bundle")?,
        release: release.unwrap_or_else(|| text("release"))?,
    }))
}

impl Old {
    fn read(field: &DocumentField<'_>) -> Result<Self, FieldError> {
        match field.get("range") {
            None => SuiteSubject::read(field).map(Self::Subject),
            Some(range) => {
                field.mapping(&["range"])?;
                Ok(Self::Range(range.text()?.to_owned()))
            }
        }
    }
}

impl Expectation {
    fn read(field: &DocumentField<'_>) -> Result<Self, FieldError> {
        field.mapping(&["verdict", "token", "resolved", "warnings", "message"])?;
        let verdicts = Verdict::ALL.map(|verdict| (verdict.as_str(), verdict));
        let tokens: Vec<_> = Token::ALL
            .iter()
            .map(|token| (token.as_str(), *token))
            .collect();
        let message = field.optional("message", |field| field.texts());
        let expected = Self {
            verdict: field.optional("verdict", |field| field.word(&verdicts))?,
            token: field.optional("token", |field| field.word(&tokens))?,
            resolved: field.optional("resolved", |field| field.text().map(str::to_owned))?,
            warnings: field.optional("warnings", |field| field.texts())?,
            message: message?.unwrap_or_default(),
        };
        match expected.fault() {
            None => Ok(expected),
            Some(fault) => Err(field.error(format!("{} {fault}", field.name()))),
        }
    }

    /// The reason why this expects nothing, or can never be met.
    fn fault(&self) -> Option<String> {
        let is_nothing = self.verdict.is_none()
            && self.token.is_none()
            && self.resolved.is_none()
            && self.warnings.is_none()
            && self.message.is_empty();
        if is_nothing {
            let keys = "verdict, token, resolved, warnings or message";
            return Some(format!(
                "expects nothing, so it could not fail: expected {keys}"
            ));
        }
        let of_token = self.token.map(Token::verdict);
        if let (Some(token), Some(of_token), Some(verdict)) = (self.token, of_token, self.verdict)
            && of_token != verdict
        {
            let (token, of_token, verdict) = (token.as_str(), of_token.as_str(), verdict.as_str());
            return Some(format!(
                "can never pass: {token} is a reason code of the verdict {of_token}, but the \
                 expected verdict is {verdict}"
            ));
        }
        let verdict = self.verdict.or(of_token)?;
        let needs = match verdict {
            Verdict::Allow | Verdict::NotJudged if !self.message.is_empty() => "has no message",
            Verdict::Deny | Verdict::Undecided | Verdict::NotJudged if self.resolved.is_some() => {
                "resolves to nothing"
            }
            _ => return None,
        };
        let verdict = verdict.as_str();
        Some(format!(
            "can never pass: an answer with the verdict {verdict} {needs}"
        ))
    }
}

/// The schema of a suite.
pub(super) const SCHEMA: &str = "olmguard.test/v1";

const KEYS: [&str; 10] = [
    "schema",
    "catalogs",
    "clusterCatalogs",
    "snapshot",
    "guardrails",
    "policies",
    "at",
    "olmRelease",
    "featureGates",
    "cases",
];

const A_TIME: &str =
    "the time of the edits if policies are given, for example 2026-01-05T22:30:00Z";
