//! The progress of operator-controller with a ClusterExtension.

use anyhow::{Context, Result};
use kube::api::DynamicObject;
use kube::runtime::wait::await_condition;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::timeout;

use crate::extension::Extensions;
use crate::until::PATIENCE;

/// The result of the current spec.
#[derive(Debug, Clone, Eq, PartialEq)]
pub(crate) enum Progress {
    /// The spec is applied, and this bundle is installed.
    Done(Bundle),
    /// The spec is retried, for this reason.
    Retrying(String),
}

/// The installed bundle.
#[derive(Debug, Clone, Deserialize, Eq, PartialEq)]
pub(crate) struct Bundle {
    pub(crate) name: String,
    pub(crate) version: String,
}

/// Waits until the controller has a result for the current spec.
pub(crate) async fn settled(extensions: &Extensions, name: &str) -> Result<Progress> {
    let has_settled = |object: Option<&DynamicObject>| object.and_then(progress).is_some();
    let object = timeout(
        PATIENCE,
        await_condition(extensions.api.clone(), name, has_settled),
    )
    .await
    .with_context(|| {
        format!("waited {PATIENCE:?} for the controller: ClusterExtension {name}")
    })??;
    object
        .as_ref()
        .and_then(progress)
        .with_context(|| format!("ClusterExtension {name} is gone"))
}

/// Whether the current spec is applied.
pub(crate) fn is_done(object: &DynamicObject) -> bool {
    matches!(progress(object), Some(Progress::Done(_)))
}

/// Returns the result for the current generation, or `None` if the status is that of an older one.
fn progress(object: &DynamicObject) -> Option<Progress> {
    let status = object.data.get("status")?;
    let progressing = conditions(status).find(|condition| condition.is("Progressing"))?;
    let says_it_of_this = progressing.observed_generation == object.metadata.generation;
    match progressing.reason.as_str() {
        _ if !says_it_of_this => None,
        "Succeeded" => Some(Progress::Done(installed(status)?)),
        _ => Some(Progress::Retrying(progressing.message)),
    }
}

/// Returns the installed bundle of an extension.
pub(crate) fn installed_of(object: &DynamicObject) -> Option<Bundle> {
    installed(object.data.get("status")?)
}

fn installed(status: &Value) -> Option<Bundle> {
    Bundle::deserialize(status.pointer("/install/bundle")?).ok()
}

fn conditions(status: &Value) -> impl Iterator<Item = Condition> {
    let conditions = status.get("conditions").and_then(Value::as_array);
    conditions
        .into_iter()
        .flatten()
        .filter_map(|condition| Condition::deserialize(condition).ok())
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Condition {
    r#type: String,
    reason: String,
    message: String,
    observed_generation: Option<i64>,
}

impl Condition {
    fn is(&self, kind: &str) -> bool {
        self.r#type == kind
    }
}
