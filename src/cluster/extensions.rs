//! `ClusterExtension`s of a cluster, as they are there.

use futures_util::{StreamExt, stream};
use kube::{Api, Client};
use serde_json::Value;

use crate::cluster::fault::FailedOperation;
use crate::cluster::line;
use crate::cluster::object::WatchedObject;
use crate::cluster::served::{Names, looked_for, served};
use olmguard_engine::extension::{
    Extension, Installed, RecognisedObject, Rollout, UnknownCause, recognise,
};

/// Why an extension cannot be read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ExtensionsError {
    /// The cluster has no such API.
    #[error(
        "the cluster does not serve ClusterExtension: looked for {}; is OLM v1 installed?",
        looked_for(NAMES)
    )]
    NotServed,
    /// The API server did not answer, or said no.
    #[error(transparent)]
    Failed(#[from] FailedOperation),
}

/// The extensions of a cluster.
#[derive(Debug)]
pub struct Extensions(Api<WatchedObject>);

/// What a cluster says of an extension beside what it asks for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ExtensionState {
    /// What is installed.
    pub installed: Installed,
    /// Whether an upgrade is still rolling out.
    pub rollout: Rollout,
}

impl ExtensionState {
    /// What the whole status of an object says; of an extension that is not there, that nothing is
    /// installed.
    fn read(object: Option<&Value>) -> Self {
        let Some(object) = object else {
            return Self::of(Installed::Nothing);
        };
        let RecognisedObject::Extension(shape) = recognise(object) else {
            return Self::unknown("the API server answers with another kind of object".to_owned());
        };
        let Extension {
            installed, rollout, ..
        } = Extension::read(shape, object);
        Self { installed, rollout }
    }

    fn of(installed: Installed) -> Self {
        let rollout = Rollout::default();
        Self { installed, rollout }
    }

    fn unknown(why: String) -> Self {
        Self::of(Installed::Unknown(UnknownCause::NotToBeHad { why }))
    }
}

/// What a cluster says of each extension of these names, in their order. What cannot be read is not
/// known, for the reason that it cannot be read for.
pub async fn standings(client: Client, names: Vec<String>) -> Vec<ExtensionState> {
    let extensions = match Extensions::of(client).await {
        Ok(extensions) => extensions,
        Err(error) => return vec![ExtensionState::unknown(error.to_string()); names.len()],
    };
    let read = names
        .iter()
        .map(async |name| match extensions.get(name).await {
            Ok(object) => ExtensionState::read(object.as_ref()),
            Err(error) => ExtensionState::unknown(error.to_string()),
        });
    stream::iter(read).buffered(MOST_AT_ONCE).collect().await
}

impl Extensions {
    /// Finds out how they are served.
    pub async fn of(client: Client) -> Result<Self, ExtensionsError> {
        let (client, _) = line::open(client);
        let found = served(&client, NAMES).await;
        let found = found.map_err(FailedOperation::to("find out how extensions are served"))?;
        let resource = found.ok_or(ExtensionsError::NotServed)?;
        Ok(Self(Api::all_with(client, &resource)))
    }

    /// The whole object of this name, in the version that the cluster prefers; none if there is none.
    pub async fn get(&self, name: &str) -> Result<Option<Value>, ExtensionsError> {
        let found = self.0.get_opt(name).await;
        let found = found.map_err(FailedOperation::to(&format!("read extension {name:?}")))?;
        Ok(found.map(|object| object.content))
    }
}

/// The kind under the names under which it had a status of OLM v1, newest first.
pub(super) const NAMES: &Names = &[
    ("olm.operatorframework.io", "v1", "ClusterExtension"),
    ("olm.operatorframework.io", "v1alpha1", "ClusterExtension"),
];

/// How many are asked for at once.
const MOST_AT_ONCE: usize = 4;

#[cfg(test)]
mod tests {
    use hyper::StatusCode;
    use serde_json::json;

    use super::*;
    use olmguard_support::api::{ApiServer, Trouble};

    fn cluster(version: &str) -> ApiServer {
        let api = ApiServer::start();
        let group_version = format!("olm.operatorframework.io/{version}");
        api.serve(&group_version, "clusterextensions", "ClusterExtension");
        let collection = format!("/apis/{group_version}/clusterextensions");
        api.put(
            &collection,
            json!({"metadata": {"name": "lantern"}, "status": {"x": 1}}),
        );
        api
    }

    #[tokio::test]
    async fn an_extension_is_read_whole_in_either_version() {
        for version in ["v1", "v1alpha1"] {
            let extensions = Extensions::of(cluster(version).client()).await.unwrap();
            let found = extensions.get("lantern").await.unwrap().unwrap();
            assert_eq!(found["status"], json!({"x": 1}), "{version}");
            assert_eq!(extensions.get("other").await, Ok(None));
        }
    }

    #[tokio::test]
    async fn what_cannot_be_read_says_why() {
        let none = Extensions::of(ApiServer::start().client()).await;
        assert_eq!(
            none.unwrap_err().to_string(),
            "the cluster does not serve ClusterExtension: looked for ClusterExtension of \
             olm.operatorframework.io/v1, ClusterExtension of olm.operatorframework.io/v1alpha1; \
             is OLM v1 installed?"
        );
        let api = cluster("v1");
        let extensions = Extensions::of(api.client()).await.unwrap();
        api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |_| true);
        assert_eq!(
            extensions.get("lantern").await.unwrap_err().to_string(),
            "cannot read extension \"lantern\": the API server answers 403: as the test says"
        );
    }
}
