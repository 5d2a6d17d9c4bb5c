//! The objects with which administrators restrict upgrades, from any origin: `UpgradePolicy` and `UpgradeGuardrails`.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use serde_json::{Value, json};

use olmguard_catalog::guardrail::{AdministratorGuardrails, GuardrailsObject};
use olmguard_engine::judge::{Policies, UpgradePolicies};
use olmguard_policy::{GROUP, KIND, UpgradePolicy};

/// The kinds, with their plural names in requests.
pub(crate) const KINDS: [(&str, &str); 2] = [
    (KIND, "upgradepolicies"),
    (GuardrailsObject::KIND, "upgradeguardrails"),
];

/// A parsed object.
#[derive(Clone, Debug)]
pub(crate) enum PolicyObject {
    Policy(Box<UpgradePolicy>),
    Guardrails(GuardrailsObject),
}

/// A fault of an object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct PolicyObjectFault {
    /// The field, such as `spec.rules.step`; empty for the object as a whole.
    pub(crate) path: String,
    /// The field and its problem.
    pub(crate) why: String,
}

/// A place in a file.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct PolicyPlace {
    pub(crate) file: String,
    /// The line and the column, starting at 1; `None` for the whole file.
    pub(crate) at: Option<(u32, u32)>,
}

/// Objects of both kinds. Each name occurs once per kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct PolicyObjects {
    policies: BTreeMap<ObjectKey, PlacedPolicy>,
    guardrails: BTreeMap<ObjectKey, GuardrailsObject>,
}

/// A name, or an empty name with a number: objects whose names cannot be read are different objects.
type ObjectKey = (Box<str>, usize);

/// A policy, with the place of its conditions if it is from a file.
#[derive(Clone, Debug)]
struct PlacedPolicy {
    policy: UpgradePolicy,
    conditions: Option<PolicyPlace>,
}

/// The reason why a part of an object cannot be read, with its place.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct PolicyFileFault {
    pub(crate) place: PolicyPlace,
    /// The kind and the name of the object, if they are known.
    pub(crate) title: Option<String>,
    pub(crate) why: String,
}

/// Whether these are the names of such an object, of any version.
pub(crate) fn is_policy_object(api_version: &str, kind: &str) -> bool {
    let group = api_version.split_once('/').map(|(group, _)| group);
    group == Some(GROUP) && KINDS.iter().any(|(known, _)| *known == kind)
}

/// Returns the parts of a cluster's object that are read. Without the fields that an API server adds, the same object
/// gives the same bytes.
///
/// Of the status, only one fact is kept: that the cluster does not check the permission of `bypass: ByPermission`.
pub(crate) fn as_written(kind: &str, object: &Value) -> Value {
    let name = object.pointer("/metadata/name");
    let unchecked = is_permission_unchecked(object).then(|| {
        let condition = json!({"type": ACCEPTED, "status": "False", "reason": NOT_CHECKED});
        ("status", json!({ "conditions": [condition] }))
    });
    let members = [
        ("apiVersion", json!(format!("{GROUP}/v1alpha1"))),
        ("kind", json!(kind)),
        ("metadata", json!({ "name": name })),
        ("spec", json!(object.get("spec"))),
    ];
    members.into_iter().chain(unchecked).collect()
}

/// Whether the replicas report that the API server does not check the permission.
fn is_permission_unchecked(object: &Value) -> bool {
    refusal(object).is_some_and(|condition| condition["reason"] == NOT_CHECKED)
}

/// Returns the condition by which the replicas reject the current generation of an object.
pub(crate) fn refusal(object: &Value) -> Option<&Value> {
    let conditions = object.pointer("/status/conditions")?.as_array()?;
    let mut conditions = conditions.iter();
    let condition = conditions.find(|one| one["type"] == ACCEPTED && one["status"] == "False")?;
    let generation = object.pointer("/metadata/generation");
    (condition.get("observedGeneration") == generation).then_some(condition)
}

/// The type of the condition that reports whether an object is accepted.
pub(crate) const ACCEPTED: &str = "Accepted";

/// The reason why a policy with `bypass: ByPermission` is rejected if the API server does not check the permission.
pub(crate) const NOT_CHECKED: &str = "PermissionNotChecked";

impl PolicyObject {
    /// Reads an object of one of the kinds. An unreadable part restricts everything that it could concern.
    pub(crate) fn read(object: &Value) -> Self {
        if object["kind"] == GuardrailsObject::KIND {
            Self::Guardrails(GuardrailsObject::read(object))
        } else {
            Self::Policy(UpgradePolicy::read(object).into())
        }
    }

    /// Reads [an object of a cluster](as_written) as the cluster enforces it.
    pub(crate) fn of_cluster(object: &Value) -> Self {
        let mut read = Self::read(object);
        if let Self::Policy(policy) = &mut read
            && is_permission_unchecked(object)
        {
            policy.require_permission_check();
        }
        read
    }

    /// The faults of the object, in the order of the fields.
    pub(crate) fn faults(&self) -> Vec<PolicyObjectFault> {
        match self {
            Self::Policy(policy) => {
                let faults = policy.faults().iter();
                let fault = |fault: &olmguard_policy::PolicyFault| PolicyObjectFault {
                    path: fault.path.clone(),
                    why: fault.to_string(),
                };
                faults.map(fault).collect()
            }
            Self::Guardrails(object) => {
                let unread = object.stated.as_ref().err();
                let fault = unread.map(|unread| PolicyObjectFault {
                    path: unread.path.clone(),
                    why: unread.to_string(),
                });
                fault.into_iter().collect()
            }
        }
    }

    /// Bounds the policies among all objects of a cluster: [`UpgradePolicy::bound_together`].
    pub(crate) fn bound_together(objects: &mut [Self]) {
        let policies = objects.iter_mut().filter_map(|object| match object {
            Self::Policy(policy) => Some(&mut **policy),
            Self::Guardrails(_) => None,
        });
        UpgradePolicy::bound_together(policies);
    }

    /// The packages that the object names without a wildcard, each with the path of its field.
    pub(crate) fn packages(&self) -> Vec<(String, String)> {
        match self {
            Self::Policy(policy) => {
                let packages = policy.exact_packages().unwrap_or_default();
                let names = packages.iter().map(ToString::to_string).enumerate();
                let field = |number| format!("spec.match.packages[{number}]");
                names.map(|(number, name)| (field(number), name)).collect()
            }
            Self::Guardrails(object) => {
                let name = object.package.iter().map(ToString::to_string);
                name.map(|name| ("spec.package".to_owned(), name)).collect()
            }
        }
    }

    /// The kind of the object.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Policy(_) => KIND,
            Self::Guardrails(_) => GuardrailsObject::KIND,
        }
    }

    /// `metadata.name`; empty if it cannot be read.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Policy(policy) => policy.name(),
            Self::Guardrails(object) => &object.name,
        }
    }

    /// The kind and the name of the object, as users see them.
    pub(crate) fn title(&self) -> String {
        title(self.kind(), self.name())
    }
}

/// Returns the key of an object that is added to `count` others.
fn key(name: &str, count: usize) -> ObjectKey {
    (name.into(), if name.is_empty() { count } else { 0 })
}

fn title(kind: &str, name: &str) -> String {
    format!("{kind} {name}")
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

/// Returns a fault of an object as one sentence.
pub(crate) fn sentence(title: &str, why: &str) -> String {
    format!("{title}: {why}")
}

impl PolicyPlace {
    pub(crate) fn new(file: &str, at: Option<(u32, u32)>) -> Self {
        let file = file.to_owned();
        Self { file, at }
    }
}

impl fmt::Display for PolicyPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some((line, column)) => write!(f, "{}:{line}:{column}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

impl PolicyObjects {
    /// Adds an object, with the place of its conditions if it is from a file. It replaces an object of the same kind
    /// and name.
    pub(crate) fn add(&mut self, object: PolicyObject, conditions: Option<PolicyPlace>) {
        match object {
            PolicyObject::Policy(policy) => {
                let key = key(policy.name(), self.policies.len());
                let policy = *policy;
                self.policies
                    .insert(key, PlacedPolicy { policy, conditions });
            }
            PolicyObject::Guardrails(object) => {
                let key = key(&object.name, self.guardrails.len());
                self.guardrails.insert(key, object);
            }
        }
    }

    /// Adds all objects of `others`, which replace those with the same names.
    pub(crate) fn extend(&mut self, others: Self) {
        for placed in others.policies.into_values() {
            let policy = PolicyObject::Policy(placed.policy.into());
            self.add(policy, placed.conditions);
        }
        for object in others.guardrails.into_values() {
            self.add(PolicyObject::Guardrails(object), None);
        }
    }

    /// Bounds all policies together: [`UpgradePolicy::bound_together`]. Returns the faults of those that do not fit. The
    /// fault of a policy that is not from a file is one sentence.
    ///
    /// Call this after everything is added. A policy that does not fit now can fit after another is added, if that one
    /// makes an earlier policy exceed the limit.
    pub(crate) fn bound_together(&mut self) -> Vec<Result<PolicyFileFault, String>> {
        let policies = self.policies.values_mut();
        UpgradePolicy::bound_together(policies.map(|placed| &mut placed.policy));
        let costly = self.policies.values().filter_map(|placed| {
            let why = placed.policy.too_costly()?.to_string();
            let title = title(KIND, placed.policy.name());
            Some(match placed.conditions.clone() {
                None => Err(sentence(&title, &why)),
                Some(place) => Ok(PolicyFileFault {
                    place,
                    title: Some(title),
                    why,
                }),
            })
        });
        costly.collect()
    }

    /// Whether there are no objects.
    pub(crate) fn is_empty(&self) -> bool {
        self.policies.is_empty() && self.guardrails.is_empty()
    }

    /// Converts the objects to the policies that edits are judged by, together with guardrails from files.
    pub(crate) fn with_files(self, mut files: AdministratorGuardrails) -> Policies {
        for object in self.guardrails.into_values() {
            files.add_object(object);
        }
        let policies = self.policies.into_values();
        Policies {
            guardrails: files,
            upgrades: UpgradePolicies::of(policies.map(|placed| placed.policy)),
            unlisted: None,
        }
    }
}

impl FromIterator<PolicyObject> for PolicyObjects {
    fn from_iter<I: IntoIterator<Item = PolicyObject>>(objects: I) -> Self {
        let mut all = Self::default();
        let objects = objects.into_iter();
        objects.for_each(|object| all.add(object, None));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If nameless objects replaced each other, a tool that generates names would still create several objects.
    #[test]
    fn objects_without_a_name_do_not_replace_each_other() {
        let object = |kind: &str, name: Option<&str>| {
            let spec = json!({"package": "p"});
            PolicyObject::read(
                &json!({"apiVersion": "olmguard.dev/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}),
            )
        };
        for kind in [KIND, GuardrailsObject::KIND] {
            let add = |all: &mut PolicyObjects| all.add(object(kind, None), None);
            let mut all = PolicyObjects::default();
            add(&mut all);
            let mut others = all.clone();
            add(&mut others);
            others.add(object(kind, Some("a")), None);
            all.add(object(kind, Some("a")), None);
            all.extend(others);
            assert_eq!(all.policies.len() + all.guardrails.len(), 4, "{kind}");
        }
    }
}
