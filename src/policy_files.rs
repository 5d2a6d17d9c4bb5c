//! The policies and guardrails of administrators, read from manifests.
//!
//! What cannot be read denies every move of what it matches, here as in a cluster: a rule that someone wrote is never
//! an open door.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;

use crate::manifest::{
    Document, Input, Inputs, ManifestObject, Position, Positions, ValueStep, documents,
};
use crate::policy_objects::{ObjectFault, PolicyObject, PolicyObjects, is_policy_object};
use olmguard_policy::UpgradePolicy;

/// The objects, and what is wrong with them.
#[derive(Debug, Default)]
pub(crate) struct ReadPolicies {
    pub(crate) objects: PolicyObjects,
    pub(crate) faults: Vec<PolicyFileFault>,
    /// Where each of them stands.
    places: HashMap<String, String>,
}

/// Why something of an object cannot be read, and where it is.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{place}: {why}")]
pub(crate) struct PolicyFileFault {
    place: String,
    why: String,
}

impl ReadPolicies {
    /// The objects of these files and directories. Other objects are skipped.
    pub(crate) fn load(paths: &[PathBuf]) -> Self {
        let mut read = Self::default();
        for Input { path, bytes } in Inputs::new(paths.to_vec(), io::empty()) {
            match bytes {
                Ok(bytes) => read.file(&path, &bytes),
                Err(error) => read.unread(&path, &error.to_string()),
            }
        }
        if !paths.is_empty() && read.objects.is_empty() {
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
        for object in objects.iter().filter(|object| is_policy(object)) {
            self.object(file, object, &positions);
        }
    }

    fn object(&mut self, file: &str, object: &ManifestObject, positions: &Positions) {
        let read = PolicyObject::read(&object.value);
        for fault in read.faults() {
            let place = format!("{file}:{}", at(object, positions, &fault));
            self.fault(&place, why(&read, &fault));
        }
        let place = format!("{file}:{}", object.position(positions, &[]));
        if let Some(first) = self.places.insert(read.title(), place.clone()) {
            self.fault(&place, format!("{}: {}{first}", read.title(), TWICE));
        }
        self.objects.add(read);
    }

    fn unread(&mut self, place: &str, why: &str) {
        let policy = UpgradePolicy::unread(place, why);
        self.objects.add(PolicyObject::Policy(policy));
        self.fault(place, why.to_owned());
    }

    fn fault(&mut self, place: &str, why: String) {
        let place = place.to_owned();
        self.faults.push(PolicyFileFault { place, why });
    }
}

/// Whether an object is a policy or guardrails of an administrator, of whatever version.
pub(crate) fn is_policy(object: &ManifestObject) -> bool {
    is_policy_object(&object.api_version, &object.kind)
}

/// A fault of an object in one sentence.
pub(crate) fn why(object: &PolicyObject, fault: &ObjectFault) -> String {
    format!("{}: {}", object.title(), fault.why)
}

/// Where a field such as `spec.rules.windows[0].timeZone` is, or the nearest one above it.
pub(crate) fn at(object: &ManifestObject, positions: &Positions, fault: &ObjectFault) -> Position {
    object.position(positions, &ValueStep::of_path(&fault.path))
}

const NO_POLICY: &str = "found no UpgradePolicy or UpgradeGuardrails of olmguard.dev: expected at least one in the files";
const TWICE: &str =
    "is there twice, this one is applied: expected one object of this name, the other is at ";
