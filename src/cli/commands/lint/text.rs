//! Findings for people: a line for each with its place, what opm says below it, and below the first of
//! each rule why it matters and how to fix it.

use std::collections::HashSet;
use std::fmt::{self, Write as _};

use crate::cli::output::paint;
use olmguard_engine::explain::{Tone, counted, one_line};
use olmguard_views::lint::{Finding, Rule, Severity};

/// All of them, coloured; the stream takes the colours out where they are not wanted.
pub(super) fn text(findings: &[Finding], catalogs: usize) -> String {
    let mut text = String::new();
    write(findings, catalogs, &mut text).expect("a String takes everything");
    text
}

/// The ids of all rules, a line each.
pub(super) fn list() -> String {
    let lines = Rule::all().map(|rule| {
        let title = rule.title();
        format!("{:32}{:9}{title}\n", rule.id(), rule.severity().as_str())
    });
    lines.collect()
}

fn write(findings: &[Finding], catalogs: usize, to: &mut String) -> fmt::Result {
    let mut told = HashSet::new();
    for finding in findings {
        let style = paint::style(tone(finding.severity));
        let (severity, rule) = (finding.severity, finding.rule);
        let (place, message) = (place(finding), one_line(&finding.message));
        writeln!(
            to,
            "{place}: {style}{severity}{style:#}: {message} [{rule}]"
        )?;
        if let Some(upstream) = &finding.upstream {
            below(to, "opm", upstream)?;
        }
        if told.insert(rule) {
            below(to, "why", rule.why())?;
            below(to, "fix", rule.fix())?;
        }
    }
    if !findings.is_empty() {
        writeln!(to)?;
    }
    writeln!(to, "{}", counts(findings, catalogs))
}

fn place(finding: &Finding) -> String {
    let file = one_line(&finding.file);
    format!("{file}:{}:{}", finding.line, finding.column)
}

fn below(to: &mut String, label: &str, text: &str) -> fmt::Result {
    let (dim, text) = (paint::style(Tone::Label), one_line(text));
    writeln!(to, "    {dim}{label:5}{dim:#}{text}")
}

fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Note => Tone::Plain,
        Severity::Warning => Tone::Caution,
        Severity::Error => Tone::Bad,
    }
}

fn counts(findings: &[Finding], catalogs: usize) -> String {
    let count = |severity| {
        findings
            .iter()
            .filter(|one| one.severity == severity)
            .count()
    };
    let said = [Severity::Error, Severity::Warning, Severity::Note]
        .map(|severity| counted(count(severity), severity.as_str()));
    match catalogs {
        0 => said.join(", "),
        _ => format!("{} in {}", said.join(", "), counted(catalogs, "catalog")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use olmguard_views::lint::{lint, written};

    #[test]
    fn a_finding_has_its_place_and_says_what_to_do_once() {
        let catalog = "schema: olm.package\nname: p\n---\nschema: olm.package\nname: \"p\\e\"\n";
        let findings = lint(&[written("a.yaml", catalog.as_bytes())]);
        let text = anstream::adapter::strip_str(&text(&findings, 1)).to_string();
        let expected = "\
a.yaml:1:1: error: package \"p\" has no default channel; set defaultChannel to the name of a channel [default-channel-missing]
    opm  default channel must be set
    why  In OLM v0, a Subscription without a channel follows the default channel. opm rejects the catalog.
    fix  Add a `defaultChannel` to the `olm.package`.
a.yaml:1:1: error: package \"p\" has no channel; add an olm.channel [package-without-channel]
    opm  package must contain at least one channel
    why  No one can subscribe to the package, and it offers no upgrades.
    fix  Add an `olm.channel`, or remove the package.
";
        assert!(text.starts_with(expected), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(
            text.ends_with("\n\n5 errors, 0 warnings, 0 notes in 1 catalog\n"),
            "{text}"
        );
    }
}
