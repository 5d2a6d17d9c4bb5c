//! The policies and guardrails of administrators, read from manifests.
//!
//! What cannot be read denies every move of what it matches, here as in a cluster: a rule that someone wrote is never
//! an open door.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use crate::manifest::{
    Document, Input, Inputs, ManifestObject, MeantKind, Position, Positions, ValueStep, documents,
};
use crate::policy_objects::{
    CostlyPolicy, PolicyObject, PolicyObjectFault, PolicyObjects, PolicyPlace, is_policy_object,
};
use olmguard_catalog::guardrail;
use olmguard_policy::UpgradePolicy;
use serde_json::Value;

/// The objects, and what is wrong with them.
#[derive(Debug, Default)]
pub(crate) struct ReadPolicies {
    pub(crate) objects: PolicyObjects,
    pub(crate) faults: Vec<PolicyFileFault>,
    pub(crate) packages: Vec<NamedPackage>,
    /// Where each of them stands.
    places: HashMap<String, PolicyPlace>,
}

/// Why something of an object cannot be read, and where it is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct PolicyFileFault {
    pub(crate) place: PolicyPlace,
    /// Kind and name of the object, if it is known which one.
    pub(crate) title: Option<String>,
    pub(crate) why: String,
}

/// A package that an object names without a wildcard.
#[derive(Clone, Debug)]
pub(crate) struct NamedPackage {
    pub(crate) place: PolicyPlace,
    pub(crate) title: String,
    pub(crate) package: String,
}

impl ReadPolicies {
    /// Why a command cannot use the files: one cannot be read, has a kind with a typo, or they have no policy.
    pub(crate) fn unusable(&self) -> Option<&PolicyFileFault> {
        self.faults.iter().find(|fault| fault.title.is_none())
    }

    /// The objects of these files and directories. Other objects are skipped.
    pub(crate) fn load(paths: &[PathBuf]) -> Self {
        let mut read = Self::default();
        for Input { path, bytes } in Inputs::of_files(paths.to_vec()) {
            match bytes {
                Ok(bytes) => read.file(&path, &bytes),
                Err(error) => read.unread(PolicyPlace::new(&path, None), &error.to_string()),
            }
        }
        if !paths.is_empty() && read.objects.is_empty() {
            read.unread(PolicyPlace::new("--policy", None), NO_POLICY);
        }
        read
    }

    /// Bounds these policies together where there are no others; those that do not fit get a fault.
    pub(crate) fn bound_together(&mut self) {
        let costly = self.objects.bound_together().into_iter();
        let faults = costly.filter_map(|one| PolicyFileFault::of(one).ok());
        self.faults.extend(faults);
    }

    fn file(&mut self, file: &str, bytes: &[u8]) {
        for document in documents(bytes) {
            match document {
                Ok(document) => self.document(file, document),
                Err(error) => {
                    let place = place_at(file, error.at);
                    self.unread(place, &error.kind.to_string());
                }
            }
        }
    }

    fn document(&mut self, file: &str, document: Document) {
        let schema = document.value.get("schema").and_then(Value::as_str);
        if schema == Some(guardrail::SCHEMA) {
            let at = document.positions.nearest(&[]);
            return self.unread(place_at(file, at), GUARDRAILS);
        }
        let (objects, positions) = document.into_objects();
        for object in &objects {
            if is_policy(object) {
                self.object(file, object, &positions);
            } else if let Some(meant) = MeantKind::of(object).filter(MeantKind::is_policy) {
                let place = place_at(file, at(object, &positions, meant.field()));
                self.unread(place, &meant.to_string());
            }
        }
    }

    fn object(&mut self, file: &str, object: &ManifestObject, positions: &Positions) {
        let read = PolicyObject::read(&object.value);
        let place = |path: &str| place_at(file, at(object, positions, path));
        for fault in read.faults() {
            self.fault(place(&fault.path), Some(read.title()), fault.why);
        }
        if let Some(first) = self.places.insert(read.title(), place("")) {
            self.fault(place(""), Some(read.title()), format!("{TWICE}{first}"));
        }
        let named = read.packages().into_iter();
        self.packages
            .extend(named.map(|(path, package)| NamedPackage {
                place: place(&path),
                title: read.title(),
                package,
            }));
        let conditions = place(UpgradePolicy::CONDITIONS);
        self.objects.add(read, Some(conditions));
    }

    fn unread(&mut self, place: PolicyPlace, why: &str) {
        let policy = UpgradePolicy::unread(&place.to_string(), why);
        let policy = PolicyObject::Policy(policy.into());
        self.objects.add(policy, Some(place.clone()));
        self.fault(place, None, why.to_owned());
    }

    fn fault(&mut self, place: PolicyPlace, title: Option<String>, why: String) {
        self.faults.push(PolicyFileFault { place, title, why });
    }
}

impl PolicyFileFault {
    /// The fault of a policy that does not fit next to the others.
    ///
    /// # Errors
    /// If it is not from a file: the same in one sentence.
    pub(crate) fn of(costly: CostlyPolicy) -> Result<Self, String> {
        let CostlyPolicy { place, title, why } = costly;
        match place {
            Some(place) => Ok(Self {
                place,
                title: Some(title),
                why,
            }),
            None => Err(sentence(&title, &why)),
        }
    }
}

impl Error for PolicyFileFault {}

impl fmt::Display for PolicyFileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, title, why } = self;
        match title {
            Some(title) => write!(f, "{place}: {}", sentence(title, why)),
            None => write!(f, "{place}: {why}"),
        }
    }
}

/// Whether an object is a policy or guardrails of an administrator, of whatever version.
pub(crate) fn is_policy(object: &ManifestObject) -> bool {
    is_policy_object(&object.api_version, &object.kind)
}

/// A fault of an object in one sentence.
pub(crate) fn why(object: &PolicyObject, fault: &PolicyObjectFault) -> String {
    sentence(&object.title(), &fault.why)
}

fn sentence(title: &str, why: &str) -> String {
    format!("{title}: {why}")
}

/// A place in a file.
pub(crate) fn place_at(file: &str, Position { line, column }: Position) -> PolicyPlace {
    PolicyPlace::new(file, Some((line, column)))
}

/// Where a field such as `spec.rules.windows[0].timeZone` is, or the nearest one above it.
pub(crate) fn at(object: &ManifestObject, positions: &Positions, path: &str) -> Position {
    object.position(positions, &ValueStep::of_path(path))
}

const GUARDRAILS: &str = "a file of guardrails: use --guardrails for it";
const NO_POLICY: &str = "found no UpgradePolicy or UpgradeGuardrails of olmguard.dev: expected at least one in the files";
const TWICE: &str =
    "is there twice, this one is applied: expected one object of this name, the other is at ";
