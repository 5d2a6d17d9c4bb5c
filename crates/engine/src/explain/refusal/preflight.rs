//! Row 15a: a bundle that operator-controller cannot install.

use std::iter;

use crate::explain::facts::MessageFacts;
use crate::explain::manifests::{CRD_PANIC, of_crd_change, of_validator};
use crate::explain::refusal::{Cause, RefusalWords, words};
use crate::explain::text::{CutLine, Detail, versioned};
use crate::extension::InstallRequest;
use crate::judge::{InstallFault, PreflightRefusal};
use olmguard_catalog::InstallModes;
use olmguard_preflight::PreflightCheck;
use olmguard_preflight::bundle::BundleFault;
use olmguard_preflight::config::ConfigFault;
use olmguard_preflight::content::{RefusedCrd, UnreadableBundle};
use olmguard_preflight::reference::ReferenceError;

/// The words for a refusal.
pub(super) fn refused(facts: &MessageFacts<'_>, refusal: &PreflightRefusal<'_>) -> RefusalWords {
    let faults = &refusal.faults;
    let causes = faults
        .faults
        .iter()
        .flat_map(|fault| causes(facts, refusal, fault));
    let checks = faults.checks();
    let ids = checks.iter().map(|check| check.as_str().to_owned());
    RefusalWords {
        reason: reason(refusal),
        causes: causes.collect(),
        details: vec![Detail::items("Check", ids.collect())],
        needed: faults
            .faults
            .first()
            .map(|fault| needed(facts, refusal, fault)),
    }
}

/// Why the bundle cannot be installed; of several reasons the one under the default settings of the release.
pub(in crate::explain) fn reason(refusal: &PreflightRefusal<'_>) -> CutLine {
    let first = refusal.faults.faults.first();
    first.map_or_else(CutLine::default, |fault| of_fault(refusal, fault))
}

fn causes(
    facts: &MessageFacts<'_>,
    refusal: &PreflightRefusal<'_>,
    fault: &InstallFault,
) -> Vec<Cause> {
    let version = || facts.extension.fields.version();
    let (field, lines) = match fault {
        InstallFault::Name(_) => ("metadata.name".to_owned(), vec![of_fault(refusal, fault)]),
        InstallFault::Image(_)
        | InstallFault::Format(_)
        | InstallFault::Support(_)
        | InstallFault::Uncompared(_) => (version(), vec![of_fault(refusal, fault)]),
        InstallFault::Config(faults) => (
            CONFIG.to_owned(),
            faults.iter().take(MOST_CAUSES).map(of_config).collect(),
        ),
        InstallFault::Manifests(faults) => {
            let faults = faults.iter().take(MOST_CAUSES);
            let lines = faults.map(|fault| of_manifests(refusal, fault));
            (version(), lines.collect())
        }
        InstallFault::Crds(refused) => {
            let lines = refused.crds.iter().flat_map(|crd| of_crd(refusal, crd));
            (version(), lines.take(MOST_CAUSES).collect())
        }
    };
    let lines = lines.into_iter();
    lines.map(|line| Cause::of(field.clone(), line)).collect()
}

fn of_fault(refusal: &PreflightRefusal<'_>, fault: &InstallFault) -> CutLine {
    match fault {
        InstallFault::Name(name) => words(&format!(
            "the name of the extension has {} characters, and OLM takes at most {}",
            name.characters, name.most
        )),
        InstallFault::Image(error) => words("the image reference of ")
            .name(&refusal.resolved.bundle().name)
            .say(of_reference(error)),
        InstallFault::Format(UnreadableBundle(why)) => words("the image of ")
            .name(&refusal.resolved.bundle().name)
            .say(" has no bundle that OLM can read: ")
            .said(why),
        InstallFault::Support(unsupported) => of_bundle(refusal, unsupported.check()),
        InstallFault::Config(faults) => match faults.first() {
            Some(fault) if fault.check() == PreflightCheck::ConfigRequired => {
                of_bundle(refusal, PreflightCheck::InstallModeUnsupported)
            }
            Some(fault) => of_config(fault),
            None => words("the configuration is not valid"),
        },
        InstallFault::Manifests(faults) => {
            let first = faults.first();
            first.map_or_else(CutLine::default, |fault| of_manifests(refusal, fault))
        }
        InstallFault::Crds(refused) => {
            let mut lines = refused.crds.iter().flat_map(|crd| of_crd(refusal, crd));
            lines.next().unwrap_or_default()
        }
        InstallFault::Uncompared(error) => CutLine::default().written(&error.to_string()),
    }
}

fn of_manifests(refusal: &PreflightRefusal<'_>, fault: &BundleFault) -> CutLine {
    let line = CutLine::default().name(&refusal.resolved.bundle().name);
    line.say(" has manifests that OLM refuses: ")
        .said(&of_validator(&fault.upstream))
}

/// A line for each change of a CRD that is in the way, the worst first.
fn of_crd(refusal: &PreflightRefusal<'_>, crd: &RefusedCrd) -> impl Iterator<Item = CutLine> {
    changes(crd).map(|change| {
        let line = CutLine::default().name(&refusal.resolved.bundle().name);
        line.say(" cannot replace ").then(change)
    })
}

/// `CRD NAME: CHANGE` for each change, the worst first.
fn changes(crd: &RefusedCrd) -> impl Iterator<Item = CutLine> {
    let panics = crd.comparison.panics.then(|| CRD_PANIC.to_owned());
    let changes = crd.comparison.of_people().into_iter().map(of_crd_change);
    iter::chain(panics, changes).map(|change| {
        let line = words("CRD ").name(&crd.name);
        line.say(": ").said(&change)
    })
}

/// The reason and the checks in the space of a warning.
pub(in crate::explain) fn in_short(refusal: &PreflightRefusal<'_>) -> CutLine {
    let faults = &refusal.faults;
    let (reason, checks) = match faults.faults.first() {
        Some(fault @ InstallFault::Crds(refused)) => {
            let mut lines = refused.crds.iter().flat_map(changes);
            (lines.next().unwrap_or_default(), vec![fault.check()])
        }
        _ => (reason(refusal), faults.checks()),
    };
    let ids: Vec<_> = checks.into_iter().map(PreflightCheck::as_str).collect();
    reason.say(&format!(" [{}]", ids.join(", ")))
}

fn of_reference(error: &ReferenceError) -> &'static str {
    match error {
        ReferenceError::Invalid { .. } => " is not valid",
        ReferenceError::NotCanonical { .. } => " does not name its registry and repository in full",
        ReferenceError::TagAndDigest => " has both a tag and a digest",
        ReferenceError::NeitherTagNorDigest { .. } => " has neither a tag nor a digest",
    }
}

fn of_bundle(refusal: &PreflightRefusal<'_>, check: PreflightCheck) -> CutLine {
    let bundle = CutLine::default().name(&refusal.resolved.bundle().name);
    bundle.say(match check {
        PreflightCheck::ApiservicesUnsupported => {
            " owns an APIService, which OLM v1 does not install"
        }
        PreflightCheck::WebhooksUnsupported => {
            " has webhooks, and OLM has no provider of certificates for them"
        }
        _ if is_installable(refusal.faults.modes) => {
            " does not support the install mode AllNamespaces"
        }
        _ => " supports none of the install modes of OLM v1",
    })
}

fn of_config(fault: &ConfigFault) -> CutLine {
    words("spec.config is not valid: ").said(&fault.to_string())
}

/// What has to be done.
fn needed(
    facts: &MessageFacts<'_>,
    refusal: &PreflightRefusal<'_>,
    fault: &InstallFault,
) -> CutLine {
    match fault {
        InstallFault::Manifests(_) | InstallFault::Format(_) | InstallFault::Uncompared(_) => {
            let line = words("The package author must fix the manifests of ");
            line.then(versioned(refusal.resolved)).say(".")
        }
        InstallFault::Crds(_) => words(match fault.check() {
            PreflightCheck::CrdScope | PreflightCheck::CrdStoredVersion => {
                "Only a version with another CRD can be installed."
            }
            _ => {
                "Choose another version, or set \
                 spec.install.preflight.crdUpgradeSafety.enforcement to None: then objects of this \
                 CRD may become invalid."
            }
        }),
        _ => needed_of_catalog(facts, refusal, fault.check()),
    }
}

/// What has to be done about what the catalog shows, without the image.
fn needed_of_catalog(
    facts: &MessageFacts<'_>,
    refusal: &PreflightRefusal<'_>,
    check: PreflightCheck,
) -> CutLine {
    match check {
        PreflightCheck::ReleaseNameTooLong => words("Create the extension under a shorter name."),
        PreflightCheck::ImageRefInvalid => words("The catalog author must fix the image of ")
            .then(versioned(refusal.resolved))
            .say("."),
        PreflightCheck::ApiservicesUnsupported => {
            words("Only a version without APIServices can be installed.")
        }
        PreflightCheck::WebhooksUnsupported => {
            words("Turn on WebhookProviderCertManager, a feature gate of operator-controller.")
        }
        PreflightCheck::DeploymentConfigOff => words(
            "Remove deploymentConfig, or turn on DeploymentConfig, a feature gate of \
             operator-controller.",
        ),
        PreflightCheck::InstallModeUnsupported if !is_installable(refusal.faults.modes) => words(
            "Only a version that supports AllNamespaces, SingleNamespace or OwnNamespace can be \
             installed.",
        ),
        PreflightCheck::InstallModeUnsupported | PreflightCheck::ConfigRequired => {
            let line = words("Set spec.config.inline.watchNamespace");
            let line = line.then(to_watch(
                facts.extension.install.as_ref(),
                refusal.faults.modes,
            ));
            line.say(
                ", and turn on SingleOwnNamespaceInstallSupport, a feature gate of \
                 operator-controller.",
            )
        }
        _ => watched(facts.extension.install.as_ref(), refusal.faults.modes),
    }
}

/// The only namespace that can be watched, if there is one.
fn to_watch(request: Option<&InstallRequest>, modes: InstallModes) -> CutLine {
    match request {
        Some(request) if !modes.single_namespace => words(" to ").name(&request.namespace),
        _ => CutLine::default(),
    }
}

/// The values that a bundle with these install modes takes for `watchNamespace`.
fn watched(request: Option<&InstallRequest>, modes: InstallModes) -> CutLine {
    let namespace = request.map_or("", |request| &request.namespace);
    let line = words("The bundle takes ");
    let line = match (modes.single_namespace, modes.own_namespace) {
        (false, false) => return line.say("no watchNamespace."),
        (false, true) => line.say("as watchNamespace only ").name(namespace),
        (true, false) => line
            .say("as watchNamespace any namespace but ")
            .name(namespace),
        (true, true) => line.say("any namespace as watchNamespace"),
    };
    line.say(if modes.all_namespaces {
        ", or none."
    } else {
        "."
    })
}

/// Whether OLM v1 has a use for one of the modes.
fn is_installable(modes: InstallModes) -> bool {
    modes.all_namespaces || modes.single_namespace || modes.own_namespace
}

/// How many faults of a configuration are named: it can have thousands.
const MOST_CAUSES: usize = 5;

const CONFIG: &str = "spec.config.inline";
