//! Row 15a: a bundle that operator-controller cannot install.

use crate::explain::facts::MessageFacts;
use crate::explain::refusal::{Cause, RefusalWords};
use crate::explain::text::{CutLine, Detail, versioned, words};
use crate::explain::{CRD_PANIC, of_crd_change, of_validator};
use crate::extension::InstallRequest;
use crate::judge::{InstallFault, PreflightRefusal};
use olmguard_catalog::InstallModes;
use olmguard_catalog::image_reference::ReferenceError;
use olmguard_catalog::olm::InstallGate;
use olmguard_catalog::version::go;
use olmguard_preflight::PreflightCheck;
use olmguard_preflight::bundle::{BundledKind, MOST_OF_PHASE};
use olmguard_preflight::config::{ConfigFault, SINCE_CONFIG};
use olmguard_preflight::crd::CrdFinding;
use olmguard_preflight::owner::ForeignObject;

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

/// Why the bundle cannot be installed. If there are several reasons, the one with the default settings of the release.
pub(in crate::explain) fn reason(refusal: &PreflightRefusal<'_>) -> CutLine {
    let first = refusal.faults.faults.first();
    first.map_or_else(CutLine::default, |fault| of_fault(refusal, fault))
}

fn causes(
    facts: &MessageFacts<'_>,
    refusal: &PreflightRefusal<'_>,
    fault: &InstallFault,
) -> Vec<Cause> {
    let field = match fault {
        InstallFault::Name(_) => "metadata.name".to_owned(),
        InstallFault::Config(_) => CONFIG.to_owned(),
        _ => facts.extension.fields.version(),
    };
    let lines = lines(refusal, fault).into_iter();
    lines.map(|line| Cause::of(field.clone(), line)).collect()
}

fn of_fault(refusal: &PreflightRefusal<'_>, fault: &InstallFault) -> CutLine {
    if fault.check() == PreflightCheck::ConfigRequired && may_lack_gate(refusal) {
        return of_bundle(refusal, PreflightCheck::InstallModeUnsupported);
    }
    lines(refusal, fault).into_iter().next().unwrap_or_default()
}

/// The faults in text, at most [`MOST_CAUSES`].
fn lines(refusal: &PreflightRefusal<'_>, fault: &InstallFault) -> Vec<CutLine> {
    let bundle = || CutLine::default().name(&refusal.resolved.bundle().name);
    let line = match fault {
        InstallFault::Name(name) => words(&format!(
            "the extension's name has {} characters; OLM takes at most {}",
            name.characters, name.most
        )),
        InstallFault::Image(error) => words("the image reference of ")
            .then(bundle())
            .say(of_reference(error)),
        InstallFault::Format(unreadable) => words("the image of ")
            .then(bundle())
            .say(" has no bundle that OLM can read: ")
            .said(unreadable.why()),
        InstallFault::Support(unsupported) => of_bundle(refusal, unsupported.check()),
        InstallFault::Uncompared(error) => CutLine::default().written(&error.to_string()),
        InstallFault::Config(faults) => return first(faults.iter().map(of_config)),
        InstallFault::Manifests(faults) => {
            let refused = faults.iter().map(|fault| of_validator(&fault.upstream));
            return first(refused.map(|why| {
                let line = bundle().say(" has manifests that OLM refuses: ");
                line.said(&why)
            }));
        }
        InstallFault::Unserved(kinds) => {
            return first(kinds.iter().map(|kind| bundle().then(of_unserved(kind))));
        }
        InstallFault::NoCertManager => bundle()
            .say(" has webhooks, and the cluster has no cert-manager for their certificates"),
        InstallFault::Crowded => bundle().say(&format!(
            " makes more than {MOST_OF_PHASE} objects in one phase, and OLM accepts no more"
        )),
        InstallFault::Foreign(objects) => return first(objects.iter().map(of_foreign)),
        InstallFault::Crds(refused) => {
            let changes = refused.worst_first().into_iter().map(of_change);
            return first(changes.map(|change| bundle().say(" cannot replace ").then(change)));
        }
    };
    vec![line]
}

fn first(lines: impl Iterator<Item = CutLine>) -> Vec<CutLine> {
    lines.take(MOST_CAUSES).collect()
}

fn of_unserved(kind: &BundledKind) -> CutLine {
    let line = words(" has an object of kind ").name(&kind.kind);
    let line = line.say(" in ").name(&kind.api_version);
    line.say(", which the cluster does not serve")
}

fn of_foreign(object: &ForeignObject) -> CutLine {
    let line = named(object);
    match &object.owner {
        Some(owner) => line.say(" belongs to ClusterExtension ").name(owner),
        None => line.say(" exists, and does not belong to this ClusterExtension"),
    }
}

/// `CRD NAME`, or `KIND NAMESPACE/NAME`.
fn named(object: &ForeignObject) -> CutLine {
    if object.is_crd() {
        return words("CRD ").name(&object.name);
    }
    let line = CutLine::default().name(&object.kind).say(" ");
    if object.namespace.is_empty() {
        return line.name(&object.name);
    }
    line.name(&object.namespace).say("/").name(&object.name)
}

/// `CRD NAME: CHANGE`.
fn of_change((crd, found): (&str, Option<&CrdFinding>)) -> CutLine {
    let change = found.map_or_else(|| CRD_PANIC.to_owned(), of_crd_change);
    words("CRD ").name(crd).say(": ").said(&change)
}

/// Why a bundle on the path cannot be installed, and what helps.
pub(super) fn blocked_by(facts: &MessageFacts<'_>, refusal: &PreflightRefusal<'_>) -> Detail {
    let fault = refusal.faults.faults.first();
    let needed = fault.map(|fault| needed(facts, refusal, fault));
    let why = reason(refusal).say(". ").then(needed.unwrap_or_default());
    Detail::sentences("Blocked by", vec![why.to_string()])
}

/// The reason and the checks, short enough for a warning.
pub(in crate::explain) fn in_short(refusal: &PreflightRefusal<'_>) -> CutLine {
    let faults = &refusal.faults;
    let (reason, checks) = match faults.faults.first() {
        Some(fault @ InstallFault::Crds(refused)) => {
            let worst = refused.worst_first().into_iter().next();
            (
                worst.map(of_change).unwrap_or_default(),
                vec![fault.check()],
            )
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

/// The text about what to do.
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
        InstallFault::Crowded => {
            words("Only a version with fewer objects in this phase can be installed.")
        }
        InstallFault::Unserved(_) => words("First install what provides this kind."),
        InstallFault::NoCertManager => words("First install cert-manager."),
        InstallFault::Foreign(crds) => needed_of_foreign(crds),
        InstallFault::Crds(refused) if refused.is_by_server() => {
            words("Only a version with another CRD can be installed.")
        }
        InstallFault::Crds(_) => words(
            "Choose another version, or set \
             spec.install.preflight.crdUpgradeSafety.enforcement to None: then objects of this CRD \
             may become invalid.",
        ),
        InstallFault::Config(faults) if fault.check() == PreflightCheck::ConfigInvalid => {
            needed_of_invalid(facts, refusal, faults)
        }
        _ => needed_of_catalog(facts, refusal, fault.check()),
    }
}

/// The text about what to do if an object belongs to another owner. Several extensions can have one package, but no two
/// can have the same object.
fn needed_of_foreign(objects: &[ForeignObject]) -> CutLine {
    let Some(first) = objects.first() else {
        return CutLine::default();
    };
    match &first.owner {
        Some(owner) if first.is_crd() => {
            let line = words("Only one ClusterExtension can have a CRD. Deleting ").name(owner);
            let line = line.say(" also deletes its CRDs and all their objects.");
            if first.is_adoptable {
                line.say(" If it does not exist any more, mark the CRD as olmguard explain Preflight says.")
            } else {
                line
            }
        }
        Some(owner) if first.namespace.is_empty() => {
            words("Only one ClusterExtension can have it: delete ")
                .name(owner)
                .say(" first.")
        }
        Some(_) => words("Create the ClusterExtension with another spec.namespace."),
        None if first.is_of_v0 => {
            words("OLM v0 has installed it: olmguard migrate lists the steps of the move.")
        }
        None if !first.is_adoptable && first.is_crd() => words(
            "With the feature gate BoxcutterRuntime, OLM adopts nothing. Deleting the CRD deletes all its objects.",
        ),
        None if !first.is_adoptable => {
            words("Delete it: with the feature gate BoxcutterRuntime, OLM adopts nothing.")
        }
        None if first.is_crd() => words(
            "Mark the CRD so that OLM adopts it, as olmguard explain Preflight says. Deleting it \
             deletes all its objects.",
        ),
        None => words(
            "Delete it, or mark it so that OLM adopts it, as olmguard explain Preflight says.",
        ),
    }
}

/// The text about what to do about a fault that the catalog shows without the image.
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
            turn_on(TO_INSTALL, InstallGate::CertManager, refusal.faults.minor)
        }
        PreflightCheck::DeploymentConfigOff => {
            let minor = refusal.faults.minor;
            turn_on(
                "Remove deploymentConfig, or ",
                InstallGate::DeploymentConfig,
                minor,
            )
        }
        PreflightCheck::InstallModeUnsupported if !is_installable(refusal.faults.modes) => words(
            "Only a version that supports AllNamespaces, SingleNamespace or OwnNamespace can be \
             installed.",
        ),
        _ => needed_config(facts, refusal),
    }
}

/// The text to turn on a feature gate, or to update OLM first if the release does not have the gate. `before` precedes
/// it.
fn turn_on(before: &str, gate: InstallGate, minor: u8) -> CutLine {
    let (name, since) = (gate.as_str(), gate.since());
    words(&if minor < since {
        format!("{before}update OLM to 1.{since} or later and turn on its feature gate {name}.")
    } else {
        format!("{before}turn on {name}, a feature gate of operator-controller.")
    })
}

/// The text about what to correct in the configuration.
fn needed_of_invalid(
    facts: &MessageFacts<'_>,
    refusal: &PreflightRefusal<'_>,
    faults: &[ConfigFault],
) -> CutLine {
    let below = |line: CutLine, field: &str| {
        let dot = if field.is_empty() { "" } else { "." };
        line.say(CONFIG).say(dot).written(field).say(".")
    };
    match faults.first() {
        Some(fault) if fault.is_of_namespace() => {
            watched(facts.extension.install.as_ref(), refusal.faults.modes)
        }
        Some(ConfigFault::Unknown { parent, names }) => {
            let names = names.iter().take(MOST_CAUSES);
            let names: Vec<_> = names.map(|name| go::quote(name)).collect();
            let line = words("Remove ").said(&names.join(", "));
            below(line.say(" from "), parent)
        }
        Some(ConfigFault::Required { field }) => below(words("Set "), field),
        Some(ConfigFault::Type { field, .. }) => below(words("Correct "), field),
        _ => below(words("Correct "), "deploymentConfig"),
    }
}

/// The text about the configuration that a bundle needs if it cannot watch all namespaces.
fn needed_config(facts: &MessageFacts<'_>, refusal: &PreflightRefusal<'_>) -> CutLine {
    let (gate, minor) = (InstallGate::SingleOwnNamespace, refusal.faults.minor);
    if minor < gate.since() {
        return turn_on(TO_INSTALL, gate, minor);
    }
    let field = if minor < SINCE_CONFIG {
        "Set the annotation olm.operatorframework.io/watch-namespace"
    } else {
        "Set spec.config.inline.watchNamespace"
    };
    let watched = to_watch(facts.extension.install.as_ref(), refusal.faults.modes);
    let line = words(field).then(watched);
    if may_lack_gate(refusal) {
        line.then(turn_on(", and ", gate, minor))
    } else {
        line.say(", with configType Inline.")
    }
}

/// Whether the gate without which OLM reads no configuration may be off.
fn may_lack_gate(refusal: &PreflightRefusal<'_>) -> bool {
    let checks = refusal.faults.checks();
    checks.contains(&PreflightCheck::InstallModeUnsupported)
}

/// The only namespace that can be watched, if there is only one.
fn to_watch(request: Option<&InstallRequest>, modes: InstallModes) -> CutLine {
    match request {
        Some(request) if !modes.single_namespace && !request.namespace.is_empty() => {
            words(" to ").name(&request.namespace)
        }
        _ => CutLine::default(),
    }
}

/// The values of `watchNamespace` that a bundle with these install modes accepts.
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

/// Whether OLM v1 can use one of the modes.
fn is_installable(modes: InstallModes) -> bool {
    modes.all_namespaces || modes.single_namespace || modes.own_namespace
}

const TO_INSTALL: &str = "To install it, ";

/// The most faults that are listed, because a configuration can have thousands.
const MOST_CAUSES: usize = 5;

const CONFIG: &str = "spec.config.inline";
