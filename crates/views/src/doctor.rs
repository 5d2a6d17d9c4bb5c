//! Whether the guard of a cluster is well: facts about it in, findings out.
//!
//! ```text
//! cluster::doctor --Facts--> examine --Finding--> cli::doctor (text, JSON, exit code)
//! ```
//!
//! A finding is about one check, says what was found and, where that is not as it should be, why it
//! matters and what to run next. What whoever asks may not see is *unknown*, never a fault of the
//! guard. What somebody may have changed on purpose is told, and is no fault either.
//!
//! Upstream: the texts of a failed call are those of kube-apiserver,
//! `apiserver/pkg/admission/plugin/webhook` and `apiserver/pkg/util/proxy`.
//!
//! Invariant: it reads nothing but its facts; the same facts give the same findings, in one order.

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
    ReplicaStatus, RoundTrip, Service, Trust, Webhook,
};

/// What there is to say about each check, in their order.
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

// === Whether the service account of the guard may do what it needs ===

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

/// Rights on one object or kind that are lacking.
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

// === What is said about a check ===

/// What was found by one check.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// Which check.
    pub check: Check,
    /// How it came out.
    pub state: State,
    /// What was found, in one line.
    pub found: String,
    /// Why that is so, or why it matters, in one line.
    pub cause: Option<String>,
    /// What to run next, to mend it or to see more.
    pub command: Option<String>,
}

word_set! {
    /// How a check came out.
    pub enum State {
        /// As it should be.
        Ok => "ok",
        /// It works, and somebody should look at it.
        Warn => "warn",
        /// It could not be checked.
        Unknown => "unknown",
        /// It does not work.
        Fail => "fail",
    }
}

word_set! {
    /// The checks, in the order in which they are reported.
    pub enum Check {
        /// Is the configuration there, with the guard's webhook in it.
        Configuration => "configuration",
        /// Is that webhook as this version ships it.
        Shipped => "shipped",
        /// What becomes of an edit when the guard cannot be asked.
        FailurePolicy => "failure-policy",
        /// How long an API server waits.
        Timeout => "timeout",
        /// Is the Service there, with the port that is asked.
        Service => "service",
        /// Is anything ready behind it.
        Endpoints => "endpoints",
        /// Are there as many replicas as there should be.
        Deployment => "deployment",
        /// How is each replica.
        Replica => "replica",
        /// Are all replicas of this release.
        Version => "version",
        /// Are the catalogs loaded.
        Catalogs => "catalogs",
        /// Which OLM it judges for.
        Olm => "olm",
        /// Does the `caBundle` vouch for what is shown.
        CaBundle => "ca-bundle",
        /// Is what is shown for the name that API servers use.
        ServerName => "server-name",
        /// For how long is it valid.
        Expiry => "expiry",
        /// May the guard do what it needs.
        Permissions => "permissions",
        /// Does olmguard accept the policies of the cluster.
        Policies => "policies",
        /// Is an edit that must be denied denied, through the API server.
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

    /// It could not be asked.
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
    /// Adds the cause.
    fn since(mut self, cause: impl Into<String>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Adds what to run.
    fn run(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }
}

impl Need {
    /// What the right is on, and where.
    fn object(&self) -> String {
        let name = self.name.as_deref().map(|name| format!("/{name}"));
        let namespace = self.namespace.as_deref().map(|name| format!(" in {name}"));
        let (name, namespace) = (name.unwrap_or_default(), namespace.unwrap_or_default());
        format!("{}{name}{namespace}", self.resource)
    }
}

/// The command that tells whether somebody has a right; without a name, whoever runs it.
fn can_i(need: &Need, account: Option<&str>) -> String {
    let name = need.name.as_deref().map(|name| format!("/{name}"));
    // A subresource is no part of the resource for kubectl.
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

/// A length of time in its largest unit that has at least two.
fn about(time: Duration) -> String {
    let seconds = time.as_secs();
    let units = [(24 * 60 * 60, "d"), (60 * 60, "h"), (60, "min")];
    let unit = units.into_iter().find(|(length, _)| seconds >= 2 * length);
    let (length, unit) = unit.unwrap_or((1, "s"));
    format!("{} {unit}", seconds / length)
}
