//! A run as findings, test cases and a document, which `olmguard-report` renders for pipelines.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::cli::Exit;
use crate::cli::commands::check::args::CheckArgs;
use crate::cli::commands::check::cases::Case;
use crate::cli::commands::check::inputs::GatheredInputs;
use crate::cli::commands::check::judged;
use crate::cli::commands::check::report::Summary;
use crate::cli::commands::check::trouble::TITLE;
use olmguard_engine::explain::{Answer, one_line, plain};
use olmguard_engine::judge::{Token, Verdict};
use olmguard_report::document::{Content, Details, Head, Layout, Row, Section};
use olmguard_report::text::clean;
use olmguard_report::{
    Case as JunitCase, CaseStatus, Document, Ended, Failure, Finding, Place, Rule, Sarif,
    SerializeError, Severity, Tone,
};
use olmguard_views::page::{page, summary};

/// The contents of the reports on a run.
#[derive(Debug)]
pub(super) struct Run<'r> {
    /// The results, in the order of the inputs.
    pub(super) results: Vec<CheckedExtension<'r>>,
    /// Findings about inputs that could not be read, and about the run as a whole.
    pub(super) troubles: Vec<Finding>,
    pub(super) summary: Summary,
    /// Whether forms for people omit results that count as good.
    pub(super) quiet: bool,
}

/// The result for one extension.
#[derive(Clone, Copy, Debug)]
pub(super) struct CheckedExtension<'r> {
    pub(super) case: &'r Case,
    pub(super) answer: &'r Answer,
    /// The exit code that the result counts as, including its warnings.
    pub(super) counts: Exit,
}

impl CheckedExtension<'_> {
    /// The name as shown to people.
    pub(super) fn name(&self) -> Cow<'_, str> {
        let name = self.case.identity.shown();
        name.unwrap_or(Cow::Borrowed("(no name)"))
    }

    pub(super) fn file(&self) -> &str {
        &self.case.place.file
    }

    fn place(&self) -> String {
        self.case.place.to_string()
    }

    pub(super) fn token(&self) -> &'static str {
        self.answer.token.as_str()
    }

    /// The answer, in one or more lines.
    pub(super) fn text(&self) -> String {
        clean(&plain::result(self.answer))
    }

    /// The first line of the text, which is complete on its own.
    pub(super) fn first_line(&self) -> String {
        let text = self.text();
        text.lines().next().unwrap_or_default().to_owned()
    }

    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        self.answer.warnings.iter().map(|warning| one_line(warning))
    }

    /// The severity of a denied or undecided result; `None` for other results.
    pub(super) fn severity(&self) -> Option<Severity> {
        match (self.answer.verdict(), self.counts) {
            (Verdict::Allow | Verdict::NotJudged, _) => None,
            (Verdict::Undecided, Exit::Good) => Some(Severity::Note),
            (Verdict::Deny | Verdict::Undecided, _) => Some(Severity::Error),
        }
    }

    /// The severity of each warning.
    fn severity_of_warnings(&self) -> Severity {
        match (self.answer.verdict(), self.counts) {
            (Verdict::Allow | Verdict::NotJudged, Exit::Denied) => Severity::Error,
            _ => Severity::Warning,
        }
    }

    /// Whether `--quiet` still shows the result, because it is undecided or does not count as good.
    pub(super) fn is_bad(&self) -> bool {
        self.answer.verdict() == Verdict::Undecided || self.counts != Exit::Good
    }
}

impl<'r> Run<'r> {
    pub(super) fn of(
        args: &CheckArgs,
        gathered: &'r GatheredInputs,
        answers: &'r [Answer],
        troubles: Vec<Finding>,
    ) -> Self {
        let results = gathered.cases.iter().zip(answers);
        let results = results.map(|(case, answer)| CheckedExtension {
            case,
            answer,
            counts: judged::exit_of(answer, args),
        });
        Self {
            results: results.collect(),
            troubles,
            summary: Summary::of(args, gathered, answers),
            quiet: args.quiet,
        }
    }

    /// The findings about the run that are shown to people.
    pub(super) fn troubles_shown(&self) -> impl Iterator<Item = &Finding> {
        let troubles = self.troubles.iter();
        troubles.filter(|one| !self.quiet || one.severity != Severity::Note)
    }

    /// The results that are shown to people.
    pub(super) fn shown(&self) -> impl Iterator<Item = &CheckedExtension<'_>> {
        let shown = self.results.iter();
        shown.filter(|told| !self.quiet || told.is_bad())
    }

    /// GitHub workflow commands for each input that could not be read, each refusal and each warning.
    pub(super) fn github(&self) -> String {
        let findings: Vec<_> = self.shown().flat_map(CheckedExtension::findings).collect();
        olmguard_report::github(self.troubles_shown().chain(&findings))
    }

    /// A SARIF log of a run with this exit code. It has a finding for each refusal, each undecided extension and each
    /// warning. The rules are the reason codes that occur, each with its page.
    pub(super) fn sarif(&self, exit: Exit) -> Sarif {
        let findings: Vec<_> = self
            .results
            .iter()
            .flat_map(CheckedExtension::named_findings)
            .collect();
        let is_found = |id: &str| findings.iter().any(|finding| finding.id == id);
        let tokens = Token::ALL.iter().filter(|token| is_found(token.as_str()));
        let tokens = tokens.map(|token| rule(token.as_str(), summary(*token), page(*token)));
        let about = || rule(WARNING, ABOUT_WARNINGS.to_owned(), ABOUT_WARNINGS);
        let rules: Vec<_> = tokens.chain(is_found(WARNING).then(about)).collect();
        let ended = Ended {
            code: exit.code(),
            faults: &self.troubles,
        };
        olmguard_report::sarif(&rules, &findings, Some(ended))
    }

    /// JUnit's XML: a suite for each file, a test case for each extension in it.
    pub(super) fn junit(&self) -> Result<String, SerializeError> {
        let errors = self.troubles.iter();
        let errors = errors.filter(|one| one.severity == Severity::Error);
        let cases: Vec<_> = self
            .results
            .iter()
            .map(CheckedExtension::junit_case)
            .collect();
        olmguard_report::junit(TITLE, ("inputs", errors), &cases)
    }

    /// The comment on a pull request. If there is not enough room, results that count as good are omitted first.
    pub(super) fn document(&self) -> Document {
        let (bad, good): (Vec<_>, Vec<_>) = self.shown().partition(|told| told.is_bad());
        let heads = ["Verdict", "Extension", "From", "To", "Answer", "What to do"];
        let section = Section {
            caption: "Extensions",
            layout: Layout::List,
            heads: heads.map(Head::from).to_vec(),
            rows: bad
                .into_iter()
                .chain(good)
                .map(CheckedExtension::row)
                .collect(),
            details: ["block of details", "blocks of details"],
        };
        Document {
            name: TITLE,
            command: TITLE,
            result: Content::words(self.summary.to_string()),
            faults: self.troubles_shown().cloned().collect(),
            totals: Vec::new(),
            sections: vec![section],
        }
    }
}

impl CheckedExtension<'_> {
    /// The findings for the refusal and for the warnings.
    fn findings(&self) -> Vec<Finding> {
        let refusal = self.severity().map(|severity| {
            let id = self.token();
            self.finding(id, severity, id, self.text())
        });
        let severity = self.severity_of_warnings();
        let warnings = self.warnings().map(|warning| {
            let mut finding = self.finding(WARNING, severity, "warning", warning.clone());
            finding.identity = Some([self.name().into_owned(), warning]);
            finding
        });
        refusal.into_iter().chain(warnings).collect()
    }

    /// The same findings for forms without titles. Each warning starts with the name of the extension.
    fn named_findings(&self) -> Vec<Finding> {
        let mut findings = self.findings();
        for finding in findings.iter_mut().filter(|one| one.id == WARNING) {
            finding.text = format!("{}: {}", self.name(), finding.text);
        }
        findings
    }

    fn finding(&self, id: &'static str, severity: Severity, what: &str, text: String) -> Finding {
        let at = self.case.place.at;
        Finding {
            id,
            severity,
            title: format!("{}: {what}", self.name()),
            place: Place::File(self.file().to_owned(), Some((at.line, at.column))),
            text,
            identity: Some([self.name().into_owned(), String::new()]),
        }
    }

    fn junit_case(&self) -> JunitCase {
        JunitCase {
            suite: self.file().to_owned(),
            name: self.name().into_owned(),
            class: self.file().to_owned(),
            status: self.status(),
            output: self.warnings().collect::<Vec<_>>().join("\n"),
        }
    }

    /// The status of the test case. A refusal is a failure, an undecided result is an error, and a result that is not
    /// judged is skipped. Warnings are a failure if they count as one.
    fn status(&self) -> CaseStatus {
        let refusal = || Failure {
            word: self.token(),
            line: self.first_line(),
            whole: format!("{}\n{}", one_line(&self.place()), self.text()),
        };
        match (self.answer.verdict(), self.counts) {
            (Verdict::Deny, _) => CaseStatus::Failed(refusal()),
            (Verdict::Undecided, counts) if counts != Exit::Good => CaseStatus::Error(refusal()),
            (_, Exit::Denied) => CaseStatus::Failed(Failure {
                word: WARNING,
                line: self.warnings().next().unwrap_or_default(),
                whole: self.warnings().collect::<Vec<_>>().join("\n"),
            }),
            (Verdict::NotJudged, _) => CaseStatus::Skipped(self.token(), self.first_line()),
            (Verdict::Allow | Verdict::Undecided, _) => CaseStatus::Passed,
        }
    }

    fn row(&self) -> Row {
        let of_answer = |text: Option<String>| Content::foreign(text.unwrap_or_default());
        Row {
            tone: if self.is_bad() { Tone::Bad } else { Tone::Good },
            findings: Vec::new(),
            cells: vec![
                Content::words(plain::past(self.answer.verdict())),
                Content::foreign(self.name()).then_foreign(self.place()),
                of_answer(plain::from(self.answer)),
                of_answer(plain::to(self.answer)),
                Content::foreign(self.token()),
                of_answer(plain::remedy(self.answer)),
            ],
            details: self.details(),
        }
    }

    /// The message and the warnings; empty if they add nothing to the row.
    fn details(&self) -> Details {
        let message = self.answer.message.iter().map(|_| self.text());
        let warnings = self.warnings().map(|warning| format!("warning: {warning}"));
        let said: Vec<_> = message.chain(warnings).collect();
        let place = (!said.is_empty()).then(|| one_line(&self.place()));
        Details::lines(self.token(), place.into_iter().chain(said))
    }
}

fn rule(id: &'static str, title: String, help: &'static str) -> Rule {
    Rule {
        id,
        title,
        why: None,
        help,
        is_markdown: true,
        severity: None,
    }
}

/// The rule of every warning. The text of a warning identifies it.
const WARNING: &str = "Warning";
const ABOUT_WARNINGS: &str =
    "The edit is not denied because of it, but check it before you apply it.";
