//! The results of the cases, for people.

use std::fmt::{self, Write as _};

use crate::cli::commands::test::trial::Outcome;
use crate::cli::output::paint;
use olmguard_engine::explain::{Tone, one_line, plain};

/// A line for each case; below the failed ones what differs, and the whole answer.
pub(super) fn text(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        write(&mut text, outcome).expect("a String takes everything");
    }
    text + &counts(outcomes)
}

fn write(to: &mut String, outcome: &Outcome) -> fmt::Result {
    let (tone, word) = if outcome.holds() {
        (Tone::Good, "ok")
    } else {
        (Tone::Bad, "FAIL")
    };
    let style = paint::style(tone);
    let (place, name) = (one_line(&outcome.place()), one_line(&outcome.name));
    writeln!(to, "{style}{word:4}{style:#}  {place}: {name}")?;
    for line in details(outcome).lines() {
        writeln!(to, "      {line}")?;
    }
    Ok(())
}

/// What differs, and the whole answer; nothing if nothing differs.
pub(super) fn details(outcome: &Outcome) -> String {
    let mut lines = Vec::new();
    for one in &outcome.differences {
        lines.push(format!("{}: expected {}", one.field, one.expected));
        lines.push(format!(
            "{:>width$}  found {}",
            "",
            one.found,
            width = one.field.len()
        ));
    }
    if !lines.is_empty() {
        lines.push(format!("answer: {}", outcome.answer.verdict.as_str()));
        let whole = plain::result(&outcome.answer);
        lines.extend(whole.lines().map(|line| format!("  {}", one_line(line))));
        let warnings = outcome.answer.warnings.iter();
        lines.extend(warnings.map(|warning| format!("  warning: {}", one_line(warning))));
    }
    lines.join("\n")
}

fn counts(outcomes: &[Outcome]) -> String {
    let held = outcomes.iter().filter(|outcome| outcome.holds()).count();
    match outcomes.len() - held {
        0 => format!("{held} passed\n"),
        failed => format!("{failed} failed, {held} passed\n"),
    }
}
