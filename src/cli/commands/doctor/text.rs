//! Findings for people: a line for each, its cause and what to run below it, the counts at the end.

use olmguard_engine::explain::one_line;
use olmguard_report::{Text, Tone};
use olmguard_views::doctor::{Finding, State};

/// All of them.
pub(super) fn text(findings: &[Finding]) -> Text {
    let mut text = Text::default();
    for finding in findings {
        text.say(tone(finding.state), format!("{:9}", finding.state.as_str()));
        let (check, found) = (finding.check.as_str(), one_line(&finding.found));
        text.line(Tone::Plain, format!("{check:16}{found}"));
        below(&mut text, "cause", finding.cause.as_deref());
        below(&mut text, "run", finding.command.as_deref());
    }
    text.line(Tone::Plain, format!("\n{}", counts(findings)));
    text
}

fn below(text: &mut Text, label: &str, words: Option<&str>) {
    if let Some(words) = words {
        text.say(Tone::Plain, " ".repeat(25));
        text.say(Tone::Label, format!("{label:7}"));
        text.line(Tone::Plain, one_line(words));
    }
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
