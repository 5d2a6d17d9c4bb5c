//! Row 15a: a bundle that operator-controller cannot install.

use crate::explain::facts::MessageFacts;
use crate::explain::refusal::{Cause, RefusalWords, words};
use crate::explain::text::{CutLine, Detail, versioned};
use crate::extension::InstallRequest;
use crate::judge::{InstallFault, PreflightRefusal};
use crate::resolve::Choice;
use olmguard_catalog::InstallModes;
use olmguard_preflight::PreflightCheck;
use olmguard_preflight::config::ConfigFault;
use olmguard_preflight::reference::ReferenceError;

/// The words for a refusal.
pub(super) fn refused(facts: &MessageFacts<'_>, refusal: &PreflightRefusal<'_>) -> RefusalWords {
    let choice = refusal.resolved;
    let faults = &refusal.faults;
    let causes = faults
        .faults
        .iter()
        .flat_map(|fault| causes(facts, choice, fault));
    let checks = faults.checks();
    let ids = checks.iter().map(|check| check.as_str().to_owned());
    RefusalWords {
        reason: reason(refusal),
        causes: causes.collect(),
        details: vec![Detail::items("Check", ids.collect())],
        needed: faults
            .faults
            .first()
            .map(|fault| needed(facts, choice, fault)),
    }
}

/// Why the bundle cannot be installed; of several reasons the one under the default settings of the release.
pub(in crate::explain) fn reason(refusal: &PreflightRefusal<'_>) -> CutLine {
    let first = refusal.faults.faults.first();
    first.map_or_else(CutLine::default, |fault| of_fault(refusal.resolved, fault))
}

fn causes(facts: &MessageFacts<'_>, choice: Choice<'_>, fault: &InstallFault) -> Vec<Cause> {
    let field = match fault {
        InstallFault::Name(_) => "metadata.name".to_owned(),
        InstallFault::Image(_) | InstallFault::Support(_) => facts.extension.fields.version(),
        InstallFault::Config(faults) => {
            let cause = |fault| Cause::of(CONFIG.to_owned(), of_config(fault));
            return faults.iter().take(MOST_CAUSES).map(cause).collect();
        }
    };
    vec![Cause::of(field, of_fault(choice, fault))]
}

fn of_fault(choice: Choice<'_>, fault: &InstallFault) -> CutLine {
    match fault {
        InstallFault::Name(name) => words(&format!(
            "the name of the extension has {} characters, and OLM takes at most {}",
            name.characters, name.most
        )),
        InstallFault::Image(error) => words("the image reference of ")
            .name(&choice.bundle().name)
            .say(of_reference(error)),
        InstallFault::Support(unsupported) => of_bundle(choice, unsupported.check()),
        InstallFault::Config(faults) => match faults.first() {
            Some(fault) if fault.check() == PreflightCheck::ConfigRequired => {
                of_bundle(choice, PreflightCheck::InstallModeUnsupported)
            }
            Some(fault) => of_config(fault),
            None => words("the configuration is not valid"),
        },
    }
}

fn of_reference(error: &ReferenceError) -> &'static str {
    match error {
        ReferenceError::Invalid { .. } => " is not valid",
        ReferenceError::NotCanonical { .. } => " does not name its registry and repository in full",
        ReferenceError::TagAndDigest => " has both a tag and a digest",
        ReferenceError::NeitherTagNorDigest { .. } => " has neither a tag nor a digest",
    }
}

fn of_bundle(choice: Choice<'_>, check: PreflightCheck) -> CutLine {
    let bundle = CutLine::default().name(&choice.bundle().name);
    bundle.say(match check {
        PreflightCheck::ApiservicesUnsupported => {
            " owns an APIService, which OLM v1 does not install"
        }
        PreflightCheck::WebhooksUnsupported => {
            " has webhooks, and OLM has no provider of certificates for them"
        }
        _ if is_installable(modes(choice)) => " does not support the install mode AllNamespaces",
        _ => " supports none of the install modes of OLM v1",
    })
}

fn of_config(fault: &ConfigFault) -> CutLine {
    words("spec.config is not valid: ").said(&fault.to_string())
}

/// What has to be done.
fn needed(facts: &MessageFacts<'_>, choice: Choice<'_>, fault: &InstallFault) -> CutLine {
    match fault.check() {
        PreflightCheck::ReleaseNameTooLong => words("Create the extension under a shorter name."),
        PreflightCheck::ImageRefInvalid => words("The catalog author must fix the image of ")
            .then(versioned(choice))
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
        PreflightCheck::InstallModeUnsupported if !is_installable(modes(choice)) => words(
            "Only a version that supports AllNamespaces, SingleNamespace or OwnNamespace can be \
             installed.",
        ),
        PreflightCheck::InstallModeUnsupported | PreflightCheck::ConfigRequired => {
            let line = words("Set spec.config.inline.watchNamespace");
            let line = line.then(to_watch(facts.extension.install.as_ref(), modes(choice)));
            line.say(
                ", and turn on SingleOwnNamespaceInstallSupport, a feature gate of \
                 operator-controller.",
            )
        }
        _ => watched(facts.extension.install.as_ref(), modes(choice)),
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

fn modes(choice: Choice<'_>) -> InstallModes {
    choice.bundle().install.unwrap_or_default().modes
}

/// Whether OLM v1 has a use for one of the modes.
fn is_installable(modes: InstallModes) -> bool {
    modes.all_namespaces || modes.single_namespace || modes.own_namespace
}

/// How many faults of a configuration are named: it can have thousands.
const MOST_CAUSES: usize = 5;

const CONFIG: &str = "spec.config.inline";
