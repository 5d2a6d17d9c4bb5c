//! What became of the cases, for people and for pipelines.

use crate::cli::commands::test::trial::Outcome;
use olmguard_engine::explain::{one_line, plain};
use olmguard_report::{
    Case, CaseStatus, Failure, Finding, Place, SerializeError, Severity, Text, Tone,
};

/// A line for each case; below the failed ones what differs, and the whole answer.
pub(super) fn text(outcomes: &[Outcome]) -> Text {
    let mut text = Text::default();
    for outcome in outcomes {
        say(&mut text, outcome);
    }
    text.line(Tone::Plain, counts(outcomes));
    text
}

fn say(text: &mut Text, outcome: &Outcome) {
    let (tone, word) = if outcome.holds() {
        (Tone::Good, "ok")
    } else {
        (Tone::Bad, "FAIL")
    };
    let (place, name) = (one_line(&outcome.place()), one_line(&outcome.name));
    text.say(tone, format!("{word:4}"));
    text.line(Tone::Plain, format!("  {place}: {name}"));
    for line in details(outcome).lines() {
        text.line(Tone::Plain, format!("      {line}"));
    }
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
        lines.push(format!("answer: {}", outcome.answer.verdict().as_str()));
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
        0 => format!("{held} passed"),
        failed => format!("{failed} failed, {held} passed"),
    }
}

/// JUnit's XML: a suite for each file, and one for what could not be read.
pub(super) fn junit(outcomes: &[Outcome], faults: &[String]) -> Result<String, SerializeError> {
    let cases: Vec<_> = outcomes.iter().map(case).collect();
    let faults: Vec<_> = faults.iter().map(|fault| finding_of_fault(fault)).collect();
    olmguard_report::junit(TITLE, ("suites", &faults), &cases)
}

fn case(outcome: &Outcome) -> Case {
    let failure = outcome.differences.first().map(|first| Failure {
        word: "Difference",
        line: format!(
            "{}: expected {}, found {}",
            first.field, first.expected, first.found
        ),
        whole: format!("{}\n{}", one_line(&outcome.place()), details(outcome)),
    });
    Case {
        suite: outcome.file.clone(),
        name: outcome.name.clone(),
        class: outcome.file.clone(),
        status: failure.map_or(CaseStatus::Passed, CaseStatus::Failed),
        output: String::new(),
    }
}

/// Workflow commands of GitHub: an error for each case that does not hold.
pub(super) fn github(outcomes: &[Outcome], faults: &[String]) -> String {
    let faults = faults.iter().map(|fault| finding_of_fault(fault));
    let failed = outcomes.iter().filter(|outcome| !outcome.holds());
    let findings: Vec<_> = faults.chain(failed.map(finding)).collect();
    olmguard_report::github(&findings)
}

fn finding_of_fault(fault: &str) -> Finding {
    Finding {
        place: Place::Named(fault.to_owned()),
        ..Finding::of_run(TITLE, Severity::Error, fault)
    }
}

fn finding(outcome: &Outcome) -> Finding {
    let at = (outcome.at.line, outcome.at.column);
    Finding {
        id: "Difference",
        place: Place::File(outcome.file.clone(), Some(at)),
        ..Finding::of_run(&outcome.name, Severity::Error, details(outcome))
    }
}

/// What a fault is about that is about no case.
const TITLE: &str = "olmguard test";
