//! The page about each token, each alert and each exit code, and which of them a text is about: a token, an alert, a
//! message of ours, one of OLM's, or an exit code.
//!
//! OLM has fewer texts than there are causes: "no bundles found" is said of seven tokens. Then all that
//! the text leaves open are found.

mod exit_code;
mod olms;
mod runbook;

use olmguard_engine::judge::Token;
use olmguard_engine::nearest::nearest;

pub use exit_code::ExitCode;
pub use runbook::Runbook;

/// What a text is about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PageSubject {
    /// One token.
    Token(Token),
    /// One of several: a text of OLM's that it uses for all of them.
    OneOf(Vec<Token>),
    /// One alert.
    Alert(Runbook),
    /// One exit code.
    ExitCode(ExitCode),
    /// None that is known; the tokens and alerts with the nearest names, the nearest first.
    Nothing(Vec<&'static str>),
}

/// The page about a token, in Markdown.
pub fn page(token: Token) -> &'static str {
    macro_rules! pages {
        ($($token:ident),+ $(,)?) => {
            match token {
                $(Token::$token => {
                    include_str!(concat!("../../../docs/tokens/", stringify!($token), ".md"))
                })+
            }
        };
    }
    pages![
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
        Guardrail,
        Policy,
        PoliciesUnknown,
        Unchanged,
        Bypassed,
        Resolved,
    ]
}

/// What the page says first: what the token means.
pub fn summary(token: Token) -> String {
    let mut paragraphs = page(token).split("\n\n");
    paragraphs.nth(1).unwrap_or_default().replace('\n', " ")
}

/// What is told where a text may be about several tokens.
pub fn several(tokens: &[Token]) -> String {
    SEVERAL.to_owned() + "\n" + &summaries(tokens)
}

/// Every token with what it means.
pub fn list() -> String {
    summaries(Token::ALL)
}

fn summaries(tokens: &[Token]) -> String {
    let blocks = tokens.iter().map(|token| {
        let (name, summary) = (token.as_str(), summary(*token));
        format!("{name}\n  {summary}\n")
    });
    blocks.collect::<Vec<_>>().join("\n")
}

/// What a text is about, such as `NotASuccessor` or all that kubectl has printed.
pub fn find(text: &str) -> PageSubject {
    let text = begin(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(token) = called(&text).or_else(|| bracketed(&text)) {
        return PageSubject::Token(token);
    }
    if let Some(runbook) = runbook::named(&text) {
        return PageSubject::Alert(runbook);
    }
    let tokens = olms::tokens(&text);
    match tokens.as_slice() {
        [] => exit_code::named(&text).map_or_else(|| nothing(&text), PageSubject::ExitCode),
        [only] => PageSubject::Token(*only),
        _ => PageSubject::OneOf(tokens),
    }
}

fn called(text: &str) -> Option<Token> {
    let is_it = |token: &&Token| token.as_str().eq_ignore_ascii_case(text);
    Token::ALL.iter().find(is_it).copied()
}

/// The token that stands first, as line 1 of a message ends with it.
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

/// Everything that has a page, by its name: tokens, then alerts.
pub fn names() -> impl Iterator<Item = &'static str> {
    let tokens = Token::ALL.iter().map(|token| token.as_str());
    tokens.chain(Runbook::ALL.iter().map(|runbook| runbook.alert))
}

/// What stands before the causes.
const SEVERAL: &str = "\
OLM reports this text for several causes. Run `olmguard check` on the manifest to find the cause.
`olmguard explain` has a page about each of them:
";

/// As much of a text as is looked at.
fn begin(text: &str) -> &str {
    let end = text.floor_char_boundary(MOST);
    text.get(..end).unwrap_or_default()
}

/// In bytes. A condition of OLM has at most 32,768.
const MOST: usize = 1 << 16;

/// How many names are suggested that a text may have meant.
const NEAR: usize = 3;

#[cfg(test)]
mod tests;
