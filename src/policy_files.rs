//! The upgrade policies of administrators, read from manifests.
//!
//! What cannot be read denies every move of what it matches, here as in a cluster: a rule that someone wrote is never
//! an open door.

use std::io;
use std::path::PathBuf;

use crate::manifest::{
    Document, Input, Inputs, ManifestObject, Position, Positions, ValueStep, documents,
};
use olmguard_policy::{PolicyFault, UpgradePolicy};

/// The policies, and what is wrong with them.
#[derive(Debug, Default)]
pub(crate) struct ReadPolicies {
    pub(crate) policies: Vec<UpgradePolicy>,
    pub(crate) faults: Vec<PolicyFileFault>,
}

/// Why something of a policy cannot be read, and where it is.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{place}: {why}")]
pub(crate) struct PolicyFileFault {
    place: String,
    why: String,
}

impl ReadPolicies {
    /// The policies of these files and directories. Other objects are skipped.
    pub(crate) fn load(paths: &[PathBuf]) -> Self {
        let mut read = Self::default();
        for Input { path, bytes } in Inputs::new(paths.to_vec(), io::empty()) {
            match bytes {
                Ok(bytes) => read.file(&path, &bytes),
                Err(error) => read.unread(&path, &error.to_string()),
            }
        }
        if !paths.is_empty() && read.policies.is_empty() {
            read.unread("--policy", NO_POLICY);
        }
        read
    }

    fn file(&mut self, file: &str, bytes: &[u8]) {
        for document in documents(bytes) {
            match document {
                Ok(document) => self.document(file, document),
                Err(error) => {
                    let place = format!("{file}:{}", error.at);
                    self.unread(&place, &error.kind.to_string());
                }
            }
        }
    }

    fn document(&mut self, file: &str, document: Document) {
        let (objects, positions) = document.into_objects();
        let policies = objects.iter().filter(|object| is_policy(object));
        for object in policies {
            let policy = UpgradePolicy::read(&object.value);
            let faults = policy.faults().iter();
            self.faults.extend(faults.map(|fault| PolicyFileFault {
                place: format!("{file}:{}", at(object, &positions, fault)),
                why: why(&policy, fault),
            }));
            self.policies.push(policy);
        }
    }

    fn unread(&mut self, place: &str, why: &str) {
        self.policies.push(UpgradePolicy::unread(place, why));
        self.faults.push(PolicyFileFault {
            place: place.to_owned(),
            why: why.to_owned(),
        });
    }
}

/// Whether an object is an upgrade policy, of whatever version.
pub(crate) fn is_policy(object: &ManifestObject) -> bool {
    let group = object.api_version.split_once('/').map(|(group, _)| group);
    group == Some(olmguard_policy::GROUP) && object.kind == olmguard_policy::KIND
}

/// A fault of a policy in one sentence.
pub(crate) fn why(policy: &UpgradePolicy, fault: &PolicyFault) -> String {
    format!("UpgradePolicy {}: {fault}", policy.name())
}

/// Where a field such as `spec.rules.windows[0].timeZone` is, or the nearest one above it.
pub(crate) fn at(object: &ManifestObject, positions: &Positions, fault: &PolicyFault) -> Position {
    object.position(positions, &ValueStep::of_path(&fault.path))
}

const NO_POLICY: &str =
    "found no UpgradePolicy of olmguard.dev: expected at least one in the files";
