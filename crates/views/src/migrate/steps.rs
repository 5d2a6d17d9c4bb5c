//! The steps of a move, in order.
//!
//! The operator of OLM v0 is removed first, because two operators of one kind would conflict. Deleting a
//! `ClusterServiceVersion` removes the operator and keeps CRDs with their objects. Helm adopts objects that have its
//! label and its annotations, so the CRDs get them before the extension is created. Upstream:
//! operator-lifecycle-manager, [`pkg/controller/operators/olm/operator.go`]; helm, [`pkg/action/validate.go`].
//!
//! [`pkg/controller/operators/olm/operator.go`]: https://github.com/operator-framework/operator-lifecycle-manager/blob/v0.46.0/pkg/controller/operators/olm/operator.go
//! [`pkg/action/validate.go`]: https://github.com/helm/helm/blob/v3.19.0/pkg/action/validate.go

use serde::Serialize;

use crate::migrate::objects::Approval;
use crate::migrate::plan::MovePlan;
use crate::migrate::words::{MoveChange, MoveNeed};

/// One step of a move.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(super) struct MoveStep {
    /// What to do.
    pub(super) text: String,
    /// The commands for it. Empty if they depend on the cluster.
    pub(super) commands: Vec<String>,
}

/// Returns the steps of one Subscription that can move.
pub(super) fn steps(plan: &MovePlan<'_>) -> Vec<MoveStep> {
    let all = [
        finish(plan),
        Some(save()),
        service_account(plan),
        Some(delete_subscription(plan)),
        withdraw_plans(plan),
        delete_csv(plan),
        adopt_crds(plan),
        Some(apply(plan)),
        unpin(plan),
        Some(tidy(plan)),
    ];
    all.into_iter().flatten().collect()
}

fn step(text: &str, commands: impl IntoIterator<Item = String>) -> MoveStep {
    MoveStep {
        text: text.to_owned(),
        commands: commands.into_iter().collect(),
    }
}

fn finish(plan: &MovePlan<'_>) -> Option<MoveStep> {
    let mut changes = plan.changes.iter();
    let is_open = changes.any(|change| matches!(change, MoveChange::CsvPhase(_)));
    // A plan keeps the approval that the Subscription had when OLM v0 created the plan.
    let text = if can_wait(plan) {
        "Approve what OLM v0 waits for, and wait until it is finished. Then run olmguard migrate again."
    } else {
        "Wait until OLM v0 is finished. Then run olmguard migrate again."
    };
    (is_open || is_pending(plan)).then(|| step(text, []))
}

/// Whether an `InstallPlan` can be waiting for an approval.
fn can_wait(plan: &MovePlan<'_>) -> bool {
    plan.approval == Approval::Manual || is_pending(plan)
}

fn is_pending(plan: &MovePlan<'_>) -> bool {
    plan.changes.contains(&MoveChange::UpgradePending)
}

/// Saves the manifest first, because it is made from objects that the next steps delete.
fn save() -> MoveStep {
    step(
        "Save the ClusterExtension that -o yaml prints to a file. After the next steps olmguard cannot print it again.",
        [],
    )
}

/// Deletes unapproved plans. An `InstallPlan` can contain the CSVs of several Subscriptions, and its approval installs
/// all of them.
fn withdraw_plans(plan: &MovePlan<'_>) -> Option<MoveStep> {
    let namespace = &plan.subscription.key.namespace;
    can_wait(plan).then(|| {
        step(
            "Delete the InstallPlans that are not approved: one can install this operator again. OLM v0 makes new ones for the others.",
            [format!("kubectl get installplans.operators.coreos.com -n {namespace}")],
        )
    })
}

fn service_account(plan: &MovePlan<'_>) -> Option<MoveStep> {
    let mut needs = plan.needs.iter();
    let name = needs.find_map(|need| match need {
        MoveNeed::ServiceAccount(name) => Some(name),
        _ => None,
    })?;
    let namespace = &plan.subscription.key.namespace;
    let create = format!("kubectl create serviceaccount {name} -n {namespace}");
    Some(step(
        "Create the ServiceAccount. Bind it to a role that can create and manage each object of the bundle, and that has all permissions that the bundle grants.",
        [create],
    ))
}

fn delete_subscription(plan: &MovePlan<'_>) -> MoveStep {
    let key = &plan.subscription.key;
    let delete = format!(
        "kubectl delete subscriptions.operators.coreos.com {} -n {}",
        key.name, key.namespace
    );
    step(
        "Delete the Subscription, so that OLM v0 does not install the bundle again.",
        [delete],
    )
}

fn delete_csv(plan: &MovePlan<'_>) -> Option<MoveStep> {
    let name = plan.subscription.installed_name()?;
    let delete = format!(
        "kubectl delete clusterserviceversions.operators.coreos.com {name} -n {}",
        plan.subscription.key.namespace
    );
    Some(step(
        "Delete the ClusterServiceVersion. The operator stops; CRDs and their objects stay.",
        [delete],
    ))
}

/// Sets the marks that Helm requires before it adopts an existing object.
fn adopt_crds(plan: &MovePlan<'_>) -> Option<MoveStep> {
    let text = "Give the CRDs the marks by which OLM v1 adopts them. Otherwise it refuses to install the bundle. From then on, deleting the ClusterExtension deletes these CRDs and all their objects.";
    let csv = plan.csv?;
    let (name, namespace) = (plan.draft.name(), &plan.subscription.key.namespace);
    let marks = csv.crds.iter().flat_map(|crd| {
        [
            format!("kubectl label crd {crd} app.kubernetes.io/managed-by=Helm --overwrite"),
            format!(
                "kubectl annotate crd {crd} meta.helm.sh/release-name={name} \
                 meta.helm.sh/release-namespace={namespace} --overwrite"
            ),
        ]
    });
    (!csv.crds.is_empty()).then(|| step(text, marks))
}

fn apply(plan: &MovePlan<'_>) -> MoveStep {
    let wait = format!(
        "kubectl wait clusterextension {} --for=condition=Installed --timeout=10m",
        plan.draft.name()
    );
    step(
        "Apply this ClusterExtension, and no other of the file. Wait until it is installed.",
        [wait],
    )
}

fn unpin(plan: &MovePlan<'_>) -> Option<MoveStep> {
    if !plan.is_pinned_for_now() {
        return None;
    }
    let patch = format!(
        "kubectl patch clusterextension {} --type=json -p \
         '[{{\"op\":\"remove\",\"path\":\"/spec/source/catalog/version\"}}]'",
        plan.draft.name()
    );
    Some(step(
        "Remove the version. OLM v1 then upgrades automatically.",
        [patch],
    ))
}

fn tidy(plan: &MovePlan<'_>) -> MoveStep {
    let text = format!(
        "Delete the OperatorGroup if you created it, and no Subscription and no ClusterServiceVersion is left in namespace {}.",
        plan.subscription.key.namespace
    );
    step(&text, [])
}
