//! What is known of a guard and what surrounds it, as plain data.

use std::time::Duration;

use serde_json::Value;

use crate::readiness::{Readiness, ReadinessError};

/// Everything that the checks look at. `Err` is for what could not be asked.
#[derive(Clone, Debug)]
pub struct DoctorFacts {
    /// What was looked for.
    pub names: Names,
    /// The release of the program that asks.
    pub version: String,
    /// The `ValidatingWebhookConfiguration`, if there is one.
    pub configuration: Result<Option<Configuration>, MissingAnswer>,
    /// The Service, if there is one.
    pub service: Result<Option<Service>, MissingAnswer>,
    /// What is behind the Service, by its `EndpointSlices`.
    pub endpoints: Result<Vec<Endpoint>, MissingAnswer>,
    /// The Deployment, if there is one.
    pub deployment: Result<Option<Deployment>, MissingAnswer>,
    /// The ready ones of the endpoints, each asked how it is.
    pub replicas: Vec<Replica>,
    /// What the service account of the guard may do of what it needs.
    pub permissions: Result<Vec<Permission>, MissingAnswer>,
    /// The `UpgradePolicy` and `UpgradeGuardrails` objects.
    pub policies: Result<Vec<PolicyState>, MissingAnswer>,
    /// What the API server answered to the probe.
    pub round_trip: RoundTrip,
}

impl DoctorFacts {
    /// The guard's webhook, where one is known.
    pub fn webhook(&self) -> Option<&Webhook> {
        let configuration = self.configuration.as_ref().ok()?.as_ref()?;
        configuration.webhook.as_ref()
    }
}

/// An object with what administrators decide.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PolicyState {
    /// Its kind.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// Why it is not accepted, if it is not.
    pub fault: Option<String>,
}

/// The names of what was looked for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Names {
    /// The namespace of the guard.
    pub namespace: String,
    /// The name of its Service.
    pub service: String,
    /// The name of its Deployment.
    pub deployment: String,
    /// The name of the `ValidatingWebhookConfiguration`.
    pub configuration: String,
}

/// Something that the API server did not tell.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MissingAnswer {
    /// What would have been needed.
    pub need: Need,
    /// Whether it said that whoever asks may not.
    pub is_forbidden: bool,
    /// What became of it, in one line.
    pub why: String,
}

/// A right: a verb on a resource.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Need {
    /// Such as `get`.
    pub verb: &'static str,
    /// As kubectl takes it, such as `services` or `clusterextensions.olm.operatorframework.io`.
    pub resource: String,
    /// One object of it, if only that is needed.
    pub name: Option<String>,
    /// Where; nowhere for what is not namespaced.
    pub namespace: Option<String>,
}

/// A `ValidatingWebhookConfiguration`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Configuration {
    /// The webhook in it that is the guard's, if there is one.
    pub webhook: Option<Webhook>,
    /// The names of all webhooks in it.
    pub webhooks: Vec<String>,
}

/// The guard's webhook as API servers have it, defaults filled in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Webhook {
    /// Its name.
    pub name: String,
    /// What is not as this version ships it, but for what has a fact of its own.
    pub differences: Vec<Difference>,
    /// What becomes of an edit when it cannot be asked.
    pub failure_policy: FailurePolicy,
    /// How long it is waited for, in seconds.
    pub timeout: i32,
    /// The same as it is shipped.
    pub shipped_timeout: i32,
    /// The authorities that are trusted.
    pub bundle: Bundle,
    /// The name that the certificate has to be for.
    pub server_name: Option<String>,
    /// The port of the Service that is asked.
    pub port: Option<i32>,
}

impl Webhook {
    /// What differs of that by which API servers choose the edits that they send.
    pub(super) fn choosing(&self) -> impl Iterator<Item = &Difference> {
        let differences = self.differences.iter();
        differences.filter(|one| CHOOSING.contains(&one.field))
    }

    /// The match condition that keeps every edit away, if there is one.
    pub(super) fn switched_off_by(&self) -> Option<String> {
        let mut differences = self.differences.iter();
        let conditions = differences.find(|one| one.field == "matchConditions")?;
        let conditions: Vec<Value> = serde_json::from_str(&conditions.found).ok()?;
        let is_off = |one: &&Value| one["expression"].as_str().map(str::trim) == Some("false");
        let off = conditions.iter().find(is_off)?;
        off["name"].as_str().map(str::to_owned)
    }
}

/// The fields by which API servers choose the edits that they send.
const CHOOSING: [&str; 5] = [
    "rules",
    "matchConditions",
    "matchPolicy",
    "namespaceSelector",
    "objectSelector",
];

/// What becomes of an edit when the webhook cannot be asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FailurePolicy {
    /// It is refused.
    Fail,
    /// It goes through, and nobody is told.
    Ignore,
}

/// The authorities that API servers trust the webhook by.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Bundle {
    /// None are named: those of the API server's system count.
    Absent,
    /// There is a text, and no certificate in it.
    Unreadable,
    /// So many.
    Certificates(usize),
}

/// A field that is not as it is shipped.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Difference {
    /// The field, from the webhook on.
    pub field: &'static str,
    /// Its value, as JSON.
    pub found: String,
    /// The one that is shipped, as JSON.
    pub shipped: String,
}

/// A Service.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Service {
    /// Its `spec.type`.
    pub kind: String,
    /// Its ports.
    pub ports: Vec<Port>,
}

/// A port of a Service.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Port {
    /// What is asked.
    pub number: i32,
    /// Where that leads: a number or a name.
    pub target: String,
}

/// One address behind a Service.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Endpoint {
    /// The address.
    pub address: String,
    /// The pod that it is of, if it is one.
    pub pod: Option<String>,
    /// Whether requests are sent there.
    pub is_ready: bool,
}

/// A Deployment, by its status.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Deployment {
    /// How many replicas there should be.
    pub wanted: i32,
    /// How many there are that are ready.
    pub ready: i32,
    /// How many there are of its newest template.
    pub updated: i32,
}

/// An endpoint that was asked how it is.
#[derive(Clone, Debug)]
pub struct Replica {
    /// Its pod, else its address.
    pub name: String,
    /// What it said.
    pub told: Result<ReplicaStatus, MissingAnswer>,
}

/// What a replica says of itself.
#[derive(Clone, Debug)]
pub struct ReplicaStatus {
    /// Its release, if it says it.
    pub version: Option<String>,
    /// Whether it asks to be sent edits, by the status of its answer to `/readyz`.
    pub is_ready: bool,
    /// What it answers there; or why that cannot be read.
    pub readiness: Result<Readiness, ReadinessError>,
    /// What it shows to API servers; or why that cannot be told.
    pub certificate: Result<Certificate, String>,
}

/// A certificate that is shown to API servers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Certificate {
    /// The names that it is for.
    pub names: Vec<String>,
    /// Whether the name that API servers use is one of them; unknown where that is not known.
    pub is_for_service: Option<bool>,
    /// Its last moment.
    pub until: String,
    /// From its first moment to its last.
    pub life: Duration,
    /// What is left of that; nothing where it is over.
    pub left: Duration,
    /// How long until it begins, where it has not.
    pub begins_in: Option<Duration>,
    /// Whether API servers trust who vouches for it.
    pub trust: Trust,
}

/// Whether API servers trust who vouches for a certificate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Trust {
    /// They do.
    Trusted,
    /// They do not, for this reason.
    Distrusted(String),
    /// What they trust is not known.
    Unknown,
}

/// A right that the guard needs, and whether it has it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Permission {
    /// The service account, as `system:serviceaccount:NAMESPACE:NAME`.
    pub account: String,
    /// The right.
    pub need: Need,
    /// Whether it has it.
    pub is_allowed: bool,
}

/// What became of the probe.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RoundTrip {
    /// There was an answer.
    Answered(ApiAnswer),
    /// There was none.
    Unasked(MissingAnswer),
}

/// An answer of the API server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ApiAnswer {
    /// Its HTTP status.
    pub code: u16,
    /// `reason` of a `Status`; empty where the object came back.
    pub reason: String,
    /// `message` of a `Status`; empty where the object came back.
    pub message: String,
    /// The warnings beside it.
    pub warnings: Vec<String>,
    /// How long it took.
    pub took: Duration,
}
