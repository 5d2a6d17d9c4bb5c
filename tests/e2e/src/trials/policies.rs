//! Upgrade policies in a real API server: they take effect immediately, invalid ones are refused, and the verb `bypass`
//! is checked for real users.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::texts::LANTERN;
use crate::assets;
use crate::cluster::Cluster;
use crate::deployment::{Deployment, rendered};
use crate::extension::{Extensions, extension};
use crate::kubectl::Kubectl;
use crate::olm::Olm;
use crate::olm::catalog::Catalog;
use crate::say::say;
use crate::trials::stand_in;
use crate::until::{until, within};
use crate::verdict::Verdict;

/// The worked examples: each policy with an edit, and whether it is denied. A policy takes effect within a second.
pub(crate) async fn are_in_force_at_once(cluster: &mut Cluster) -> Result<()> {
    let olm = Olm::without_controller(cluster).await?;
    olm.serve(cluster, &Catalog::new("hub", LANTERN)).await?;
    let mut guard = Deployment::up(cluster, "hardened-self-managed").await?;
    let kubectl = cluster.kubectl()?;
    let extensions = Extensions::of(&cluster.client);
    extensions.create("demo", PACKAGE, "1.0.0").await?;
    let installed = format!("{PACKAGE}.v1.0.0");
    extensions.installed("demo", &installed, "1.0.0").await?;
    for (rules, version, denied) in [
        ("step: Minor", "1.1.0", None),
        ("step: Patch", "1.1.0", Some("Patch")),
        ("versions: {deny: 1.1.0}", "1.1.0", Some("1.1.0")),
        ("range: Pinned", ">=1.0.0 <1.2.0", Some("one exact version")),
        ("range: Pinned", "1.1.0", None),
        ("catalogs: [other]", "1.1.0", Some("hub")),
        (
            "windows: [{schedule: 0 0 29 2 *, duration: 1m}]",
            "1.1.0",
            Some("window"),
        ),
        (
            "conditions: [{expression: to.minor == 0, message: ask the platform team}]",
            "1.1.0",
            Some("ask the platform team"),
        ),
        ("bypass: Deny", "1.1.0", None),
    ] {
        kubectl.apply(&policy("worked", rules)).await?;
        let took = answers(&extensions, version, denied).await?;
        say(format_args!("{rules}: in force after {took} ms"));
        ensure!(took < 1_000, "{rules}: {took} ms");
    }
    kubectl.run("delete upgradepolicy worked", "").await?;
    answers(&extensions, ">=1.0.0 <1.2.0", None).await?;
    guard.down().await
}

/// A pod writes the status, and an invalid policy is refused with its field.
pub(crate) async fn report_whether_they_are_accepted(cluster: &mut Cluster) -> Result<()> {
    let kubectl = cluster.kubectl()?;
    kubectl.run("create namespace olmv1-system", "").await?;
    let mut guard = Deployment::up(cluster, "hardened-self-managed").await?;
    let extensions = Extensions::of(&cluster.client);
    extensions.create("demo", PACKAGE, "1.0.0").await?;
    kubectl.apply(&policy("good", "step: Minor")).await?;
    columns(&kubectl, "good", "Deny True 1").await?;
    // The API server validates the words, but only olmguard validates ranges.
    let bad = kubectl
        .try_run("apply -f -", &policy("bad", "versions: {allow: '>=1.2 <'}"))
        .await?;
    ensure!(
        bad.code == Some(1)
            && bad
                .stderr
                .contains("UpgradePolicy bad is not valid: spec.rules.versions.allow: "),
        "{bad:?}"
    );
    // Without the authorization check of the API server, this policy would be weaker than its text.
    kubectl
        .apply(&policy("permission", "bypass: ByPermission"))
        .await?;
    columns(&kubectl, "permission", "Deny False 1").await?;
    kubectl.apply(&bypass_policy()?).await?;
    columns(&kubectl, "permission", "Deny True 1").await?;
    guard.down().await
}

/// Two users have the same rights except for the verb.
pub(crate) async fn ask_for_the_verb_bypass(cluster: &mut Cluster) -> Result<()> {
    let admin = cluster.kubectl()?;
    admin.apply(stand_in::NAMESPACES).await?;
    admin.apply(&bypass_policy()?).await?;
    admin.apply(RIGHTS).await?;
    let of = |user: &str, group: &str| -> Result<Kubectl> {
        let kubeconfig = cluster.certified(user, group)?;
        Ok(Kubectl::new(
            assets::program("kubectl")?,
            kubeconfig,
            cluster.dir(),
        ))
    };
    let (without, with) = (of("dev", "devs")?, of("rel", "releasers")?);
    let rules = "bypass: ByPermission";
    let matching =
        policy("production", rules).replace("spec:", "spec:\n  match: {packages: [lantern-*]}");
    admin.apply(&matching).await?;
    let edit = |name: &str, package: &str| bypassing(name, package).to_string();
    let create = "create --dry-run=server -f -";
    let is_refused = async || {
        let printed = without.try_run(create, &edit("demo", PACKAGE)).await.ok()?;
        printed.stderr.contains(DENIED).then_some(())
    };
    within(Duration::from_secs(30), DENIED, is_refused).await?;
    with.run(create, &edit("demo", PACKAGE)).await?;
    let other = with.try_run(create, &edit("other", PACKAGE)).await?;
    ensure!(other.code == Some(1), "the verb is on one name: {other:?}");
    without.run(create, &edit("demo", "other-operator")).await?;
    let plain = extension("demo", PACKAGE, "1.0.0").to_string();
    without.run(create, &plain).await?;
    // An existing extension can be labelled, and made ordinary again, but its filter cannot be changed.
    with.run("create -f -", &edit("demo", PACKAGE)).await?;
    without.run("label clusterextension demo a=b", "").await?;
    with.run(&channels("a", "b"), "").await?;
    without.run(&channels("b", "a"), "").await?;
    let fewer = without.try_run(&channels("a", "a"), "").await?;
    ensure!(fewer.stderr.contains(DENIED), "{fewer:?}");
    let changed = without.try_run(CHANGE, "").await?;
    ensure!(changed.stderr.contains(DENIED), "{changed:?}");
    without.run(BACK, "").await?;
    Ok(())
}

/// Waits until the edit has this answer. Returns the time in milliseconds.
async fn answers(extensions: &Extensions, version: &str, denied: Option<&str>) -> Result<u128> {
    let since = Instant::now();
    until("the policy to be in force", async || {
        let answer = extensions.verdict("demo", version).await.ok()?;
        let is_so = match (denied, &answer) {
            (None, Verdict::Passed(_)) => true,
            (Some(why), Verdict::Denied(text)) => text.contains("[Policy]") && text.contains(why),
            _ => false,
        };
        is_so.then_some(())
    })
    .await?;
    Ok(since.elapsed().as_millis())
}

/// Waits until `kubectl get` prints these columns, except for the age.
async fn columns(kubectl: &Kubectl, name: &str, expected: &str) -> Result<()> {
    let get = format!("get upol {name} --no-headers");
    until(expected, async || {
        let printed = kubectl.run(&get, "").await.ok()?;
        let columns: Vec<_> = printed.split_whitespace().skip(1).take(3).collect();
        (columns.join(" ") == expected).then_some(())
    })
    .await
}

pub(super) fn policy(name: &str, rules: &str) -> String {
    format!(
        "apiVersion: olmguard.dev/v1alpha1\nkind: UpgradePolicy\nmetadata: {{name: {name}}}\nspec:\n  rules: {{{rules}}}\n"
    )
}

/// Returns the definitions, the policy and its binding from the objects of a profile.
fn bypass_policy() -> Result<String> {
    let manifest = rendered("enforcing-self-managed")?;
    let objects = manifest.split("\n---\n").filter(|object| {
        object.contains("\nkind: CustomResourceDefinition")
            || object.contains("\n  name: olmguard-bypass\n")
    });
    Ok(objects.collect::<Vec<_>>().join("\n---\n"))
}

fn bypassing(name: &str, package: &str) -> serde_json::Value {
    let mut object = extension(name, package, "1.0.0");
    if let Some(catalog) = object.pointer_mut("/spec/source/catalog") {
        catalog["upgradeConstraintPolicy"] = "SelfCertified".into();
    }
    object
}

fn channels(first: &str, second: &str) -> String {
    format!(
        r#"patch clusterextension demo --type=merge -p {{"spec":{{"source":{{"catalog":{{"channels":["{first}","{second}"]}}}}}}}}"#
    )
}

const DENIED: &str = "ValidatingAdmissionPolicy 'olmguard-bypass' with binding 'olmguard-bypass' denied request: \
     SelfCertified needs the verb \"bypass\" on clusterextensions \"demo\" of olm.operatorframework.io: \
     UpgradePolicy production has bypass: ByPermission";

const PACKAGE: &str = "lantern-operator";
const CHANGE: &str = r#"patch clusterextension demo --type=merge -p {"spec":{"source":{"catalog":{"version":"1.1.0"}}}}"#;
const BACK: &str = r#"patch clusterextension demo --type=merge -p {"spec":{"source":{"catalog":{"upgradeConstraintPolicy":"CatalogProvided"}}}}"#;

/// Both groups can edit, and one can bypass, for one name.
const RIGHTS: &str = r"
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: e2e-edit}
rules:
- {apiGroups: [olm.operatorframework.io], resources: [clusterextensions], verbs: [get, create, update, patch, delete]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: e2e-edit}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: e2e-edit}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: devs}
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: releasers}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: e2e-bypass}
rules:
- {apiGroups: [olm.operatorframework.io], resources: [clusterextensions], resourceNames: [demo], verbs: [bypass]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: e2e-bypass}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: e2e-bypass}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: releasers}
";
