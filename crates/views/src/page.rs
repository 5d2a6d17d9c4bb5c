//! The pages about reason codes, alerts and exit codes, and the search for the page that a text is about. The text can
//! be the name of one of these, or a message of olmguard or OLM.
//!
//! OLM has fewer texts than causes: seven reason codes share the text "no bundles found". The search then returns all
//! reason codes that are possible for the text.

use olmguard_engine::judge::Token;
use olmguard_engine::nearest::nearest;
use olmguard_preflight::PreflightCheck;

/// The subject of a text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PageSubject {
    /// A reason code.
    Token(Token),
    /// One of several reason codes that share this text of OLM.
    OneOf(Vec<Token>),
    /// An alert.
    Alert(Runbook),
    /// An exit code.
    ExitCode(ExitCode),
    /// No known subject. Contains the most similar names of reason codes and alerts, the nearest first.
    Nothing(Vec<&'static str>),
}

/// Includes the page of each reason code. Its file has the name of the code.
macro_rules! pages {
    ($about:ident: $($token:ident),+ $(,)?) => {
        match $about {
            $(Token::$token => {
                include_str!(concat!("../../../docs/tokens/", stringify!($token), ".md"))
            })+
        }
    };
}

/// Returns the page about a reason code, in Markdown.
pub fn page(token: Token) -> &'static str {
    pages![token:
        NotJudged,
        DeadlineExceeded,
        Overloaded,
        InvalidSpec,
        InvalidSelector,
        InvalidVersionRange,
        NoCatalogs,
        InstalledUnknown,
        CatalogNotLoaded,
        CatalogOutdated,
        PackageNotFound,
        InstalledVersionInvalid,
        ChannelNotFound,
        NotInChannel,
        VersionNotFound,
        BrokenSkipRange,
        Downgrade,
        NotASuccessor,
        AmbiguousCatalogs,
        BundleVersionInvalid,
        UnsupportedDependency,
        Preflight,
        Guardrail,
        Policy,
        PoliciesUnknown,
        Unchanged,
        Bypassed,
        Resolved,
    ]
}

/// Returns the first paragraph of the page: the meaning of the reason code.
pub fn summary(token: Token) -> String {
    let mut paragraphs = page(token).split("\n\n");
    paragraphs.nth(1).unwrap_or_default().replace('\n', " ")
}

/// Returns the Markdown list item about a check, from the page about `Preflight`.
pub fn of_check(check: PreflightCheck) -> &'static str {
    let id = format!("`{}`", check.as_str());
    let items = page(Token::Preflight).split("\n- ").skip(1);
    let mut items = items.filter_map(|item| item.split("\n\n").next());
    let is_it = |item: &&str| item.split(": ").next().is_some_and(|ids| ids.contains(&id));
    items.find(is_it).unwrap_or_default()
}

/// Returns the text for several possible reason codes.
pub fn several(tokens: &[Token]) -> String {
    SEVERAL.to_owned() + "\n" + &summaries(tokens)
}

/// Lists every reason code with its meaning.
pub fn list() -> String {
    summaries(&Token::ALL)
}

fn summaries(tokens: &[Token]) -> String {
    let blocks = tokens.iter().map(|token| {
        let (name, summary) = (token.as_str(), summary(*token));
        format!("{name}\n  {summary}\n")
    });
    blocks.collect::<Vec<_>>().join("\n")
}

/// Finds the subject of a text, such as `NotASuccessor` or the whole output of kubectl.
pub fn find(text: &str) -> PageSubject {
    let text = begin(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(token) = called(&text).or_else(|| bracketed(&text)) {
        return PageSubject::Token(token);
    }
    if let Some(runbook) = runbook_named(&text) {
        return PageSubject::Alert(runbook);
    }
    let tokens = tokens_of(&text);
    match tokens.as_slice() {
        [] => exit_code_named(&text).map_or_else(|| nothing(&text), PageSubject::ExitCode),
        [only] => PageSubject::Token(*only),
        _ => PageSubject::OneOf(tokens),
    }
}

/// Returns the reason code of this name, or the one whose page describes the check with this id.
fn called(text: &str) -> Option<Token> {
    let is_it = |token: &&Token| token.as_str().eq_ignore_ascii_case(text);
    let is_check = |check: &PreflightCheck| check.as_str().eq_ignore_ascii_case(text);
    let token = Token::ALL.iter().find(is_it).copied();
    token.or_else(|| {
        PreflightCheck::ALL
            .iter()
            .any(is_check)
            .then_some(Token::Preflight)
    })
}

/// Returns the first reason code in brackets, as at the end of line 1 of a message.
fn bracketed(text: &str) -> Option<Token> {
    let mut inside = text.split('[').skip(1);
    inside.find_map(|inside| called(inside.split_once(']')?.0))
}

fn nothing(text: &str) -> PageSubject {
    let lower: Vec<_> = names().map(str::to_ascii_lowercase).collect();
    let text = text.to_ascii_lowercase();
    let near = nearest(&text, lower.iter().map(String::as_str), NEAR);
    let named = |near: &str| names().find(|name| name.eq_ignore_ascii_case(near));
    PageSubject::Nothing(near.into_iter().filter_map(named).collect())
}

/// Returns the name of everything that has a page: reason codes, then alerts.
pub fn names() -> impl Iterator<Item = &'static str> {
    let tokens = Token::ALL.iter().map(|token| token.as_str());
    tokens.chain(Runbook::ALL.iter().map(|runbook| runbook.alert))
}

/// Introduction to the list of causes.
const SEVERAL: &str = "\
OLM reports this text for several causes. Run `olmguard check` on the manifest to find the cause.
`olmguard explain` has a page about each of them:
";

/// Cuts a text to the maximum length.
fn begin(text: &str) -> &str {
    let end = text.floor_char_boundary(MOST);
    text.get(..end).unwrap_or_default()
}

/// Maximum length in bytes. A condition of OLM has at most 32,768.
const MOST: usize = 1 << 16;

/// Maximum number of suggested names.
const NEAR: usize = 3;

/// An exit code with a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ExitCode {
    code: u8,
    meaning: &'static str,
    what_to_do: &'static str,
}

impl ExitCode {
    /// Returns its meaning for `olmguard check`, and what to do about it, in Markdown.
    pub fn page(self) -> String {
        let Self {
            code,
            meaning,
            what_to_do,
        } = self;
        format!(
            "# Exit code {code}\n\n`olmguard check` exits with {code}: {meaning}.\n\n{what_to_do}\n\n{OTHERS}"
        )
    }

    fn of(code: u8) -> Option<Self> {
        let (_, row) = EXIT_CODES.split_once(&format!("\n| {code} | "))?;
        let (_, heading) = EXIT_CODES.split_once(&format!("\n## Exit code {code}"))?;
        let (_, section) = heading.split_once("\n\n")?;
        Some(Self {
            code,
            meaning: row.split(" | ").next()?,
            what_to_do: section.split("\n## ").next()?.trim_end(),
        })
    }
}

/// Returns the exit code that is the whole text or its end, such as `4`, `exit 4`, or the output of a pipeline:
/// `Process completed with exit code 4.`
fn exit_code_named(text: &str) -> Option<ExitCode> {
    let mut words = text.trim_end_matches('.').rsplit(' ');
    let code = words.next()?.parse().ok()?;
    let is_named = words.next().is_none_or(|word| {
        let word = word.trim_end_matches(':');
        EXIT_WORDS
            .iter()
            .any(|name| name.eq_ignore_ascii_case(word))
    });
    ExitCode::of(code).filter(|_| is_named)
}

/// Words that can precede the number of an exit code.
const EXIT_WORDS: [&str; 3] = ["code", "exit", "status"];

const OTHERS: &str = "\
The page `docs/exit-codes.md` describes all exit codes. `olmguard COMMAND --help` lists the exit codes of a command.
";

const EXIT_CODES: &str = include_str!("../../../docs/exit-codes.md");

/// The runbook of an alert.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Runbook {
    /// Name of the alert, such as `OlmguardCatalogStale`.
    pub alert: &'static str,
    /// Page in Markdown.
    pub page: &'static str,
}

impl Runbook {
    /// All runbooks, in the order of their names.
    pub const ALL: &[Self] = RUNBOOKS;
}

macro_rules! runbooks {
    ($($alert:ident),+ $(,)?) => {
        &[$(Runbook {
            alert: stringify!($alert),
            page: include_str!(concat!("../../../docs/runbooks/", stringify!($alert), ".md")),
        }),+]
    };
}

const RUNBOOKS: &[Runbook] = runbooks![
    OlmguardAbsent,
    OlmguardAllReplicasDegraded,
    OlmguardAuditOverdue,
    OlmguardCatalogEmpty,
    OlmguardCatalogHeldBack,
    OlmguardCatalogLoadFailing,
    OlmguardCatalogShrunk,
    OlmguardCatalogStale,
    OlmguardCertExpiry,
    OlmguardCertReloadFailing,
    OlmguardConfigurationChanged,
    OlmguardDenialSpike,
    OlmguardFailOpen,
    OlmguardHighLatency,
    OlmguardPanic,
    OlmguardPoliciesUnknown,
    OlmguardPolicyNotAccepted,
    OlmguardQueueRejecting,
    OlmguardUndecided,
    OlmguardWatchLost,
    OlmguardWebhookDown,
];

/// Returns the runbook of the first alert that a text names.
fn runbook_named(text: &str) -> Option<Runbook> {
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.find_map(|word| {
        let is_it = |runbook: &&Runbook| runbook.alert.eq_ignore_ascii_case(word);
        Runbook::ALL.iter().find(is_it).copied()
    })
}

/// Returns the reason codes whose answers have this text, in the order of the table. Empty if no text of OLM matches.
fn tokens_of(text: &str) -> Vec<Token> {
    let row = TEXTS.iter().find(|(part, _)| text.contains(part));
    let Some((_, tokens)) = row else {
        return Vec::new();
    };
    let fits = |token: &&Token| match token {
        Token::NotASuccessor | Token::Downgrade => text.contains(UPGRADE),
        Token::NotInChannel | Token::ChannelNotFound => text.contains(CHANNELS),
        _ => true,
    };
    let fitting: Vec<_> = tokens.iter().filter(fits).copied().collect();
    // If the text is only a part of the message, a missing phrase proves nothing.
    if text.contains(WHOLE) {
        fitting
    } else {
        tokens.to_vec()
    }
}

/// A part that no other of these texts has, and its possible reason codes. The first match counts.
const TEXTS: &[(&str, &[Token])] = &[
    ("in multiple catalogs", &[Token::AmbiguousCatalogs]),
    (
        "no bundles found for package",
        &[
            Token::NotASuccessor,
            Token::Downgrade,
            Token::VersionNotFound,
            Token::NotInChannel,
            Token::ChannelNotFound,
            Token::PackageNotFound,
            Token::NoCatalogs,
        ],
    ),
    (
        "desired catalog selector is invalid",
        &[Token::InvalidSelector],
    ),
    ("desired version range", &[Token::InvalidVersionRange]),
    (
        "error finding upgrade edges",
        &[Token::InstalledVersionInvalid],
    ),
    ("error getting package", &[Token::CatalogNotLoaded]),
    ("is not being served", &[Token::CatalogNotLoaded]),
    (
        "error getting resolved bundle version",
        &[Token::BundleVersionInvalid],
    ),
    (
        "which is currently not supported",
        &[Token::UnsupportedDependency],
    ),
    (
        "retrying to get installed bundle",
        &[Token::InstalledUnknown],
    ),
    ("error for resolved bundle", &[Token::Preflight]),
    ("unsupported bundle: ", &[Token::Preflight]),
    (
        "invalid ClusterExtension configuration",
        &[Token::Preflight],
    ),
    ("error parsing image reference", &[Token::Preflight]),
    ("invalid version expression", &[Token::InvalidSpec]),
];

/// Part of the message if a bundle is installed.
const UPGRADE: &str = "error upgrading from currently installed version";

/// Part of the message if channels are requested.
const CHANNELS: &str = " in channels [";

/// Part of the message that shows that it is complete.
const WHOLE: &str = "no bundles found for package \"";

#[cfg(test)]
mod tests;
