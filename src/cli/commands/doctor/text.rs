//! Findings for people: a line for each, its cause and what to run below it, the counts at the end.

use std::fmt::{self, Write as _};

use crate::cli::output::paint;
use olmguard_engine::explain::{Tone, one_line};
use olmguard_views::doctor::{Finding, State};

/// All of them, coloured; the stream takes the colours out where they are not wanted.
pub(super) fn text(findings: &[Finding]) -> String {
    let mut text = String::new();
    write(findings, &mut text).expect("a String takes everything");
    text
}

fn write(findings: &[Finding], to: &mut String) -> fmt::Result {
    for finding in findings {
        let style = paint::style(tone(finding.state));
        let (state, check) = (finding.state.as_str(), finding.check.as_str());
        let found = one_line(&finding.found);
        writeln!(to, "{style}{state:9}{style:#}{check:16}{found}")?;
        below(to, "cause", finding.cause.as_deref())?;
        below(to, "run", finding.command.as_deref())?;
    }
    writeln!(to, "\n{}", counts(findings))
}

fn below(to: &mut String, label: &str, text: Option<&str>) -> fmt::Result {
    let Some(text) = text else { return Ok(()) };
    let (dim, text) = (paint::style(Tone::Label), one_line(text));
    writeln!(to, "{:25}{dim}{label:7}{dim:#}{text}", "")
}

fn tone(state: State) -> Tone {
    match state {
        State::Ok => Tone::Good,
        State::Warn | State::Unknown => Tone::Caution,
        State::Fail => Tone::Bad,
    }
}

/// The worst first, those that are none left out.
fn counts(findings: &[Finding]) -> String {
    let count = |state| findings.iter().filter(|one| one.state == state).count();
    let counts = [State::Fail, State::Unknown, State::Warn, State::Ok];
    let counts = counts.map(|state| (count(state), state.as_str()));
    let said = counts.iter().filter(|(count, _)| *count > 0);
    let said: Vec<_> = said
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    said.join(", ")
}
