//! Findings for code hosts, editors and pipelines, each at the manifest that it is about.

use crate::bundle_files::BundleObjects;
use crate::manifest::Position;
use crate::source::FilesPlace;
use olmguard_preflight::PreflightCheck;
use olmguard_report::text::clean;
use olmguard_report::{
    Case, CaseStatus, Failure, Finding, Place, Rule, Sarif, SerializeError, Severity,
};
use olmguard_views::bundle_report::{BundleFinding, ReleaseReport};
use olmguard_views::page;

/// The report on a bundle, and where its objects are.
#[derive(Clone, Copy, Debug)]
pub(super) struct CheckedBundle<'a> {
    pub(super) report: &'a ReleaseReport,
    pub(super) place: &'a FilesPlace,
    pub(super) objects: &'a BundleObjects,
}

impl CheckedBundle<'_> {
    /// A line for each finding.
    pub(super) fn github(&self) -> String {
        olmguard_report::github(&self.findings())
    }

    /// A SARIF log. Every check is described, failed or not, so a viewer can show what was checked.
    pub(super) fn sarif(&self) -> Sarif {
        let rules: Vec<_> = ReleaseReport::every_check().map(rule).collect();
        olmguard_report::sarif(&rules, &self.findings(), None)
    }

    /// A test case for each check that was made. Warnings are the output of their case.
    pub(super) fn junit(&self) -> Result<String, SerializeError> {
        let cases: Vec<_> = self.report.checks().map(|check| self.case(check)).collect();
        olmguard_report::junit("olmguard bundle", ("bundles", []), &cases)
    }

    fn findings(&self) -> Vec<Finding> {
        let findings = self.report.findings();
        findings.map(|found| self.finding(found)).collect()
    }

    fn finding(&self, found: &BundleFinding) -> Finding {
        let crd = found.crd.clone().unwrap_or_default();
        Finding {
            id: found.check,
            severity: found.severity,
            title: format!("{}: {}", self.report.name(), found.check),
            place: self.place_of(found),
            text: text(found),
            identity: Some([crd, found.message.clone()]),
        }
    }

    /// The files of an image are in no repository.
    fn place_of(&self, found: &BundleFinding) -> Place {
        let FilesPlace::Path(folder) = self.place else {
            return Place::Named(self.place.to_string());
        };
        let object = self.objects.of(found.crd.as_deref());
        let is_of_object = found.check != PreflightCheck::PackageNameEmpty.as_str();
        let (file, at) = match object.filter(|_| is_of_object) {
            Some(object) => (object.file.clone(), object.at),
            None => (folder.join("metadata/annotations.yaml"), Position::START),
        };
        let file = file.to_string_lossy().into_owned();
        Place::File(file, Some((at.line, at.column)))
    }

    fn case(&self, check: PreflightCheck) -> Case {
        let findings = self.report.findings();
        let found: Vec<_> = findings
            .filter(|found| found.check == check.as_str())
            .collect();
        let whole = found.iter().map(|found| text(found));
        let whole = whole.collect::<Vec<_>>().join("\n");
        let error = found.iter().find(|one| one.severity == Severity::Error);
        let (status, output) = match error {
            Some(error) => (CaseStatus::Failed(failure(error, whole)), String::new()),
            None => (CaseStatus::Passed, whole),
        };
        Case {
            suite: self.place.to_string(),
            name: check.as_str().to_owned(),
            class: self.report.name().to_owned(),
            status,
            output,
        }
    }
}

fn failure(error: &BundleFinding, whole: String) -> Failure {
    Failure {
        word: error.check,
        line: error.shown(),
        whole,
    }
}

/// The reason, and below it the line of OLM if that is different.
fn text(found: &BundleFinding) -> String {
    let upstream = found.other_upstream().map(|text| format!("\nOLM: {text}"));
    clean(&(found.shown() + &upstream.unwrap_or_default()))
}

/// What it usually weighs depends on the settings of OLM.
fn rule(check: PreflightCheck) -> Rule {
    Rule {
        id: check.as_str(),
        title: check.title().to_owned(),
        why: None,
        help: page::of_check(check),
        is_markdown: true,
        severity: None,
    }
}
