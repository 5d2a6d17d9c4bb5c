//! Facts about olmguard in a cluster and its environment, as plain data.

use std::time::Duration;

use serde_json::Value;

use crate::readiness::{Readiness, ReadinessError};

/// All facts that the checks use. `Err` means that the API server did not provide the fact.
#[derive(Clone, Debug)]
pub struct DoctorFacts {
    /// Names of the objects.
    pub names: Names,
    /// Release of the program that runs the checks.
    pub version: String,
    /// The `ValidatingWebhookConfiguration`. `None` if it does not exist.
    pub configuration: Result<Option<Configuration>, MissingAnswer>,
    /// The Service. `None` if it does not exist.
    pub service: Result<Option<Service>, MissingAnswer>,
    /// Endpoints of the Service, from its `EndpointSlices`.
    pub endpoints: Result<Vec<Endpoint>, MissingAnswer>,
    /// The Deployment. `None` if it does not exist.
    pub deployment: Result<Option<Deployment>, MissingAnswer>,
    /// The ready endpoints, with the status of each.
    pub replicas: Vec<Replica>,
    /// Rights that the service account of olmguard needs, and whether it has them.
    pub permissions: Result<Vec<Permission>, MissingAnswer>,
    /// The `UpgradePolicy` and `UpgradeGuardrails` objects.
    pub policies: Result<Vec<PolicyState>, MissingAnswer>,
    /// Answer of the API server to the probe.
    pub round_trip: Result<ApiAnswer, MissingAnswer>,
}

impl DoctorFacts {
    /// Returns olmguard's webhook, if it is known.
    pub fn webhook(&self) -> Option<&Webhook> {
        let configuration = self.configuration.as_ref().ok()?.as_ref()?;
        configuration.webhook.as_ref()
    }
}

/// The state of an `UpgradePolicy` or `UpgradeGuardrails` object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PolicyState {
    /// Kind of the object.
    pub kind: &'static str,
    /// Name of the object.
    pub name: String,
    /// Reason why the object is not accepted. `None` if it is.
    pub fault: Option<String>,
}

/// Names of the objects to check.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Names {
    /// Namespace of olmguard.
    pub namespace: String,
    /// Name of the Service.
    pub service: String,
    /// Name of the Deployment.
    pub deployment: String,
    /// Name of the `ValidatingWebhookConfiguration`.
    pub configuration: String,
}

/// A fact that the API server did not provide.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MissingAnswer {
    /// Right that the request needs.
    pub need: Need,
    /// Whether the API server answered that the user does not have the right.
    pub is_forbidden: bool,
    /// Result of the request, in one line.
    pub why: String,
}

/// A right: a verb on a resource.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Need {
    /// Verb, such as `get`.
    pub verb: &'static str,
    /// Resource as kubectl writes it: `services`, `clusterextensions.olm.operatorframework.io`.
    pub resource: String,
    /// Name of the object, if only one is needed.
    pub name: Option<String>,
    /// Namespace. `None` for cluster-scoped resources.
    pub namespace: Option<String>,
}

/// A `ValidatingWebhookConfiguration`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Configuration {
    /// olmguard's webhook in the configuration, if there is one.
    pub webhook: Option<Webhook>,
    /// Names of all webhooks in the configuration.
    pub webhooks: Vec<String>,
}

/// olmguard's webhook as API servers see it, with defaults filled in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Webhook {
    /// Name of the webhook.
    pub name: String,
    /// Differences from the shipped webhook, except fields that have their own fact.
    pub differences: Vec<Difference>,
    /// Effect on an edit if the webhook cannot be called.
    pub failure_policy: FailurePolicy,
    /// Timeout in seconds.
    pub timeout: i32,
    /// Timeout of the shipped webhook, in seconds.
    pub shipped_timeout: i32,
    /// Trusted CA certificates.
    pub bundle: Bundle,
    /// Name that the certificate must be for.
    pub server_name: Option<String>,
    /// Port of the Service that API servers call.
    pub port: Option<i32>,
}

impl Webhook {
    /// Returns the differences in fields by which API servers select the edits that they send.
    pub(super) fn choosing(&self) -> impl Iterator<Item = &Difference> {
        let differences = self.differences.iter();
        differences.filter(|one| CHOOSING.contains(&one.field))
    }

    /// Returns the name of the match condition that excludes every edit, if there is one.
    pub(super) fn switched_off_by(&self) -> Option<String> {
        let mut differences = self.differences.iter();
        let conditions = differences.find(|one| one.field == "matchConditions")?;
        let conditions: Vec<Value> = serde_json::from_str(&conditions.found).ok()?;
        let is_off = |one: &&Value| one["expression"].as_str().map(str::trim) == Some("false");
        let off = conditions.iter().find(is_off)?;
        off["name"].as_str().map(str::to_owned)
    }
}

/// Fields by which API servers select the edits that they send.
const CHOOSING: [&str; 5] = [
    "rules",
    "matchConditions",
    "matchPolicy",
    "namespaceSelector",
    "objectSelector",
];

/// The effect on an edit if the webhook cannot be called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FailurePolicy {
    /// The edit is denied.
    Fail,
    /// The edit is allowed, and no one is notified.
    Ignore,
}

/// CA certificates with which API servers verify the webhook.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Bundle {
    /// No `caBundle`: API servers use the CA certificates of their system.
    Absent,
    /// A `caBundle` without a certificate.
    Unreadable,
    /// A `caBundle` with certificates.
    Certificates,
}

/// A field that differs from the shipped webhook.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Difference {
    /// Path of the field, relative to the webhook.
    pub field: &'static str,
    /// Value in the cluster, as JSON.
    pub found: String,
    /// Shipped value, as JSON.
    pub shipped: String,
}

/// A Service.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Service {
    /// Type of the Service, from `spec.type`.
    pub kind: String,
    /// Ports of the Service.
    pub ports: Vec<Port>,
}

/// A port of a Service.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Port {
    /// Number of the port.
    pub number: i32,
    /// Target port: a number or a name.
    pub target: String,
}

/// An address behind a Service.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Endpoint {
    /// Address of the endpoint.
    pub address: String,
    /// Name of the pod, if the address belongs to one.
    pub pod: Option<String>,
    /// Whether the address receives requests.
    pub is_ready: bool,
}

/// The counts of a Deployment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Deployment {
    /// Desired number of replicas.
    pub wanted: i32,
    /// Number of ready replicas.
    pub ready: i32,
    /// Number of replicas of the newest template.
    pub updated: i32,
}

/// An endpoint with its status.
#[derive(Clone, Debug)]
pub struct Replica {
    /// Name of the pod, otherwise the address.
    pub name: String,
    /// Status of the replica.
    pub told: Result<ReplicaStatus, MissingAnswer>,
}

/// The status that a replica reports.
#[derive(Clone, Debug)]
pub struct ReplicaStatus {
    /// Release of the replica, if reported.
    pub version: Option<String>,
    /// Whether the replica is ready for edits, by the HTTP status of `/readyz`.
    pub is_ready: bool,
    /// Answer of `/readyz`, or why it cannot be read.
    pub readiness: Result<Readiness, ReadinessError>,
    /// Certificate that is served to API servers, or why it is unknown.
    pub certificate: Result<Certificate, String>,
}

/// A certificate that is served to API servers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Certificate {
    /// Names of the certificate.
    pub names: Vec<String>,
    /// Whether the certificate is for the name that API servers use. `None` if the name is unknown.
    pub is_for_service: Option<bool>,
    /// End of the validity.
    pub until: String,
    /// Length of the validity.
    pub life: Duration,
    /// Remaining validity. Zero if the certificate has expired.
    pub left: Duration,
    /// Time until the validity starts, if it has not started.
    pub begins_in: Option<Duration>,
    /// Whether API servers trust the issuer of the certificate.
    pub trust: Trust,
}

/// Whether API servers trust the issuer of a certificate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Trust {
    /// The issuer is trusted.
    Trusted,
    /// The issuer is not trusted, with the reason.
    Distrusted(String),
    /// The trusted issuers are unknown.
    Unknown,
}

/// A right that olmguard needs, and whether its service account has it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Permission {
    /// Service account, as `system:serviceaccount:NAMESPACE:NAME`.
    pub account: String,
    /// The right.
    pub need: Need,
    /// Whether the account has the right.
    pub is_allowed: bool,
}

/// An answer of the API server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ApiAnswer {
    /// HTTP status.
    pub code: u16,
    /// `reason` of a `Status`. Empty if the answer is the object.
    pub reason: String,
    /// `message` of a `Status`. Empty if the answer is the object.
    pub message: String,
    /// Warnings of the answer.
    pub warnings: Vec<String>,
    /// Time until the answer.
    pub took: Duration,
}
