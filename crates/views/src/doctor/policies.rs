//! Whether olmguard accepts the policies of the cluster.

use crate::doctor::facts::{DoctorFacts, PolicyState};
use crate::doctor::finding::{Check, Finding};

pub(super) fn findings(facts: &DoctorFacts) -> Vec<Finding> {
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
