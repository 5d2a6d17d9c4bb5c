//! The report of `olmguard bundle`: whether operator-controller installs a bundle, and whether its CRDs can replace
//! the CRDs of the previous version.
//!
//! Checks that need a cluster are not made. If the outcome of a check depends on feature gates, the finding is an
//! error only if the bundle is refused under all of them, and otherwise a warning.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use olmguard_catalog::DependencyKind;
use olmguard_catalog::olm::{InstallSettings, Rules};
use olmguard_catalog::version::go::escape;
use olmguard_engine::explain::{CRD_PANIC, counted, of_crd_change, of_validator, of_webhook_name};
use olmguard_preflight::PreflightCheck;
use olmguard_preflight::bundle::{MOST_OF_PHASE, RegistryBundle, RenderTarget};
use olmguard_preflight::content::{ComparedCrds, RefusedCrd, UncomparedCrd};
use olmguard_preflight::crd::CrdGeneration;
use olmguard_preflight::support::{self, Unsupported};
use olmguard_report::document::{Content, Details, Head, Layout, Row, Section};
use olmguard_report::{Document, Finding, Severity, Text, Tone};

/// The report, as JSON has it: schema `olmguard.bundle/v1`.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct ReleaseReport {
    #[schemars(extend("const" = "olmguard.bundle/v1"))]
    schema: &'static str,
    /// Name of the bundle, which is the name of its `ClusterServiceVersion`.
    name: String,
    /// The package that it belongs to, empty if its `annotations.yaml` names none.
    package: String,
    /// The bundle that it was compared with.
    upgrade_from: Option<String>,
    /// The OLM that was asked.
    olm: &'static str,
    findings: Vec<BundleFinding>,
}

/// One reason why OLM does not install the bundle, or may not.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct BundleFinding {
    /// The check that fails.
    pub check: &'static str,
    /// Severity: error or warning.
    #[schemars(with = "String", extend("enum" = [Severity::Error.as_str(), Severity::Warning.as_str()]))]
    pub severity: Severity,
    /// The CRD that it is about, if it is about one.
    pub crd: Option<String>,
    /// The reason.
    pub message: String,
    /// Text of operator-controller, for a CRD the line that is about this change.
    upstream: Option<String>,
    /// Whether another finding says the same of the field: shown in JSON only.
    #[serde(skip)]
    is_repeated: bool,
    /// Whether the API server refuses it too, whatever the extension says of the comparison of CRDs.
    #[serde(skip)]
    is_by_server: bool,
}

impl ReleaseReport {
    /// Checks a bundle, and the upgrade to it from an older one.
    ///
    /// # Errors
    /// If a CRD has no versions, or is nested too deep.
    pub fn of(
        bundle: &RegistryBundle,
        dependencies: &BTreeSet<DependencyKind>,
        before: Option<&RegistryBundle>,
        rules: &Rules,
    ) -> Result<Self, UncomparedCrd> {
        let minor = rules.olm.minor();
        let mut findings: Vec<_> = dependencies.iter().copied().map(dependency).collect();
        findings.extend(unsupported(bundle, rules));
        findings.extend(crowded(bundle, rules));
        findings.extend(bundle.faults(minor).into_iter().map(|fault| BundleFinding {
            message: of_validator(&fault.upstream),
            ..BundleFinding::new(fault.check, Severity::Error, Some(fault.upstream))
        }));
        findings.extend(bundle.crds().iter().filter_map(removed_api));
        let short_names = bundle.short_webhook_names(minor).into_iter();
        findings.extend(short_names.map(short_name));
        if let Some(before) = before {
            findings.extend(crds(before, bundle, minor)?);
        }
        Ok(Self {
            schema: "olmguard.bundle/v1",
            name: bundle.name().to_owned(),
            package: bundle.package.clone(),
            upgrade_from: before.map(|before| before.name().to_owned()),
            olm: rules.olm.name(),
            findings,
        })
    }

    /// Whether OLM certainly refuses the bundle.
    pub fn is_refused(&self) -> bool {
        let mut findings = self.findings.iter();
        findings.any(|finding| finding.severity == Severity::Error)
    }

    /// Name of the bundle.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns every check that a bundle can fail, in order.
    pub fn every_check() -> impl Iterator<Item = PreflightCheck> {
        OF_BUNDLE.into_iter().chain(OF_CRDS)
    }

    /// Returns the checks that were made.
    pub fn checks(&self) -> impl Iterator<Item = PreflightCheck> {
        let of_crds = self.upgrade_from.iter().flat_map(|_| OF_CRDS);
        OF_BUNDLE.into_iter().chain(of_crds)
    }

    /// Returns the findings that the text form shows: each change of a CRD once.
    pub fn findings(&self) -> impl Iterator<Item = &BundleFinding> {
        self.findings.iter().filter(|found| !found.is_repeated)
    }

    /// Renders the text form of the report.
    pub fn to_text(&self) -> Text {
        let mut text = Text::with_labels(LABELS);
        let (tone, result) = result(self);
        text.sentence(tone, &result);
        for finding in self.findings() {
            text.fact(finding.check, finding.tone(), &finding.shown());
        }
        text.notes(&Vec::from_iter(self.note().map(str::to_owned)));
        text
    }

    /// Returns the note about the override, if only the comparison of CRDs refuses a CRD.
    fn note(&self) -> Option<&'static str> {
        let is_of_crd = self.findings().any(|found| found.crd.is_some());
        let is_by_server = self.findings().any(|found| found.is_by_server);
        (is_of_crd && !is_by_server).then_some(OVERRIDE)
    }
}

impl BundleFinding {
    fn new(check: PreflightCheck, severity: Severity, upstream: Option<String>) -> Self {
        Self {
            check: check.as_str(),
            severity,
            crd: None,
            message: String::new(),
            upstream,
            is_repeated: false,
            is_by_server: false,
        }
    }

    /// Sets the severity according to the OLM configurations that install the bundle.
    fn by(self, installs: InstallingOlm) -> Self {
        let severity = match installs {
            InstallingOlm::None => Severity::Error,
            InstallingOlm::Delivered | InstallingOlm::WithOtherGates => Severity::Warning,
        };
        Self { severity, ..self }
    }

    /// Returns the reason, with the name of the CRD.
    pub fn shown(&self) -> String {
        match &self.crd {
            Some(crd) => format!("{}: {}", escape(crd), self.message),
            None => self.message.clone(),
        }
    }

    /// Returns the text of operator-controller, if the reason words it differently.
    pub fn other_upstream(&self) -> Option<&str> {
        let upstream = self.upstream.as_deref();
        upstream.filter(|text| of_validator(text) != self.message)
    }

    fn tone(&self) -> Tone {
        match self.severity {
            Severity::Error => Tone::Bad,
            Severity::Warning | Severity::Note => Tone::Caution,
        }
    }
}

/// OLM configurations of the release that install a bundle.
#[derive(Clone, Copy)]
enum InstallingOlm {
    None,
    /// The configuration with the default feature gates.
    Delivered,
    /// Only configurations with other feature gates.
    WithOtherGates,
}

/// Reports a dependency. OLM v1 resolves to such a bundle, and then refuses it.
fn dependency(kind: DependencyKind) -> BundleFinding {
    BundleFinding {
        message: format!(
            "the bundle declares {}, which OLM v1 does not support",
            kind.as_str()
        ),
        ..BundleFinding::new(PreflightCheck::UnsupportedDependency, Severity::Error, None)
    }
}

/// Checks install modes, API services and webhooks as operator-controller does, under all settings that it can have.
fn unsupported(bundle: &RegistryBundle, rules: &Rules) -> Option<BundleFinding> {
    let minor = rules.olm.minor();
    let facts = bundle.install_facts();
    let check = |settings: InstallSettings| support::check(&facts, settings, minor).err();
    let (first, installs) = under_settings(rules, check)?;
    let finding = BundleFinding {
        message: under(of_unsupported(first), installs),
        ..BundleFinding::new(first.check(), Severity::Error, first.upstream(minor))
    };
    Some(finding.by(installs))
}

/// Reports a phase for which Boxcutter makes too many objects. The namespaces do not change the number.
fn crowded(bundle: &RegistryBundle, rules: &Rules) -> Option<BundleFinding> {
    let check = |settings: InstallSettings| {
        let target = RenderTarget {
            namespace: "",
            watched: None,
            certificates: settings.certificates,
        };
        let is_crowded = || bundle.has_crowded_phase(target, rules.olm.minor());
        (settings.boxcutter && is_crowded()).then_some(())
    };
    let ((), installs) = under_settings(rules, check)?;
    let check = PreflightCheck::RevisionTooManyObjects;
    let reason = format!("the bundle makes more than {MOST_OF_PHASE} objects in one phase");
    let finding = BundleFinding {
        message: under(&reason, installs),
        ..BundleFinding::new(check, Severity::Error, None)
    };
    Some(finding.by(installs))
}

/// Returns the first reason against a bundle under the possible settings, and which settings install it.
fn under_settings<R: Copy>(
    rules: &Rules,
    check: impl Fn(InstallSettings) -> Option<R>,
) -> Option<(R, InstallingOlm)> {
    let found: Vec<_> = rules.installs.iter().map(|it| check(*it)).collect();
    let first = found.iter().flatten().next().copied()?;
    // The default settings of a release come first.
    let installs = match found.first() {
        _ if found.iter().all(Option::is_some) => InstallingOlm::None,
        Some(None) => InstallingOlm::Delivered,
        _ => InstallingOlm::WithOtherGates,
    };
    Some((first, installs))
}

/// Reports a CRD in the API that Kubernetes 1.22 removed, before the first OLM v1. It is not compared with another one.
fn removed_api(crd: &Value) -> Option<BundleFinding> {
    let text = |path: &str| crd.pointer(path).and_then(Value::as_str);
    let is_removed = text("/apiVersion") == Some("apiextensions.k8s.io/v1beta1");
    let name = text("/metadata/name").unwrap_or_default();
    is_removed.then(|| BundleFinding {
        crd: Some(name.to_owned()),
        message: REMOVED_API.to_owned(),
        is_by_server: true,
        ..BundleFinding::new(PreflightCheck::KindNotServed, Severity::Error, None)
    })
}

/// Reports a webhook name that only the API server refuses.
fn short_name(name: &str) -> BundleFinding {
    BundleFinding {
        message: of_webhook_name(name),
        ..BundleFinding::new(PreflightCheck::WebhookNameShort, Severity::Warning, None)
    }
}

/// Reports the new CRDs that cannot replace the old ones.
fn crds(
    before: &RegistryBundle,
    after: &RegistryBundle,
    minor: u8,
) -> Result<Vec<BundleFinding>, UncomparedCrd> {
    let compared = ComparedCrds::of(before, after, minor);
    let refused = compared.refused.iter();
    let found = refused.flat_map(|refused| of_crd(refused, minor)).collect();
    compared.uncompared.map_or(Ok(found), Err)
}

fn of_crd(refused: &RefusedCrd, minor: u8) -> Vec<BundleFinding> {
    let RefusedCrd { name, comparison } = refused;
    let is_known = CrdGeneration::is_of(minor);
    let crash = comparison.panics.then(|| BundleFinding {
        crd: Some(name.clone()),
        message: CRD_PANIC.to_owned(),
        ..BundleFinding::new(PreflightCheck::CrdPanic, Severity::Error, None)
    });
    let removed = comparison.removed();
    let found = comparison.worst_first().into_iter().map(|found| {
        let severity = if found.is_certain() {
            Severity::Error
        } else {
            Severity::Warning
        };
        let upstream = is_known.then(|| found.to_string());
        BundleFinding {
            crd: Some(name.clone()),
            message: of_crd_change(found),
            is_repeated: found.is_repeated(&removed),
            is_by_server: found.is_refused_by_server(),
            ..BundleFinding::new(found.check(), severity, upstream)
        }
    });
    crash.into_iter().chain(found).collect()
}

/// Checks of a bundle alone.
const OF_BUNDLE: [PreflightCheck; 13] = [
    PreflightCheck::UnsupportedDependency,
    PreflightCheck::ApiservicesUnsupported,
    PreflightCheck::WebhooksUnsupported,
    PreflightCheck::InstallModeUnsupported,
    PreflightCheck::DeploymentNames,
    PreflightCheck::CrdManifests,
    PreflightCheck::PackageNameEmpty,
    PreflightCheck::ConversionWebhook,
    PreflightCheck::WebhookDefinitions,
    PreflightCheck::WebhookNameShort,
    PreflightCheck::ManifestKindUnsupported,
    PreflightCheck::KindNotServed,
    PreflightCheck::RevisionTooManyObjects,
];

/// Checks of the CRDs, each compared with the same CRD of the older version.
const OF_CRDS: [PreflightCheck; 7] = [
    PreflightCheck::CrdFieldRemoved,
    PreflightCheck::CrdScope,
    PreflightCheck::CrdStoredVersion,
    PreflightCheck::CrdProperty,
    PreflightCheck::CrdUnhandled,
    PreflightCheck::CrdServedVersions,
    PreflightCheck::CrdPanic,
];

/// Width of the label column: the longest check id and two spaces.
const LABELS: usize = 27;

// === The report as a comment on a pull request: one row per finding ===

impl ReleaseReport {
    /// Renders the findings as a document.
    pub fn document(&self) -> Document {
        let section = Section {
            caption: "Findings",
            layout: Layout::List,
            heads: ["Severity", "Check", "CRD", "Finding"]
                .map(Head::from)
                .to_vec(),
            rows: self.findings().map(row).collect(),
            details: ["block of details", "blocks of details"],
        };
        let note = self.note();
        let note = note.map(|note| Finding::of_run(TITLE, Severity::Note, note));
        Document {
            name: TITLE,
            command: TITLE,
            result: heading(self),
            faults: Vec::from_iter(note),
            totals: Vec::new(),
            sections: vec![section],
        }
    }
}

fn row(finding: &BundleFinding) -> Row {
    let crd = finding.crd.as_ref();
    let upstream = finding.other_upstream().map(str::to_owned);
    Row {
        tone: finding.tone(),
        findings: vec![finding.check],
        cells: vec![
            Content::words(finding.severity.as_str()),
            Content::foreign(finding.check),
            crd.map(Content::foreign).unwrap_or_default(),
            Content::foreign(&finding.message),
        ],
        details: Details::lines("text of OLM", upstream),
    }
}

const TITLE: &str = "olmguard bundle";

// === Sentences about a bundle ===

/// Returns the first line: the result for a bundle, and for the upgrade to it.
fn result(report: &ReleaseReport) -> (Tone, String) {
    let (tone, answer, findings) = answer(report);
    let before = report.upgrade_from.as_deref().map(escape);
    let after = before.map(|before| format!(" after {before}"));
    let (name, after) = (escape(&report.name), after.unwrap_or_default());
    (tone, format!("{name}: {answer}{after}{findings}"))
}

/// Returns the first line for a document, which marks names.
fn heading(report: &ReleaseReport) -> Content {
    let (_, answer, findings) = answer(report);
    let name = Content::foreign(&report.name).and_words(format!(": {answer}"));
    let all = match &report.upgrade_from {
        Some(before) => name.and_words(" after ").and_foreign(before),
        None => name,
    };
    all.and_words(findings)
}

/// Returns what OLM does with the bundle, and the number of findings.
fn answer(report: &ReleaseReport) -> (Tone, &'static str, String) {
    let count = report.findings().count();
    let (tone, answer) = match (report.is_refused(), count) {
        (true, _) => (Tone::Bad, "OLM cannot install it"),
        (false, 0) => (Tone::Good, "OLM can install it"),
        (false, _) => (Tone::Caution, "OLM might not install it"),
    };
    let findings = (count > 0).then(|| format!(": {}", counted(count, "finding")));
    (tone, answer, findings.unwrap_or_default())
}

const REMOVED_API: &str = "Kubernetes no longer serves apiextensions.k8s.io/v1beta1: write the CRD in apiextensions.k8s.io/v1";

/// Note about the override, if the comparison refuses a CRD.
const OVERRIDE: &str = "a ClusterExtension that sets crdUpgradeSafety.enforcement below \
    spec.install.preflight to None skips the comparison of CRDs";

/// Describes a feature that operator-controller does not support.
fn of_unsupported(reason: Unsupported) -> &'static str {
    match reason {
        Unsupported::ApiServices => "the bundle owns an API service",
        Unsupported::Webhooks => {
            "the bundle has webhooks: OLM must have a provider of certificates"
        }
        Unsupported::NotAllNamespaces => "the install mode AllNamespaces is not supported",
        Unsupported::NoInstallMode => {
            "none of the install modes AllNamespaces, SingleNamespace and OwnNamespace is supported"
        }
    }
}

/// Adds to a reason which OLM configurations do not install the bundle because of it.
fn under(reason: &str, installs: InstallingOlm) -> String {
    match installs {
        InstallingOlm::None => reason.to_owned(),
        InstallingOlm::Delivered => {
            format!("{reason}: an OLM with other feature gates does not install it")
        }
        InstallingOlm::WithOtherGates => {
            format!("{reason}: only an OLM with other feature gates installs it")
        }
    }
}
