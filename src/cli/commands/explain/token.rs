//! `olmguard explain TOKEN`, `olmguard explain ALERT` and `olmguard explain 4`: the page about a token, found by its
//! name or by the text that was shown, the runbook of an alert, or what an exit code means.

use crate::cli::{CommandFailure, Exit, ends_with, output};
use olmguard_views::page::{self, PageSubject};

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
enum TokenError {
    #[error(
        "{found:?} is not a reason code, an alert, an exit code, or a known text of OLM or olmguard{}; \
         to see all reason codes, run olmguard explain --list",
        instead(near)
    )]
    Unknown {
        found: String,
        near: Vec<&'static str>,
    },
}

/// Prints the page.
pub(super) fn run(text: &str) -> Result<Exit, CommandFailure> {
    let printed = match page::find(text) {
        PageSubject::Token(token) => output::page::print(page::page(token)),
        PageSubject::OneOf(tokens) => output::page::print(&page::several(&tokens)),
        PageSubject::Alert(runbook) => output::page::print(runbook.page),
        PageSubject::ExitCode(exit_code) => output::page::print(&exit_code.page()),
        PageSubject::Nothing(near) => return Err(unknown(text, near).into()),
    };
    printed?;
    Ok(Exit::Good)
}

/// Prints every token with its meaning.
pub(super) fn list() -> Result<Exit, CommandFailure> {
    let list = page::list();
    output::text(|stdout| stdout.write_all(list.as_bytes()))?;
    Ok(Exit::Good)
}

/// With the names that may have been meant, nearest first.
fn unknown(text: &str, near: Vec<&'static str>) -> TokenError {
    TokenError::Unknown {
        found: text.chars().take(SHOWN).collect(),
        near,
    }
}

fn instead(near: &[&str]) -> String {
    match near {
        [] => String::new(),
        near => format!(": expected {}", near.join(", ")),
    }
}

ends_with!(Usage: TokenError);

/// How many characters of what was asked are said again.
const SHOWN: usize = 80;
