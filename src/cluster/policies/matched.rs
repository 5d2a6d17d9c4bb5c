//! How many ClusterExtensions a policy matches.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::cluster::object::name;
use crate::cluster::watch::WatchEvent;
use olmguard_engine::extension::{Extension, PolicySubject};
use olmguard_policy::{Subject, UpgradePolicy};

/// The extensions of the cluster, as far as policies match them.
#[derive(Debug, Default)]
pub(super) struct Extensions {
    subjects: Option<BTreeMap<String, ExtensionSubject>>,
    /// Whether there was any answer.
    is_asked: bool,
}

#[derive(Debug, Eq, PartialEq)]
struct ExtensionSubject {
    package: String,
    subject: PolicySubject,
}

impl Extensions {
    /// Whether the API server was asked, with or without success.
    pub(super) fn is_asked(&self) -> bool {
        self.is_asked
    }

    /// Takes an event; true if the numbers may be others now.
    pub(super) fn take(&mut self, event: WatchEvent<Value>) -> bool {
        let was_asked = std::mem::replace(&mut self.is_asked, true);
        let is_other = match event {
            WatchEvent::Listed(objects) => {
                let listed = Some(objects.iter().filter_map(read).collect());
                let is_other = self.subjects != listed;
                self.subjects = listed;
                is_other
            }
            WatchEvent::Applied(object) => match (read(&object), &mut self.subjects) {
                (Some((name, subject)), Some(known)) => {
                    let is_other = known.get(&name) != Some(&subject);
                    known.insert(name, subject);
                    is_other
                }
                _ => false,
            },
            WatchEvent::Deleted(object) => {
                let known = self.subjects.as_mut();
                known.is_some_and(|known| known.remove(name(&object)).is_some())
            }
            WatchEvent::Absent => self.subjects.replace(BTreeMap::new()).is_none(),
            WatchEvent::Alive | WatchEvent::Found | WatchEvent::Lost(_) => false,
        };
        is_other || !was_asked
    }

    /// How many a policy matches; none if that is not known.
    pub(super) fn matched(&self, policy: &UpgradePolicy) -> Option<i64> {
        let subjects = self.subjects.as_ref()?.values();
        let matching = subjects.filter(|extension| {
            policy.matches(&Subject {
                package: &extension.package,
                namespace: &extension.subject.namespace,
                labels: &extension.subject.labels,
            })
        });
        i64::try_from(matching.count()).ok()
    }
}

/// One that requests no package is of none that a policy names.
fn read(object: &Value) -> Option<(String, ExtensionSubject)> {
    let extension = Extension::recognised(object)?;
    let package = extension.filter.map(|filter| filter.package);
    let subject = ExtensionSubject {
        package: package.unwrap_or_default(),
        subject: extension.subject,
    };
    Some((name(object).to_owned(), subject))
}
