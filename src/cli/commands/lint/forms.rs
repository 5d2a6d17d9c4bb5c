//! Findings for people and for code hosts.
//!
//! Names and sentences are escaped here. Text from a catalog is already escaped in the message of a finding.

use std::collections::HashSet;

use olmguard_engine::explain::{counted, one_line};
use olmguard_report::{Finding, Place, Rule as ReportedRule, Sarif, Text, Tone};
use olmguard_views::lint::{LintFinding, Rule, Severity};

/// One line for each finding with its place, and the message of opm below it. The first finding of each rule also
/// shows why it matters and how to fix it. The counts are at the end.
pub(super) fn text(findings: &[LintFinding], catalogs: usize) -> Text {
    let mut text = Text::default();
    let mut told = HashSet::new();
    for finding in findings {
        say(&mut text, finding);
        if told.insert(finding.rule) {
            below(&mut text, "why", finding.rule.why());
            below(&mut text, "fix", finding.rule.fix());
        }
    }
    if !findings.is_empty() {
        text.end_line();
    }
    text.line(Tone::Plain, counts(findings, catalogs));
    text
}

/// The ids of all rules, one per line.
pub(super) fn list() -> String {
    let lines = Rule::all().map(|rule| {
        let title = rule.title();
        format!("{:32}{:9}{title}\n", rule.id(), rule.severity().as_str())
    });
    lines.collect()
}

fn say(text: &mut Text, finding: &LintFinding) {
    let (file, message) = (one_line(&finding.file), one_line(&finding.message));
    let place = format!("{file}:{}:{}: ", finding.line, finding.column);
    text.say(Tone::Plain, place);
    text.say(tone(finding.severity), finding.severity.as_str());
    text.line(Tone::Plain, format!(": {message} [{}]", finding.rule));
    if let Some(upstream) = &finding.upstream {
        below(text, "opm", upstream);
    }
}

fn below(text: &mut Text, label: &str, words: &str) {
    text.say(Tone::Plain, "    ");
    text.say(Tone::Label, format!("{label:5}"));
    text.line(Tone::Plain, one_line(words));
}

fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Note => Tone::Plain,
        Severity::Warning => Tone::Caution,
        Severity::Error => Tone::Bad,
    }
}

fn counts(findings: &[LintFinding], catalogs: usize) -> String {
    let of = |severity| findings.iter().filter(move |one| one.severity == severity);
    let said = Severity::ALL.map(|severity| counted(of(severity).count(), severity.as_str()));
    match catalogs {
        0 => said.join(", "),
        _ => format!("{} in {}", said.join(", "), counted(catalogs, "catalog")),
    }
}

/// A SARIF log. It describes every rule, whether found or not, so a viewer can show what was checked.
pub fn sarif(findings: &[LintFinding]) -> Sarif {
    let rules: Vec<_> = Rule::all().map(reported_rule).collect();
    let findings: Vec<_> = findings.iter().map(reported).collect();
    olmguard_report::sarif(&rules, &findings, None)
}

fn reported_rule(rule: Rule) -> ReportedRule {
    ReportedRule {
        id: rule.id(),
        title: rule.title().to_owned(),
        why: Some(rule.why()),
        help: rule.fix(),
        is_markdown: false,
        severity: Some(rule.severity()),
    }
}

fn reported(finding: &LintFinding) -> Finding {
    let upstream = finding.upstream.as_deref().map(one_line);
    let upstream = upstream.map(|text| format!("\nopm validate: {text}"));
    let message = one_line(&finding.message);
    Finding {
        id: finding.rule.id(),
        severity: finding.severity,
        title: finding.rule.title().to_owned(),
        place: Place::File(
            finding.file.to_string(),
            Some((finding.line, finding.column)),
        ),
        text: format!("{message}{}", upstream.unwrap_or_default()),
        identity: None,
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
        let text = text(&findings, 1).to_string();
        let expected = "\
a.yaml:1:1: error: package \"p\" has no default channel; set defaultChannel to the name of a channel [default-channel-missing]
    opm  default channel must be set
    why  In OLM v0, a Subscription without a channel tries the default channel first. opm rejects the catalog.
    fix  Add a `defaultChannel` to the `olm.package`.
a.yaml:1:1: error: package \"p\" has no channel; add an olm.channel [package-without-channel]
    opm  package must contain at least one channel
    why  No one can subscribe to the package, and it offers no upgrades.
    fix  Add an `olm.channel`, or remove the package.
";
        assert!(text.starts_with(expected), "{text}");
        assert!(
            text.ends_with("\n\n5 errors, 0 warnings, 0 notes in 1 catalog\n"),
            "{text}"
        );
    }
}
