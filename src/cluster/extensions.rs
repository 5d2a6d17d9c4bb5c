//! `ClusterExtension`s of a cluster, as they are there.

use kube::{Api, Client};
use serde_json::Value;

use crate::cluster::fault;
use crate::cluster::line;
use crate::cluster::object::Object;
use crate::cluster::served::{Names, looked_for, served};

/// Why an extension cannot be read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ExtensionsError {
    /// The cluster has no such API.
    #[error(
        "the cluster serves no ClusterExtension: looked for {}; is OLM v1 installed in it?",
        looked_for(NAMES)
    )]
    NotServed,
    /// The API server did not answer, or said no.
    #[error("cannot read {what}: {why}")]
    Failed {
        /// What was asked for.
        what: String,
        /// What became of it.
        why: String,
    },
}

/// The extensions of a cluster.
#[derive(Debug)]
pub struct Extensions(Api<Object>);

impl Extensions {
    /// Finds out how they are served.
    pub async fn of(client: Client) -> Result<Self, ExtensionsError> {
        let (client, _) = line::open(client);
        let found = served(&client, NAMES).await.map_err(failed("the API"))?;
        let resource = found.ok_or(ExtensionsError::NotServed)?;
        Ok(Self(Api::all_with(client, &resource)))
    }

    /// The whole object of this name, in the version that the cluster prefers; none if there is none.
    pub async fn get(&self, name: &str) -> Result<Option<Value>, ExtensionsError> {
        let what = format!("extension {name:?}");
        let found = self.0.get_opt(name).await.map_err(failed(&what))?;
        Ok(found.map(|object| object.content))
    }
}

fn failed(what: &str) -> impl Fn(kube::Error) -> ExtensionsError {
    move |error| ExtensionsError::Failed {
        what: what.to_owned(),
        why: fault::words(&error),
    }
}

/// The kind under the names under which it had a status of OLM v1, newest first.
const NAMES: &Names = &[
    ("olm.operatorframework.io", "v1", "ClusterExtension"),
    ("olm.operatorframework.io", "v1alpha1", "ClusterExtension"),
];
