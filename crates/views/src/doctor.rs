//! Diagnoses olmguard in a cluster: takes facts, returns findings.
//!
//! ```text
//! cluster::doctor --Facts--> examine --Finding--> cli::doctor (text, JSON, exit code)
//! ```
//!
//! A finding belongs to one check. It describes what was found and, if there is a problem, why it
//! matters and what to run next. Facts that the user has no right to read are *unknown*, never a
//! fault of olmguard. Changes that an administrator may have made on purpose are reported, but are
//! not a fault either.
//!
//! Upstream: the texts of a failed call are those of kube-apiserver,
//! `apiserver/pkg/admission/plugin/webhook` and `apiserver/pkg/util/proxy`.
//!
//! Invariant: the findings only depend on the facts. The same facts give the same findings, in the
//! same order.

mod certificates;
mod configuration;
mod facts;
pub mod probe;
mod replicas;
mod round_trip;

use std::time::Duration;

use olmguard_catalog::word_set;

pub use facts::{
    ApiAnswer, Bundle, Certificate, Configuration, Deployment, Difference, DoctorFacts, Endpoint,
    FailurePolicy, MissingAnswer, Names, Need, Permission, PolicyState, Port, Replica,
    ReplicaStatus, Service, Trust, Webhook,
};

/// Returns the findings of each check, in the order of the checks.
pub fn examine(facts: &DoctorFacts) -> Vec<Finding> {
    let mut findings = configuration::of_configuration(facts);
    findings.extend(configuration::of_serving(facts));
    findings.extend(replicas::findings(facts));
    findings.extend(certificates::findings(facts));
    findings.extend(of_permissions(facts));
    findings.extend(of_policies(facts));
    findings.push(round_trip::finding(facts));
    findings
}

#[cfg(test)]
mod tests;

// === Whether olmguard accepts the policies of the cluster ===

fn of_policies(facts: &DoctorFacts) -> Vec<Finding> {
    let policies = match &facts.policies {
        Err(unasked) => return vec![Check::Policies.unasked(unasked)],
        Ok(policies) => policies,
    };
    let refused: Vec<_> = policies.iter().filter_map(refused).collect();
    match (policies.len(), refused.is_empty()) {
        (0, _) => vec![Check::Policies.ok("none in this cluster")],
        (count, true) => vec![Check::Policies.ok(format!("{count} accepted"))],
        (_, false) => refused,
    }
}

fn refused(policy: &PolicyState) -> Option<Finding> {
    let PolicyState { kind, name, fault } = policy;
    let why = fault.as_ref()?;
    let finding = Check::Policies.warn(format!("{kind} {name} is not accepted: {why}"));
    let see = format!("kubectl edit {} {name}", kind.to_lowercase());
    Some(finding.since(DENIES).run(see))
}

const DENIES: &str = "it denies the upgrades that it applies to until it is fixed or deleted";

// === Whether the service account of olmguard has the rights that it needs ===

fn of_permissions(facts: &DoctorFacts) -> Vec<Finding> {
    let permissions = match &facts.permissions {
        Err(unasked) => return vec![Check::Permissions.unasked(unasked)],
        Ok(permissions) => permissions,
    };
    let missing: Vec<_> = permissions.iter().filter(|one| !one.is_allowed).collect();
    match (missing.as_slice(), permissions.first()) {
        ([], Some(Permission { account, .. })) => {
            let count = permissions.len();
            vec![Check::Permissions.ok(format!("{account} has all {count} rights that it needs"))]
        }
        (missing, _) => {
            let of_one_object = missing.chunk_by(|one, next| is_of_same(&one.need, &next.need));
            of_one_object.filter_map(lacks).collect()
        }
    }
}

fn is_of_same(one: &Need, other: &Need) -> bool {
    (&one.resource, &one.name, &one.namespace) == (&other.resource, &other.name, &other.namespace)
}

/// Reports missing rights on one object or kind.
fn lacks(missing: &[&Permission]) -> Option<Finding> {
    let Permission { account, need, .. } = missing.first()?;
    let verbs: Vec<_> = missing.iter().map(|one| one.need.verb).collect();
    let finding = Check::Permissions
        .fail(format!(
            "{account} cannot {} {}",
            verbs.join(", "),
            need.object()
        ))
        .since("a role or a role binding of olmguard is missing, or names another service account")
        .run(can_i(need, Some(account)));
    Some(finding)
}

// === Findings ===

/// A finding of one check.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// Check that made the finding.
    pub check: Check,
    /// Result of the check.
    pub state: State,
    /// Finding in one line.
    pub found: String,
    /// Cause, or why the finding matters, in one line.
    pub cause: Option<String>,
    /// Command to run next, to fix the problem or to see more.
    pub command: Option<String>,
}

word_set! {
    /// Result of a check.
    pub enum State {
        /// No problem was found.
        Ok => "ok",
        /// The part works, but needs attention.
        Warn => "warn",
        /// The check could not be made.
        Unknown => "unknown",
        /// The part does not work.
        Fail => "fail",
    }
}

word_set! {
    /// The checks, in the order in which they are reported.
    pub enum Check {
        /// The configuration exists and contains olmguard's webhook.
        Configuration => "configuration",
        /// The webhook is as this version ships it.
        Shipped => "shipped",
        /// The failure policy: what happens to an edit if olmguard cannot be called.
        FailurePolicy => "failure-policy",
        /// The time that an API server waits.
        Timeout => "timeout",
        /// The Service exists and has the port that API servers call.
        Service => "service",
        /// The Service has ready endpoints.
        Endpoints => "endpoints",
        /// The Deployment has as many replicas as it should have.
        Deployment => "deployment",
        /// The state of each replica.
        Replica => "replica",
        /// All replicas are of this release.
        Version => "version",
        /// The catalogs are loaded.
        Catalogs => "catalogs",
        /// The OLM whose rules olmguard applies.
        Olm => "olm",
        /// The `caBundle` trusts the certificate that is served.
        CaBundle => "ca-bundle",
        /// The certificate is for the name that API servers use.
        ServerName => "server-name",
        /// The remaining validity of the certificate.
        Expiry => "expiry",
        /// The service account has the rights that olmguard needs.
        Permissions => "permissions",
        /// olmguard accepts the policies of the cluster.
        Policies => "policies",
        /// The API server denies an edit that olmguard must deny.
        RoundTrip => "round-trip",
    }
}

impl Check {
    fn ok(self, found: impl Into<String>) -> Finding {
        self.finding(State::Ok, found)
    }

    fn warn(self, found: impl Into<String>) -> Finding {
        self.finding(State::Warn, found)
    }

    fn fail(self, found: impl Into<String>) -> Finding {
        self.finding(State::Fail, found)
    }

    fn unknown(self, found: impl Into<String>) -> Finding {
        self.finding(State::Unknown, found)
    }

    /// Reports that the facts of the check are not available.
    fn unasked(self, unasked: &MissingAnswer) -> Finding {
        let MissingAnswer {
            need,
            is_forbidden,
            why,
        } = unasked;
        let finding = self.unknown(format!("could not be checked: {why}"));
        if !is_forbidden {
            return finding;
        }
        finding
            .since(format!(
                "you do not have the right to {} {}",
                need.verb,
                need.object()
            ))
            .run(can_i(need, None))
    }

    fn finding(self, state: State, found: impl Into<String>) -> Finding {
        Finding {
            check: self,
            state,
            found: found.into(),
            cause: None,
            command: None,
        }
    }
}

impl Finding {
    /// Sets the cause.
    fn since(mut self, cause: impl Into<String>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Sets the command to run next.
    fn run(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }
}

impl Need {
    /// Formats the object of the right, and its namespace.
    fn object(&self) -> String {
        let name = self.name.as_deref().map(|name| format!("/{name}"));
        let namespace = self.namespace.as_deref().map(|name| format!(" in {name}"));
        let (name, namespace) = (name.unwrap_or_default(), namespace.unwrap_or_default());
        format!("{}{name}{namespace}", self.resource)
    }
}

/// Returns the command that checks a right of an account, or of the user if `account` is `None`.
fn can_i(need: &Need, account: Option<&str>) -> String {
    let name = need.name.as_deref().map(|name| format!("/{name}"));
    // For kubectl, a subresource is not part of the resource.
    let (resource, subresource) = match need.resource.split_once('/') {
        Some((resource, sub)) => (resource, format!(" --subresource={sub}")),
        None => (need.resource.as_str(), String::new()),
    };
    let namespace = need.namespace.as_deref().map(|name| format!(" -n {name}"));
    let account = account.map(|account| format!(" --as={account}"));
    format!(
        "kubectl auth can-i {} {resource}{}{subresource}{}{}",
        need.verb,
        name.unwrap_or_default(),
        namespace.unwrap_or_default(),
        account.unwrap_or_default(),
    )
}

/// Formats a duration in the largest unit of which there are at least two.
fn about(time: Duration) -> String {
    let seconds = time.as_secs();
    let units = [(24 * 60 * 60, "d"), (60 * 60, "h"), (60, "min")];
    let unit = units.into_iter().find(|(length, _)| seconds >= 2 * length);
    let (length, unit) = unit.unwrap_or((1, "s"));
    format!("{} {unit}", seconds / length)
}
