//! The OLM of the cluster, read from the Deployment of operator-controller.
//!
//! ```text
//! image tag ------------------> release --.
//!  '- none: OpenShift's version -^         |--> Found --> olm::Rules
//! --feature-gates of its container ------>'
//! ```
//!
//! Unknown facts are assumed if that is sound, and each assumption is a warning. Upstream: operator-controller,
//! `config/base/operator-controller/manager/manager.yaml`. OpenShift's cluster-olm-operator creates the same Deployment
//! in `openshift-operator-controller`.

mod release;
#[cfg(test)]
mod tests;
mod watch;

pub use release::OlmAssumption;
pub use watch::{OlmEvent, watch};

use std::fmt;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Container;
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client};
use serde_json::Value;

use crate::cluster::object::WatchedObject;
use crate::cluster::{WatchFault, fault_words, line};
use olmguard_catalog::olm::{GateError, Gates, OlmRelease, Rules};
use release::{Evidence, OpenShift, image_name};

/// The OLM that runs in a cluster.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RunningOlm {
    /// The release of OLM, or the nearest known one.
    pub release: OlmRelease,
    /// The feature gates of OLM that affect resolution.
    pub gates: Gates,
    /// The assumptions that were necessary.
    pub warnings: Vec<OlmAssumption>,
    namespace: String,
    evidence: Evidence,
    settings: Vec<String>,
}

/// The reason why no OLM was found.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum FindError {
    /// No Deployment exists in the searched namespaces.
    #[error(
        "no operator-controller: expected a Deployment {DEPLOYMENT} in namespace {}; is OLM v1 installed?",
        namespaces.join(" or ")
    )]
    Nowhere {
        /// The searched namespaces.
        namespaces: Vec<String>,
    },
    /// The API server did not answer, or returned an error.
    #[error("cannot read Deployment {namespace}/{DEPLOYMENT}: {}", fault.words)]
    Failed {
        /// The searched namespace.
        namespace: String,
        /// The fault of the request.
        fault: WatchFault,
    },
    /// The Deployment has no container with operator-controller.
    #[error(
        "Deployment {namespace}/{DEPLOYMENT}: no container of operator-controller in it: expected one that runs operator-controller, or is named manager"
    )]
    NoContainer {
        /// The namespace of the Deployment.
        namespace: String,
    },
}

/// Finds the OLM of this cluster, in the given namespace or in the usual ones.
pub async fn find(client: &Client, namespace: Option<&str>) -> Result<RunningOlm, FindError> {
    let (client, _) = line::open(client.clone());
    let (found, _) = look(&client, namespace).await?;
    Ok(found)
}

/// Compares the OLM that was found with the flags, which take precedence.
pub fn compare(
    found: &RunningOlm,
    release: Option<OlmRelease>,
    gates: Option<Gates>,
) -> Vec<OlmAssumption> {
    let mut warnings = Vec::new();
    if let Some(set) = release.filter(|set| *set != found.release) {
        let found = found.release;
        warnings.push(OlmAssumption::ReleaseSet { set, found });
    }
    let words = || found.gates_in_words();
    match gates {
        Some(set) if !set.resolve_as(found.gates) => {
            warnings.push(OlmAssumption::GatesSet { found: words() });
        }
        None if !warnings.is_empty() && !found.gates.resolve_as(Gates::default()) => {
            warnings.push(OlmAssumption::GatesLeft { found: words() });
        }
        _ => {}
    }
    warnings
}

impl RunningOlm {
    /// Returns the rules of this OLM, except for values that are set by flags. Gates belong to a release: the gates that were
    /// found apply only with the release that was found.
    pub fn rules_unless(&self, release: Option<OlmRelease>, gates: Option<Gates>) -> Rules {
        let taken = release.unwrap_or(self.release);
        let own = (taken == self.release).then_some(self.gates);
        Rules::new(taken, gates.or(own).unwrap_or_default())
    }

    /// Whether another look at the same Deployment cannot find more.
    fn is_certain(&self) -> bool {
        let is_open =
            |warning: &OlmAssumption| matches!(warning, OlmAssumption::NoOpenShiftVersion { .. });
        !self.warnings.iter().any(is_open)
    }

    fn gates_in_words(&self) -> String {
        if self.settings.is_empty() {
            return "no feature gates".to_owned();
        }
        format!("feature gates {}", self.settings.join(","))
    }
}

/// Formats one line: the release, its evidence, the gates, and the location.
impl fmt::Display for RunningOlm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            release,
            evidence,
            namespace,
            ..
        } = self;
        let gates = self.gates_in_words();
        write!(
            f,
            "OLM {release} ({evidence}), {gates}, of Deployment {namespace}/{DEPLOYMENT}"
        )
    }
}

async fn look(
    client: &Client,
    namespace: Option<&str>,
) -> Result<(RunningOlm, SeenGeneration), FindError> {
    let namespaces = namespace.map_or(NAMESPACES.to_vec(), |named| vec![named]);
    let mut failed = None;
    for namespace in &namespaces {
        match deployment(client, namespace).await {
            Ok(Some(deployment)) => {
                let found = read(client, namespace, &deployment).await?;
                return Ok((found, SeenGeneration::of(namespace, &deployment)));
            }
            Ok(None) => {}
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    let namespaces = namespaces.into_iter().map(str::to_owned).collect();
    Err(failed.unwrap_or(FindError::Nowhere { namespaces }))
}

async fn deployment(client: &Client, namespace: &str) -> Result<Option<Deployment>, FindError> {
    let api: Api<Deployment> = Api::namespaced(client.clone(), namespace);
    let failed = |error| FindError::Failed {
        namespace: namespace.to_owned(),
        fault: WatchFault::from(&error),
    };
    api.get_opt(DEPLOYMENT).await.map_err(failed)
}

async fn read(
    client: &Client,
    namespace: &str,
    deployment: &Deployment,
) -> Result<RunningOlm, FindError> {
    let spec = deployment.spec.as_ref();
    let pod = spec.and_then(|spec| spec.template.spec.as_ref());
    let containers = pod.map_or(&[][..], |pod| &pod.containers);
    let container = manager_of(containers).ok_or_else(|| FindError::NoContainer {
        namespace: namespace.to_owned(),
    })?;
    let openshift = if release::is_told_by(image_of(container)) {
        OpenShift::NotHere
    } else {
        openshift(client).await
    };
    Ok(found(namespace, container, &openshift))
}

/// Returns the OLM of a container. OpenShift's version is used if the image does not show the release.
fn found(namespace: &str, container: &Container, openshift: &OpenShift) -> RunningOlm {
    let known = release::of(image_of(container), openshift);
    let mut warnings = Vec::from_iter(known.warning);
    let mut set = gates_of(container, known.release);
    if !warnings.is_empty() {
        // The defaults of other gates may differ in the running release.
        set.gates = set.gates.of_resolution();
    }
    warnings.extend(set.ignored.into_iter().map(OlmAssumption::Gate));
    RunningOlm {
        release: known.release,
        gates: set.gates,
        warnings,
        namespace: namespace.to_owned(),
        evidence: known.evidence,
        settings: set.settings,
    }
}

fn image_of(container: &Container) -> &str {
    container.image.as_deref().unwrap_or_default()
}

async fn openshift(client: &Client) -> OpenShift {
    let kind = GroupVersionKind::gvk("config.openshift.io", "v1", "ClusterVersion");
    let api: Api<WatchedObject> = Api::all_with(client.clone(), &ApiResource::from_gvk(&kind));
    match api.get_opt("version").await {
        Ok(None) => OpenShift::NotHere,
        Ok(Some(object)) => match object.content.pointer(VERSION).and_then(Value::as_str) {
            Some(version) => OpenShift::Version(version.to_owned()),
            None => OpenShift::Unknown("ClusterVersion has no status.desired.version".to_owned()),
        },
        Err(error) => OpenShift::Unknown(fault_words(&error)),
    }
}

/// The path of the running version in a `ClusterVersion`.
const VERSION: &str = "/status/desired/version";

const DEPLOYMENT: &str = "operator-controller-controller-manager";

/// Upstream's namespace, then OpenShift's.
const NAMESPACES: [&str; 2] = ["olmv1-system", "openshift-operator-controller"];

/// The state of the Deployment that was read. The generation changes with its spec, and not with its pods.
#[derive(Clone, Debug, Eq, PartialEq)]
struct SeenGeneration {
    namespace: String,
    uid: Option<String>,
    generation: Option<i64>,
}

impl SeenGeneration {
    fn of(namespace: &str, deployment: &Deployment) -> Self {
        Self {
            namespace: namespace.to_owned(),
            uid: deployment.metadata.uid.clone(),
            generation: deployment.metadata.generation,
        }
    }
}

// === The container of operator-controller in its Deployment: its image, and its feature gates ===

/// Returns the container of operator-controller in a Deployment, which may have sidecars.
///
/// That is the first container that runs a program of that name; otherwise the one named `manager`, as in every
/// manifest of OLM v1; otherwise the one with an image of that name; otherwise the only one.
fn manager_of(containers: &[Container]) -> Option<&Container> {
    let first = |is: fn(&Container) -> bool| containers.iter().find(|container| is(container));
    first(runs_it)
        .or_else(|| first(|container| container.name == "manager"))
        .or_else(|| first(has_its_image))
        .or(match containers {
            [only] => Some(only),
            _ => None,
        })
}

fn runs_it(container: &Container) -> bool {
    let mut words = container.command.iter().flatten();
    words
        .next()
        .is_some_and(|program| program.rsplit('/').next() == Some(NAME))
}

/// Whether the image has that name. Vendor builds add a prefix.
fn has_its_image(container: &Container) -> bool {
    image_name(image_of(container)).ends_with(NAME)
}

/// The feature gates of a container, and the settings that cannot be parsed.
#[derive(Debug)]
struct SetGates {
    gates: Gates,
    /// Each accepted setting, in the order of the arguments.
    settings: Vec<String>,
    ignored: Vec<GateError>,
}

/// Returns the gates of `--feature-gates`.
///
/// A gate that is unknown here belongs to an unknown release: operator-controller runs with it, so it knows the gate.
fn gates_of(container: &Container, release: OlmRelease) -> SetGates {
    let (mut settings, mut ignored) = (Vec::new(), Vec::new());
    for setting in written_gates(container) {
        match Gates::parse([setting], release) {
            Ok(_) => settings.push(setting.to_owned()),
            Err(error) => ignored.push(error),
        }
    }
    let all = settings.iter().map(String::as_str);
    let gates = Gates::parse(all, release).unwrap_or_default();
    SetGates {
        gates,
        settings,
        ignored,
    }
}

/// Returns the values of a flag of a container, which can be repeated: `--flag=value` or `--flag value`.
pub(super) fn flag_values<'c>(container: &'c Container, flag: &str) -> Vec<&'c str> {
    let command = container.command.iter().flatten();
    let mut words = command.chain(container.args.iter().flatten());
    let mut values = Vec::new();
    while let Some(word) = words.next() {
        if word == flag {
            values.extend(words.next().map(String::as_str));
        } else {
            let rest = word.strip_prefix(flag);
            values.extend(rest.and_then(|rest| rest.strip_prefix('=')));
        }
    }
    values
}

fn written_gates(container: &Container) -> impl Iterator<Item = &str> {
    let lists = flag_values(container, "--feature-gates").into_iter();
    let settings = lists.flat_map(|list| list.split(','));
    settings
        .map(str::trim)
        .filter(|setting| !setting.is_empty())
}

const NAME: &str = "operator-controller";
