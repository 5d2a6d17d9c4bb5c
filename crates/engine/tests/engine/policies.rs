//! Upgrade policies through the whole judgement: the worked examples, the texts, and laws that hold for any policies.

mod laws;
mod walks;
mod worked;

use serde_json::{Value, json};

use olmguard_catalog::olm::Rules;
use olmguard_engine::explain::{Answer, answer};
use olmguard_engine::extension::{Extension, Installed, InstalledBundle, Shape};
use olmguard_engine::judge::{Basis, Edit, Policies, Requester, UpgradePolicies, UserInfo};
use olmguard_engine::snapshot::{CatalogState, Snapshot};
use olmguard_fixtures::question::content;
use olmguard_policy::{Moment, UpgradePolicy};

// === argocd-operator 0.6.0 with its next versions, and an edit under some policies ===

/// A Friday, 10:00 in Berlin.
const AT: &str = "2026-11-20T09:00:00Z";

/// An edit, and the policies that apply to it.
#[derive(Clone, Debug)]
struct Scene {
    policies: Vec<Value>,
    installed: Option<&'static str>,
    catalog: Value,
    labels: Value,
    at: &'static str,
    groups: Vec<String>,
    /// Why policies may be missing.
    unlisted: Option<&'static str>,
}

impl Scene {
    /// An edit to this range from 0.6.0.
    fn to(range: &str) -> Self {
        Self {
            policies: Vec::new(),
            installed: Some("0.6.0"),
            catalog: json!({"packageName": "argocd-operator", "version": range}),
            labels: json!({"tier": "production"}),
            at: AT,
            groups: Vec::new(),
            unlisted: None,
        }
    }

    fn from(self, installed: &'static str) -> Self {
        Self {
            installed: Some(installed),
            ..self
        }
    }

    fn install(self) -> Self {
        Self {
            installed: None,
            ..self
        }
    }

    fn bypassing(mut self) -> Self {
        self.catalog["upgradeConstraintPolicy"] = "SelfCertified".into();
        self
    }

    /// Adds one more policy.
    fn ruled(mut self, name: &str, spec: &Value) -> Self {
        self.policies.push(policy(name, spec));
        self
    }

    /// The same edit with the value that a denial suggests.
    fn with_version(mut self, range: &str) -> Self {
        self.catalog["version"] = range.into();
        self
    }

    fn answer(&self) -> Answer {
        self.answer_to(self.old().as_ref())
    }

    /// The answer to an edit that changes only labels.
    fn answer_to_labels(&self) -> Answer {
        self.answer_to(Some(&self.extension()))
    }

    fn answer_to(&self, old: Option<&Extension>) -> Answer {
        let snapshot = snapshot();
        let policies = Policies {
            upgrades: UpgradePolicies::of(self.policies.iter().map(UpgradePolicy::read)),
            unlisted: self.unlisted.map(Into::into),
            ..Policies::default()
        };
        let basis = Basis {
            snapshot: &snapshot,
            policies: &policies,
        };
        let edit = Edit {
            new: &self.extension(),
            old,
            installed: &self.installed(),
            schema: &[],
            requester: &Requester {
                user: Some(UserInfo {
                    name: "ann".to_owned(),
                    groups: self.groups.clone(),
                }),
                at: Moment::parse(self.at).expect("a time"),
            },
        };
        answer(basis, &edit)
    }

    fn old(&self) -> Option<Extension> {
        let version = self.installed?;
        let catalog = json!({"packageName": "argocd-operator", "version": version});
        Some(self.with(&catalog))
    }

    fn extension(&self) -> Extension {
        self.with(&self.catalog)
    }

    fn with(&self, catalog: &Value) -> Extension {
        Extension::read(
            Shape::V1,
            &json!({
                "apiVersion": "olm.operatorframework.io/v1",
                "kind": "ClusterExtension",
                "metadata": {"name": "argocd", "labels": self.labels},
                "spec": {"namespace": "argocd", "source": {"sourceType": "Catalog", "catalog": catalog}},
            }),
        )
    }

    fn installed(&self) -> Installed {
        let bundle = |version: &str| InstalledBundle {
            name: Some(format!("argocd-operator.v{version}")),
            version: version.to_owned(),
            release: None,
        };
        let version = self.installed;
        version.map_or(Installed::Nothing, |version| {
            Installed::Bundle(bundle(version))
        })
    }
}

/// An `UpgradePolicy` with this name.
fn policy(name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "olmguard.dev/v1alpha1",
        "kind": "UpgradePolicy",
        "metadata": {"name": name},
        "spec": spec,
    })
}

/// 0.6.0 with its successors 0.6.1 and 0.7.0, then 1.0.0, then 1.4.1, which is deprecated.
fn snapshot() -> Snapshot {
    let rules = Rules::default();
    let entries = [
        ("0.6.0", ""),
        ("0.6.1", "0.6.0"),
        ("0.7.0", "0.6.0"),
        ("1.0.0", "0.7.0"),
        ("1.4.1", "1.0.0"),
    ];
    let mut blobs = vec![
        json!({"schema": "olm.package", "name": "argocd-operator", "defaultChannel": "alpha"}),
    ];
    let entry = |(version, from): &(&str, &str)| match *from {
        "" => json!({"name": format!("argocd-operator.v{version}")}),
        from => json!({
            "name": format!("argocd-operator.v{version}"),
            "replaces": format!("argocd-operator.v{from}"),
        }),
    };
    blobs.push(json!({
        "schema": "olm.channel", "package": "argocd-operator", "name": "alpha",
        "entries": entries.iter().map(entry).collect::<Vec<_>>(),
    }));
    blobs.extend(entries.iter().map(|(version, _)| {
        json!({
            "schema": "olm.bundle", "package": "argocd-operator",
            "name": format!("argocd-operator.v{version}"), "image": "example.com/argocd:v",
            "properties": [{
                "type": "olm.package",
                "value": {"packageName": "argocd-operator", "version": version},
            }],
        })
    }));
    blobs.push(json!({
        "schema": "olm.deprecations", "package": "argocd-operator",
        "entries": [{
            "reference": {"schema": "olm.bundle", "name": "argocd-operator.v1.4.1"},
            "message": "1.4.1 loses data",
        }],
    }));
    let lines: Vec<_> = blobs.iter().map(Value::to_string).collect();
    let content = content(&lines.join("\n"), &rules);
    Snapshot::new(rules, [CatalogState::named("operatorhubio", content)])
}
