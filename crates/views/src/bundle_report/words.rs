//! Sentences about a bundle.

use super::{InstallingOlm, ReleaseReport};
use olmguard_catalog::DependencyKind;
use olmguard_catalog::version::go;
use olmguard_engine::explain::counted;
use olmguard_preflight::bundle::MOST_OF_PHASE;
use olmguard_preflight::support::Unsupported;
use olmguard_report::Tone;
use olmguard_report::document::Content;

/// Returns the first line: the result for a bundle, and for the upgrade to it.
pub(super) fn result(report: &ReleaseReport) -> (Tone, String) {
    let (tone, answer, findings) = answer(report);
    let before = report.upgrade_from.as_deref().map(go::escape);
    let after = before.map(|before| format!(" after {before}"));
    let (name, after) = (go::escape(&report.name), after.unwrap_or_default());
    (tone, format!("{name}: {answer}{after}{findings}"))
}

/// Returns the first line for a document, which marks names.
pub(super) fn heading(report: &ReleaseReport) -> Content {
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

pub(super) const REMOVED_API: &str = "Kubernetes no longer serves apiextensions.k8s.io/v1beta1: write the CRD in apiextensions.k8s.io/v1";

/// Note about the override, if the comparison refuses a CRD.
pub(super) const OVERRIDE: &str = "a ClusterExtension that sets crdUpgradeSafety.enforcement below \
    spec.install.preflight to None skips the comparison of CRDs";

pub(super) fn dependency(kind: DependencyKind) -> String {
    let kind = kind.as_str();
    format!("the bundle declares {kind}, which OLM v1 does not support")
}

pub(super) fn unsupported(reason: Unsupported, installs: InstallingOlm) -> String {
    let reason = match reason {
        Unsupported::ApiServices => "the bundle owns an API service",
        Unsupported::Webhooks => {
            "the bundle has webhooks: OLM must have a provider of certificates"
        }
        Unsupported::NotAllNamespaces => "the install mode AllNamespaces is not supported",
        Unsupported::NoInstallMode => {
            "none of the install modes AllNamespaces, SingleNamespace and OwnNamespace is supported"
        }
    };
    under(reason, installs)
}

pub(super) fn crowded(installs: InstallingOlm) -> String {
    let reason = format!("the bundle makes more than {MOST_OF_PHASE} objects in one phase");
    under(&reason, installs)
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
