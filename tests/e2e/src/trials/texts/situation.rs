//! The situations: edits and the commands that make them.

use anyhow::Result;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::extension::{Extensions, extension};

/// A situation, with its file in `golden/`.
pub(super) struct Situation {
    pub(super) name: &'static str,
    /// The edit of an extension that has 1.0.0 installed and requested.
    pub(super) edit: Edit,
    pub(super) commands: &'static [&'static str],
    /// Whether the state is prepared first. This requires a webhook that answers, or none.
    pub(super) prepares: bool,
}

/// Fields of `spec.source.catalog`.
pub(super) struct Edit {
    pub(super) version: &'static str,
    pub(super) policy: &'static str,
}

impl Edit {
    const fn to(version: &'static str) -> Self {
        Self {
            version,
            policy: "CatalogProvided",
        }
    }

    /// Returns the edit as a merge patch.
    pub(super) fn patch(&self) -> Value {
        let catalog = json!({ "version": self.version, "upgradeConstraintPolicy": self.policy });
        json!({ "spec": { "source": { "catalog": catalog } } })
    }

    /// Returns the whole manifest of an extension with this name.
    pub(super) fn manifest(&self, name: &str) -> Value {
        let mut manifest = extension(name, PACKAGE, self.version);
        if let Some(policy) = manifest.pointer_mut("/spec/source/catalog") {
            policy["upgradeConstraintPolicy"] = self.policy.into();
        }
        manifest
    }
}

pub(super) const DENIAL: Situation = Situation {
    name: "denial",
    edit: Edit::to("1.3.0"),
    commands: &ALL,
    prepares: true,
};

pub(super) const NOT_THERE: Situation = Situation {
    name: "denial-of-the-first",
    edit: Edit::to("9.9.9"),
    commands: &[
        "create -f fresh.yaml",
        "apply -f fresh.yaml",
        "apply -f fresh.yaml --server-side",
        "diff -f fresh.yaml",
    ],
    prepares: true,
};

pub(super) const WARNING: Situation = Situation {
    name: "warning",
    edit: Edit::to("1.1.0"),
    commands: &ALL,
    prepares: true,
};

pub(super) const BYPASS: Situation = Situation {
    name: "bypass",
    edit: Edit {
        version: "1.3.0",
        policy: "SelfCertified",
    },
    commands: &ALL,
    prepares: true,
};

pub(super) const UNDECIDED: Situation = Situation {
    name: "undecided",
    edit: Edit::to("1.3.0"),
    commands: &ALL,
    prepares: true,
};

/// The webhook accepts the connection, but does not answer.
pub(super) const SILENT: Situation = Situation {
    name: "silent-fail",
    edit: Edit::to("1.3.0"),
    commands: &["apply -f demo.yaml", "diff -f demo.yaml"],
    prepares: false,
};

pub(super) const DOWN_AND_FAIL: Situation = Situation {
    name: "down-fail",
    edit: Edit::to("1.3.0"),
    commands: &ALL,
    prepares: false,
};

pub(super) const DOWN_AND_IGNORE: Situation = Situation {
    name: "down-ignore",
    edit: Edit::to("1.3.0"),
    commands: &ALL,
    prepares: true,
};

/// The commands. `fresh` does not exist yet, but `demo` does. Commands without an effect come
/// first, because each one continues from the state that the previous one has left.
const ALL: [&str; 10] = [
    "create -f fresh.yaml --dry-run=server",
    "apply -f demo.yaml --dry-run=server",
    "diff -f demo.yaml",
    "apply -f demo.yaml --server-side --force-conflicts --dry-run=server",
    "patch clusterextension demo --type=merge --patch-file=patch.yaml --dry-run=server",
    "replace -f demo.yaml --dry-run=server",
    "create -f fresh.yaml",
    "edit clusterextension demo",
    "apply -f demo.yaml",
    "apply -f demo.yaml --server-side --force-conflicts",
];

/// Prepares the state before each transcript: only `demo`, with 1.0.0 installed and requested.
pub(super) async fn prepare(cluster: &Cluster) -> Result<()> {
    let kubectl = cluster.kubectl()?;
    kubectl.run("delete clusterextensions --all", "").await?;
    kubectl
        .apply(&Edit::to(INSTALLED).manifest("demo").to_string())
        .await?;
    let extensions = Extensions::of(&cluster.client);
    extensions
        .installed("demo", &format!("{PACKAGE}.v{INSTALLED}"), INSTALLED)
        .await
}

const PACKAGE: &str = "lantern-operator";
const INSTALLED: &str = "1.0.0";
