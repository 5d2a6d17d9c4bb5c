//! Changes and policies for tests: argocd-operator, on a Monday evening.

use std::collections::BTreeMap;

use olmguard_catalog::version::{Constraint, Masterminds, Version};
use olmguard_policy::{
    BypassPermission, Change, Maker, Moment, Operation, PolicyBundle, PolicyOrigin, Subject,
    UpgradePolicy, UserInfo,
};
use serde_json::{Value, json};

/// A policy of these rules that matches everything.
pub(crate) fn policy(rules: &Value) -> UpgradePolicy {
    UpgradePolicy::read(&spec(&json!({ "rules": rules })))
}

/// An object with this spec.
pub(crate) fn spec(spec: &Value) -> Value {
    named("production", spec)
}

/// An object of this name with this spec.
pub(crate) fn named(name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "olmguard.dev/v1alpha1",
        "kind": "UpgradePolicy",
        "metadata": {"name": name},
        "spec": spec,
    })
}

/// The facts of a change, owned.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    from: Option<Version>,
    to: Version,
    range: Option<Constraint>,
    labels: BTreeMap<String, String>,
    user: Option<UserInfo>,
    now: Moment,
}

impl Facts {
    pub(crate) fn install(to: &str) -> Self {
        Self {
            from: None,
            to: Version::parse(to).expect("a test writes valid texts"),
            range: None,
            labels: BTreeMap::new(),
            user: Some(UserInfo {
                name: "jane".to_owned(),
                groups: vec!["dev".to_owned()],
            }),
            now: Moment::parse("2026-11-23T19:00:00Z").expect("a test writes valid texts"),
        }
    }

    /// Removes the user.
    pub(crate) fn by_no_one(self) -> Self {
        Self { user: None, ..self }
    }

    pub(crate) fn update(from: &str, to: &str) -> Self {
        Self {
            from: Some(Version::parse(from).expect("a test writes valid texts")),
            ..Self::install(to)
        }
    }

    pub(crate) fn with_range(&self, range: &str) -> Self {
        Self {
            range: Some(
                Constraint::parse(range, Masterminds::V3_5).expect("a test writes valid texts"),
            ),
            ..self.clone()
        }
    }

    pub(crate) fn with_label(&self, key: &str, value: &str) -> Self {
        let mut labels = self.labels.clone();
        labels.insert(key.to_owned(), value.to_owned());
        Self {
            labels,
            ..self.clone()
        }
    }

    pub(crate) fn at(&self, now: &str) -> Self {
        Self {
            now: Moment::parse(now).expect("a test writes valid texts"),
            ..self.clone()
        }
    }

    pub(crate) fn change(&self) -> Change<'_> {
        let bundle = |version| PolicyBundle {
            name: "argocd-operator.v",
            version,
        };
        Change {
            subject: Subject {
                package: "argocd-operator",
                namespace: "argocd",
                labels: &self.labels,
            },
            maker: Maker::User,
            from: self.from.as_ref().map_or(PolicyOrigin::Nothing, |from| {
                PolicyOrigin::Bundle(bundle(from))
            }),
            to: bundle(&self.to),
            is_move: true,
            catalog: "operatorhubio",
            channels: &[],
            range: self.range.as_ref(),
            bypass: false,
            permission: BypassPermission::Unknown,
            deprecated: false,
            operation: match self.from {
                Some(_) => Operation::Update,
                None => Operation::Create,
            },
            user: self.user.as_ref(),
            now: self.now,
        }
    }
}
