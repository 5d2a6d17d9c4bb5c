//! `olmguard bundle`: whether OLM can install a bundle, and which bundles it can follow, with findings for pipelines.

use std::io;

use clap::ValueEnum;

use crate::bundle_files::{self, BundleFilesError, BundleObjects};
use crate::cli::args::heading;
use crate::cli::args::olm::OlmArgs;
use crate::cli::output::{self, OutputArgs};
use crate::cli::{CommandFailure, Exit, ends_with, help};
use crate::manifest::Position;
use crate::source::{FilesPlace, Progress};
use olmguard_catalog::version::go;
use olmguard_preflight::PreflightCheck;
use olmguard_preflight::bundle::RegistryBundle;
use olmguard_preflight::content::UncomparedCrd;
use olmguard_report::text::clean;
use olmguard_report::{
    Case, CaseStatus, Failure, Finding, Place, Rule, Sarif, SerializeError, Severity,
};
use olmguard_views::bundle_report::{BundleFinding, ReleaseReport};
use olmguard_views::page;

/// Check a bundle before its release
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(EXAMPLES), after_long_help = help::examples_and_exits(EXAMPLES, EXIT_CODES))]
pub(crate) struct BundleArgs {
    /// Compare its CRDs with the CRDs of this bundle, a directory or oci:IMAGE
    #[arg(long, value_name = "BUNDLE", help_heading = heading::INPUT)]
    upgrade_from: Option<FilesPlace>,

    #[command(flatten)]
    olm: OlmArgs,

    #[command(flatten)]
    output: OutputArgs<BundleForm>,

    /// The bundle: a directory with manifests/ and metadata/, or oci:IMAGE
    #[arg(value_name = "BUNDLE")]
    bundle: FilesPlace,
}

/// The form of the report.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum BundleForm {
    /// Text for people
    #[default]
    Text,
    /// One JSON object, schema olmguard.bundle/v1
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
    /// JUnit XML, for pipelines
    Junit,
    /// Workflow commands of GitHub, shown at the files of a pull request
    Github,
    /// A table for a comment on a pull request
    Markdown,
}

const EXAMPLES: &[&str] = &[
    "olmguard bundle ./bundle",
    "olmguard bundle ./bundle --upgrade-from ../released/bundle",
    "olmguard bundle ./bundle --upgrade-from oci:quay.example/lantern/bundle:v1.2.0",
    "olmguard bundle ./bundle --olm-release 1.9 -o sarif",
];

const EXIT_CODES: &[(Exit, &str)] = &[
    (Exit::Good, "OLM can install it"),
    (Exit::Denied, "OLM cannot install it"),
    (Exit::Usage, "wrong usage"),
    (Exit::BadInput, "a bundle is unreadable"),
];

/// Prints the report.
pub(super) fn run(args: &BundleArgs) -> Result<Exit, CommandFailure> {
    let rules = args.olm.request().rules()?;
    let (bundle, objects) = read_bundle(&args.bundle)?;
    let before = args.upgrade_from.as_ref().map(read_bundle).transpose()?;
    let before = before.as_ref().map(|(bundle, _)| bundle);
    before.map_or(Ok(()), |before| check_package(&bundle, before))?;
    let report = ReleaseReport::of(&bundle, &objects.dependencies, before, &rules)?;
    let checked = CheckedBundle {
        report: &report,
        place: &args.bundle,
        objects: &objects,
    };
    print(args.output.form, checked)?;
    Ok(Exit::denied_if(report.is_refused()))
}

fn print(form: BundleForm, checked: CheckedBundle<'_>) -> io::Result<()> {
    let report = checked.report;
    match form {
        BundleForm::Text => output::toned(&report.to_text()),
        BundleForm::Json => output::json(report),
        BundleForm::Sarif => output::json(&checked.sarif()),
        BundleForm::Junit => output::plain(checked.junit().map_err(io::Error::other)?),
        BundleForm::Github => output::plain(checked.github()),
        BundleForm::Markdown => output::plain(report.document().to_markdown()),
    }
}

/// Reads the bundle from a directory or an image.
fn read_bundle(place: &FilesPlace) -> Result<(RegistryBundle, BundleObjects), BundleFilesError> {
    let progress = Progress::default();
    output::with_progress(&progress, || bundle_files::read(place, &progress))
}

/// The bundle of `--upgrade-from` is of another package. No upgrade goes from one package to another.
#[derive(Debug, thiserror::Error)]
#[error(
    "--upgrade-from: {} is of package {}: expected a bundle of package {}",
    go::quote(name),
    go::quote(found),
    go::quote(expected)
)]
struct OtherPackage {
    name: String,
    found: String,
    expected: String,
}

/// Checks that two bundles are of one package. A bundle without a package has another finding.
fn check_package(bundle: &RegistryBundle, before: &RegistryBundle) -> Result<(), OtherPackage> {
    let (found, expected) = (&before.package, &bundle.package);
    if found == expected || found.is_empty() || expected.is_empty() {
        return Ok(());
    }
    Err(OtherPackage {
        name: before.name().to_owned(),
        found: found.clone(),
        expected: expected.clone(),
    })
}

ends_with!(Usage: OtherPackage);
ends_with!(BadInput: BundleFilesError, UncomparedCrd);

// === Findings for code hosts, editors and pipelines, each located in its manifest ===

/// The report on a bundle, and the locations of its objects.
#[derive(Clone, Copy, Debug)]
struct CheckedBundle<'a> {
    report: &'a ReleaseReport,
    place: &'a FilesPlace,
    objects: &'a BundleObjects,
}

impl CheckedBundle<'_> {
    /// One line for each finding.
    fn github(&self) -> String {
        olmguard_report::github(&self.findings())
    }

    /// A SARIF log. Every check is described, failed or not, so a viewer can show what was checked.
    fn sarif(&self) -> Sarif {
        let rules: Vec<_> = ReleaseReport::every_check().map(rule).collect();
        olmguard_report::sarif(&rules, &self.findings(), None)
    }

    /// A test case for each check that ran. Warnings are the output of their test case.
    fn junit(&self) -> Result<String, SerializeError> {
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

    /// The place of a finding. The files of an image are in no repository, so its findings have no file.
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

/// The reason, followed by OLM's own message if it differs.
fn text(found: &BundleFinding) -> String {
    let upstream = found.other_upstream().map(|text| format!("\nOLM: {text}"));
    clean(&(found.shown() + &upstream.unwrap_or_default()))
}

/// A check as a SARIF rule. It has no default severity, because the severity depends on the settings of OLM.
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
