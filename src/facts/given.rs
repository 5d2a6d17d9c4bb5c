//! Objects in manifests that are facts instead of edits to check: catalogs, and the policies of administrators.
//!
//! All commands that read manifests collect them here, so the objects count for all commands alike.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

use serde_json::Value;

use crate::manifest::{
    ManifestObject, MeantKind, Position, Positions, ValueStep, name, placeholder, placeholder_in,
};
use crate::policy_files::{self, is_policy};
use crate::policy_objects::{PolicyObject, PolicyObjects, is_policy_object};
use olmguard_engine::explain::Unrendered;
use olmguard_engine::extension::schema::{self, Finding};
use olmguard_engine::extension::{RecognisedObject, recognise};
use olmguard_engine::snapshot::{CatalogState, ClusterCatalogError};
use olmguard_policy::UpgradePolicy;

/// The catalogs and policies in manifests, in addition to those of a snapshot or a cluster.
#[derive(Debug, Default)]
pub(crate) struct GivenObjects {
    pub(crate) catalogs: Vec<CatalogState>,
    pub(crate) policies: PolicyObjects,
}

/// The reason why an object that is a fact cannot be used as it is.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GivenFault {
    #[error(transparent)]
    Catalog(ClusterCatalogError),
    /// The kind of the object is not known.
    #[error("{0}")]
    Kind(MeantKind),
    /// The CRD refuses the catalog with this name, with this finding.
    #[error("ClusterCatalog {0:?}: {path}: {message}", path = .1.path, message = .1.message)]
    Schema(String, Finding),
    /// A policy or guardrails object has this fault.
    #[error("{0}")]
    Policy(String),
}

/// The first object of each kind and name. Equal objects in several directories count as one. If two differ, they
/// belong to different clusters, or one is a mistake.
#[derive(Debug, Default)]
pub(crate) struct UniqueObjects(HashMap<(String, String), FirstObject>);

/// The error for two different objects with one kind and name.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{kind} {name:?} is defined twice, at {first} and at {second}{instead}")]
pub(crate) struct ObjectTwice {
    kind: String,
    name: String,
    first: String,
    second: String,
    instead: &'static str,
}

#[derive(Debug)]
struct FirstObject {
    value: Value,
    file: String,
    at: Position,
}

impl GivenObjects {
    /// Whether an object is such a fact, or was probably meant to be of a kind that olmguard reads.
    pub(crate) fn has_kind_of(object: &ManifestObject) -> bool {
        is_catalog(object) || is_policy(object) || meant(object).is_some()
    }

    /// Adds an object of a file, as far as it can be read. Returns its faults with their places.
    pub(crate) fn add(
        &mut self,
        file: &str,
        object: &ManifestObject,
        positions: &Positions,
    ) -> Vec<(Position, GivenFault)> {
        if is_policy(object) {
            return self.policy(file, object, positions);
        }
        let fault = match meant(object) {
            Some(meant) => {
                let at = object.position(positions, &[ValueStep::Key(meant.field())]);
                Some((at, GivenFault::Kind(meant)))
            }
            None => self
                .catalog(object)
                .map(|fault| (object.position(positions, &[]), fault)),
        };
        fault.into_iter().collect()
    }

    fn catalog(&mut self, object: &ManifestObject) -> Option<GivenFault> {
        match CatalogState::read(&object.value) {
            Ok(state) => {
                self.catalogs.push(state);
                None
            }
            Err(bad) => {
                self.catalogs.extend(bad.state.map(|state| *state));
                Some(GivenFault::Catalog(bad.error))
            }
        }
    }

    /// Adds a policy or guardrails object, which is applied as far as it can be read.
    fn policy(
        &mut self,
        file: &str,
        object: &ManifestObject,
        positions: &Positions,
    ) -> Vec<(Position, GivenFault)> {
        let policy = PolicyObject::read(&object.value);
        let faults = policy.faults().into_iter().map(|fault| {
            let at = policy_files::at(object, positions, &fault.path);
            let why = policy_files::why(&policy, &fault);
            (at, GivenFault::Policy(why))
        });
        let faults = faults.collect();
        let conditions = policy_files::at(object, positions, UpgradePolicy::CONDITIONS);
        let conditions = policy_files::place_at(file, conditions);
        self.policies.add(policy, Some(conditions));
        faults
    }
}

/// Whether the object is a catalog in v1. Older versions have other CRDs.
pub(crate) fn is_catalog_of_v1(object: &ManifestObject) -> bool {
    object.kind == "ClusterCatalog" && object.api_version == "olm.operatorframework.io/v1"
}

fn is_catalog(object: &ManifestObject) -> bool {
    CatalogState::is_described_by(&object.api_version, &object.kind)
}

/// The kind that an object of an unknown kind was probably meant to have.
fn meant(object: &ManifestObject) -> Option<MeantKind> {
    let is_known = is_catalog(object)
        || is_policy(object)
        || recognise(&object.value) != RecognisedObject::Other;
    MeantKind::of(object).filter(|_| !is_known)
}

/// Returns the faults that the CRD finds in a catalog. Placeholders for values that a tool fills in later are not
/// faults.
pub(crate) fn refused(
    object: &ManifestObject,
    positions: &Positions,
) -> Vec<(Position, GivenFault)> {
    if placeholder_in(&object.value, &[&["spec"]], &[]).is_some() {
        return Vec::new();
    }
    let findings = schema::check_catalog(&object.value).into_iter();
    let name = || object.name.clone().unwrap_or_default();
    let fault = |finding: Finding| {
        let at = object.position(positions, &ValueStep::of_path(&finding.path));
        (at, GivenFault::Schema(name(), finding))
    };
    findings.map(fault).collect()
}

impl UniqueObjects {
    /// Adds an object at this place. Returns whether it is new, and not a copy of a known object.
    ///
    /// # Errors
    /// If a different object with this kind and name is known.
    pub(crate) fn is_new(
        &mut self,
        object: &ManifestObject,
        file: &str,
        at: Position,
    ) -> Result<bool, ObjectTwice> {
        let Some(name) = object.name.clone() else {
            return Ok(true);
        };
        match self.0.entry((object.kind.clone(), name)) {
            Entry::Vacant(vacant) => {
                vacant.insert(FirstObject {
                    value: object.value.clone(),
                    file: file.to_owned(),
                    at,
                });
                Ok(true)
            }
            Entry::Occupied(known) if known.get().is_copied(object, file) => Ok(false),
            Entry::Occupied(known) => Err(known.get().twice(object, file, at)),
        }
    }
}

impl FirstObject {
    /// Whether the object is the same and comes from another file.
    fn is_copied(&self, object: &ManifestObject, file: &str) -> bool {
        self.file != file && self.value == object.value
    }

    fn twice(&self, object: &ManifestObject, file: &str, at: Position) -> ObjectTwice {
        let is_beside = Path::new(&self.file).parent() == Path::new(file).parent();
        ObjectTwice {
            kind: object.kind.clone(),
            name: object.name.clone().unwrap_or_default(),
            first: format!("{}:{}", self.file, self.at),
            second: format!("{file}:{at}"),
            instead: if self.file == file && self.at == at {
                ": expected each file once"
            } else if self.file == file {
                ": expected it once in a file"
            } else if is_beside {
                ", with different content: give one of them another name, or check one file at a time"
            } else {
                ", with different content: check one directory for each cluster"
            },
        }
    }
}

/// The reason why an object is not a complete manifest yet, with the path in it. A placeholder in a field that affects
/// no answer is allowed.
pub(crate) fn unrendered(object: &ManifestObject) -> Option<(Vec<ValueStep<'_>>, Unrendered)> {
    if is_openshift_template(object) {
        return Some((Vec::new(), Unrendered::OpenShiftTemplate));
    }
    let is_catalog = CatalogState::is_described_by(&object.api_version, &object.kind);
    let is_extension = recognise(&object.value) != RecognisedObject::Other;
    let (below, except): (&[_], &[_]) = match (is_extension || may_be_extension(object), is_catalog)
    {
        (true, _) => (EXTENSION, EXTENSION_LATER),
        (false, true) => (CATALOG, CATALOG_LATER),
        (false, false) => return None,
    };
    let found = placeholder_in(&object.value, below, except)?;
    let (field, text) = (name(&found.path), found.text.to_owned());
    Some((found.path, Unrendered::Placeholder { field, text }))
}

/// Whether the kind or the version is filled in later, and the rest fits an extension.
fn may_be_extension(object: &ManifestObject) -> bool {
    let (version, kind) = (&*object.api_version, &*object.kind);
    let is_later = |text| placeholder(text).is_some();
    let fits_kind = matches!(kind, "ClusterExtension" | "ClusterCatalog");
    let fits_group = version.contains("operatorframework.io/");
    (is_later(version) && (fits_kind || is_later(kind))) || (is_later(kind) && fits_group)
}

/// Whether the object is an OpenShift Template that contains an extension, a catalog or a policy. Other templates are
/// ignored.
fn is_openshift_template(object: &ManifestObject) -> bool {
    let is_ours = |object: &Value| {
        let text = |key| object.get(key).and_then(Value::as_str).unwrap_or_default();
        let is_catalog = CatalogState::is_described_by(text("apiVersion"), text("kind"));
        let is_policy = is_policy_object(text("apiVersion"), text("kind"));
        is_catalog || is_policy || recognise(object) != RecognisedObject::Other
    };
    let objects = object.value.get("objects").and_then(|list| list.as_array());
    let is_template = matches!(&*object.api_version, "template.openshift.io/v1" | "v1");
    let mut objects = objects.into_iter().flatten();
    object.kind == "Template" && is_template && objects.any(is_ours)
}

/// The fields of an extension that something reads.
const EXTENSION: &[&[&str]] = &[
    &["apiVersion"],
    &["kind"],
    &["metadata", "name"],
    &["metadata", "generateName"],
    &["spec"],
];

/// The fields of an extension that are passed to the bundle unchanged.
const EXTENSION_LATER: &[&[&str]] = &[&["spec", "config", "inline"]];

const CATALOG: &[&[&str]] = &[
    &["apiVersion"],
    &["metadata", "name"],
    &["metadata", "labels"],
    &["spec"],
];

/// The image of a catalog affects no answer.
const CATALOG_LATER: &[&[&str]] = &[&["spec", "source"]];
