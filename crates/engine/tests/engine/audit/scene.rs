//! An extension in a cluster, and the results of its audit.

use olmguard_catalog::olm::Rules;
use olmguard_engine::audit::{Audit, Concern, NextEdit, Onward};
use olmguard_engine::extension::{Extension, Installed, InstalledBundle, Shape};
use olmguard_engine::judge::{Basis, Edit, Policies, Requester, Token, UpgradePolicies, pin};
use olmguard_engine::resolve::Choice;
use olmguard_engine::snapshot::{CatalogState, Content, Snapshot};
use olmguard_fixtures::question::content;
use olmguard_fixtures::written::written;
use olmguard_policy::{Moment, UpgradePolicy};
use serde_json::{Value, json};

/// An extension of package `P` in a cluster.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) lines: &'static str,
    pub(super) catalog: Value,
    pub(super) installed: Installed,
    pub(super) policies: Vec<Value>,
    pub(super) at: &'static str,
}

/// A Friday, 10:00 in Berlin.
pub(super) const AT: &str = "2026-11-20T09:00:00Z";

pub(super) const CHAIN: &str = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0";

impl Scene {
    /// The catalog, and an installed version.
    pub(super) fn new(lines: &'static str, installed: &str) -> Self {
        Self {
            lines,
            catalog: json!({"packageName": "P"}),
            installed: Installed::Bundle(InstalledBundle {
                name: Some(format!("P.v{installed}")),
                version: installed.to_owned(),
                release: None,
            }),
            policies: Vec::new(),
            at: AT,
        }
    }

    pub(super) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.catalog[field] = value.into();
        self
    }

    pub(super) fn range(self, range: &str) -> Self {
        self.with("version", range)
    }

    pub(super) fn ruled(mut self, name: &str, rules: &Value) -> Self {
        self.policies.push(json!({
            "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy",
            "metadata": {"name": name}, "spec": {"rules": rules},
        }));
        self
    }

    pub(super) fn at(self, at: &'static str) -> Self {
        Self { at, ..self }
    }

    pub(super) fn extension(&self) -> Extension {
        Extension::read(
            Shape::V1,
            &json!({
                "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
                "metadata": {"name": "ext"},
                "spec": {"namespace": "ns", "source": {"sourceType": "Catalog", "catalog": self.catalog}},
            }),
        )
    }

    pub(super) fn see<R>(&self, see: impl FnOnce(&Audit<'_>) -> R) -> R {
        let content = content(&written(self.lines).fbc(), &Rules::default());
        self.see_by(content, &self.extension(), see)
    }

    pub(super) fn see_by<R>(
        &self,
        content: Content,
        extension: &Extension,
        see: impl FnOnce(&Audit<'_>) -> R,
    ) -> R {
        self.see_in(&[("hub", content)], extension, see)
    }

    pub(super) fn see_in<R>(
        &self,
        contents: &[(&str, Content)],
        extension: &Extension,
        see: impl FnOnce(&Audit<'_>) -> R,
    ) -> R {
        let states = contents.iter();
        let states = states.map(|(name, content)| CatalogState::named(name, content.clone()));
        let snapshot = Snapshot::new(Rules::default(), states);
        let policies = Policies {
            upgrades: UpgradePolicies::of(self.policies.iter().map(UpgradePolicy::read)),
            ..Policies::default()
        };
        let basis = Basis {
            snapshot: &snapshot,
            policies: &policies,
        };
        let edit = Edit {
            new: extension,
            old: Some(extension),
            installed: &self.installed,
            schema: &[],
            requester: &self.requester(),
        };
        see(&Audit::of(basis, &edit))
    }

    pub(super) fn requester(&self) -> Requester {
        Requester {
            at: Moment::parse(self.at).expect("a time"),
            ..Requester::unknown().clone()
        }
    }

    pub(super) fn concerns(&self) -> Vec<&'static str> {
        self.see(|audit| audit.concerns().into_iter().map(Concern::as_str).collect())
    }

    /// The token of the edit that pins a version now.
    pub(super) fn pinned(&self, version: &str) -> Token {
        let content = content(&written(self.lines).fbc(), &Rules::default());
        let scene = self.clone().range(version);
        scene.see_by(content, &scene.extension(), |audit| audit.judgement.token())
    }
}

pub(super) fn versions(path: &[Choice<'_>]) -> Vec<String> {
    path.iter().filter_map(|choice| pin(*choice)).collect()
}

pub(super) fn next<'a, 's>(audit: &'a Audit<'s>) -> &'a NextEdit<'s> {
    match &audit.place.as_ref().expect("a place").onward {
        Onward::Now(next) | Onward::Later(next, _) => next,
        other => panic!("{other:?}"),
    }
}
