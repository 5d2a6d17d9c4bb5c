//! Edits as users and controllers make them with kubectl, in order.

use anyhow::{Result, ensure};

use crate::cluster::Cluster;
use crate::extension::extension;

/// A command that makes an edit.
pub(super) struct Edit {
    pub(super) what: &'static str,
    arguments: &'static str,
    /// The number of reviews that it causes.
    pub(super) sent: u8,
    /// The exit code of kubectl.
    code: i32,
}

/// An edit that is sent to the webhook and allowed, because there is no catalog.
const fn sent(what: &'static str, arguments: &'static str) -> Edit {
    Edit {
        what,
        arguments,
        sent: 1,
        code: 0,
    }
}

/// An edit that is never sent to the webhook.
const fn kept(what: &'static str, arguments: &'static str) -> Edit {
    Edit {
        what,
        arguments,
        sent: 0,
        code: 0,
    }
}

impl Edit {
    /// The same edit, for which kubectl exits with 1.
    const fn failing(self) -> Self {
        Self { code: 1, ..self }
    }

    /// Runs the command. Its standard input is `demo`, an extension with a package of lanterns at
    /// 1.0.0.
    pub(super) async fn make(&self, cluster: &Cluster) -> Result<()> {
        let demo = extension("demo", "lantern-operator", "1.0.0").to_string();
        let printed = cluster.kubectl()?.try_run(self.arguments, &demo).await?;
        ensure!(
            printed.code == Some(self.code),
            "{}: {printed:?}",
            self.arguments
        );
        Ok(())
    }
}

pub(super) const OF_ONE: &[Edit] = &[
    sent("it is new, in a dry run", "create -f - --dry-run=server"),
    sent("it is new", "create -f -"),
    kept("applied as it is", "apply -f -"),
    kept("applied again", "apply -f -"),
    kept(
        "applied by another as it is",
        "apply -f - --server-side --force-conflicts --field-manager=other",
    ),
    kept("replaced by the same", "replace -f -"),
    kept("compared with the same", "diff -f -"),
    kept("a label", "label clusterextension demo team=lights"),
    kept("an annotation", "annotate clusterextension demo seen=yes"),
    kept(
        "finalizers",
        r#"patch clusterextension demo --type=merge -p {"metadata":{"finalizers":["e2e.test/a","e2e.test/b"]}}"#,
    ),
    kept(
        "one finalizer less",
        r#"patch clusterextension demo --type=merge -p {"metadata":{"finalizers":["e2e.test/a"]}}"#,
    ),
    kept(
        "its status",
        r#"patch clusterextension demo --subresource=status --type=merge -p {"status":{"install":{"bundle":{"name":"lantern-operator.v1.0.0","version":"1.0.0"}}}}"#,
    ),
    kept(
        "how it is installed",
        r#"patch clusterextension demo --type=merge -p {"spec":{"install":{"preflight":{"crdUpgradeSafety":{"enforcement":"None"}}}}}"#,
    ),
    kept(
        "another service account, which its definition refuses",
        r#"patch clusterextension demo --type=merge -p {"spec":{"serviceAccount":{"name":"other"}}}"#,
    )
    .failing(),
    kept(
        "another package, which its definition refuses",
        r#"patch clusterextension demo --type=merge -p {"spec":{"source":{"catalog":{"packageName":"other"}}}}"#,
    )
    .failing(),
    kept(
        "a policy spelled out that is the default",
        r#"patch clusterextension demo --type=merge -p {"spec":{"source":{"catalog":{"upgradeConstraintPolicy":"CatalogProvided"}}}}"#,
    ),
    sent(
        "a version, in a dry run",
        r#"patch clusterextension demo --type=merge --dry-run=server -p {"spec":{"source":{"catalog":{"version":"1.1.0"}}}}"#,
    ),
    sent(
        "a version",
        r#"patch clusterextension demo --type=merge -p {"spec":{"source":{"catalog":{"version":"1.1.0"}}}}"#,
    ),
    sent("compared with another", "diff -f -").failing(),
    sent("replaced by another", "replace -f -"),
    sent(
        "a version and a label",
        r#"patch clusterextension demo --type=merge -p {"metadata":{"labels":{"team":"fog"}},"spec":{"source":{"catalog":{"version":">=1.0.0"}}}}"#,
    ),
    sent("applied as another", "apply -f -"),
    sent(
        "a version by a JSON patch",
        r#"patch clusterextension demo --type=json -p [{"op":"replace","path":"/spec/source/catalog/version","value":"1.2.x"}]"#,
    ),
    sent(
        "applied by the server as another",
        "apply -f - --server-side --force-conflicts",
    ),
    sent(
        "no version",
        r#"patch clusterextension demo --type=merge -p {"spec":{"source":{"catalog":{"version":null}}}}"#,
    ),
    kept(
        "an empty list of channels, which OLM drops when it writes",
        r#"patch clusterextension demo --type=merge -p {"spec":{"source":{"catalog":{"channels":[]}}}}"#,
    ),
    sent(
        "channels",
        r#"patch clusterextension demo --type=merge -p {"spec":{"source":{"catalog":{"channels":["stable","fast"]}}}}"#,
    ),
    sent(
        "channels in another order, which only the guard takes for the same",
        r#"patch clusterextension demo --type=merge -p {"spec":{"source":{"catalog":{"channels":["fast","stable"]}}}}"#,
    ),
    sent(
        "a selector",
        r#"patch clusterextension demo --type=merge -p {"spec":{"source":{"catalog":{"selector":{"matchLabels":{"by":"us"}}}}}}"#,
    ),
    sent(
        "a bypass",
        r#"patch clusterextension demo --type=merge -p {"spec":{"source":{"catalog":{"upgradeConstraintPolicy":"SelfCertified"}}}}"#,
    ),
    sent(
        "a bypass no more",
        r#"patch clusterextension demo --type=merge -p {"spec":{"source":{"catalog":{"upgradeConstraintPolicy":"CatalogProvided"}}}}"#,
    ),
    sent(
        "a version that is refused",
        r#"patch clusterextension demo --type=merge -p {"spec":{"source":{"catalog":{"version":"|"}}}}"#,
    )
    .failing(),
    kept(
        "from something else than a catalog",
        r#"patch clusterextension demo --type=merge -p {"spec":{"source":{"sourceType":"Image","catalog":null}}}"#,
    ),
    sent(
        "from a catalog again",
        r#"patch clusterextension demo --type=merge -p {"spec":{"source":{"sourceType":"Catalog","catalog":{"packageName":"lantern-operator"}}}}"#,
    ),
    kept(
        "a finalizer",
        r#"patch clusterextension demo --type=merge -p {"metadata":{"finalizers":["e2e.test/a"]}}"#,
    ),
    kept(
        "deleted, and held by it",
        "delete clusterextension demo --wait=false",
    ),
    kept(
        "a version of what is being deleted",
        r#"patch clusterextension demo --type=merge -p {"spec":{"source":{"catalog":{"version":"|"}}}}"#,
    ),
    kept(
        "let go by its finalizer",
        r#"patch clusterextension demo --type=merge -p {"metadata":{"finalizers":null}}"#,
    ),
    sent("made anew", "apply -f -"),
    kept("deleted at once", "delete clusterextension demo"),
    sent("made by the server", "apply -f - --server-side"),
    kept("deleted with all others", "delete clusterextensions --all"),
];
