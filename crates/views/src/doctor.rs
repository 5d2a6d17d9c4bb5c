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
mod finding;
mod permissions;
mod policies;
pub mod probe;
mod replicas;
mod round_trip;
mod serving;

pub use facts::{
    ApiAnswer, Bundle, Certificate, Configuration, Deployment, Difference, DoctorFacts, Endpoint,
    FailurePolicy, MissingAnswer, Names, Need, Permission, PolicyState, Port, Replica,
    ReplicaStatus, RoundTrip, Service, Trust, Webhook,
};
pub use finding::{Check, Finding, State};

/// What there is to say about each check, in their order.
pub fn examine(facts: &DoctorFacts) -> Vec<Finding> {
    let mut findings = configuration::findings(facts);
    findings.extend(serving::findings(facts));
    findings.extend(replicas::findings(facts));
    findings.extend(certificates::findings(facts));
    findings.extend(permissions::findings(facts));
    findings.extend(policies::findings(facts));
    findings.push(round_trip::finding(facts));
    findings
}

#[cfg(test)]
mod tests;
