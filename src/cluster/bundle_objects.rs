//! The CRDs and kinds of bundles that exist in a cluster, for commands, which do not watch it.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt, stream};
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResource;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind, PartialObjectMeta};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use crate::cluster::object::WatchedObject;
use crate::cluster::{WatchFault, line};
use olmguard_catalog::dns1123::is_subdomain;
use olmguard_catalog::version::go;
use olmguard_preflight::KubernetesVersion;
use olmguard_preflight::bundle::{BundledKind, RenderedName, RenderedObject};
use olmguard_preflight::content::{BundleContents, ClusterObjects, NeededObject, owned};

/// An object or kind that could not be read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("cannot read {what}: {why}")]
pub struct ClusterObjectsError {
    what: String,
    why: String,
}

impl ClusterObjectsError {
    fn of(what: impl Into<String>, error: &kube::Error) -> Self {
        Self {
            what: what.into(),
            why: WatchFault::from(error).words,
        }
    }

    fn lost(crd: &str) -> Self {
        Self {
            what: crd_in_words(crd),
            why: "the thread that compares it panicked; please report this".to_owned(),
        }
    }

    /// Returns the fault of more objects or kinds than are read.
    fn too_many(what: &str, found: usize, most: usize) -> Option<Self> {
        (found > most).then(|| Self {
            what: format!("the {what} of the bundles"),
            why: format!("there are more than {most}"),
        })
    }
}

fn crd_in_words(name: &str) -> String {
    format!("CustomResourceDefinition {}", go::quote(name))
}

/// The objects to read in addition to the CRDs and kinds of known bundles.
#[derive(Clone, Debug, Default)]
pub struct SoughtObjects {
    /// The CRDs of bundles whose images are not known.
    pub crds: BTreeSet<String>,
    /// The objects that first installations would create.
    pub made: BTreeSet<RenderedObject>,
    /// The objects that installations need.
    pub needed: BTreeSet<NeededObject>,
}

/// Returns these bundles with the state of the cluster, and the first fault. After a fault, unread kinds count as
/// served, objects as absent, and needed objects as existing. CRDs are compared as operator-controller 1.`minor` does.
///
/// # Errors
/// Fails if a CRD of a bundle cannot be read, because then it is not known whether it exists.
pub async fn of_bundles(
    client: Client,
    contents: &BundleContents,
    sought: &SoughtObjects,
    minor: u8,
) -> Result<(BundleContents, Option<ClusterObjectsError>), ClusterObjectsError> {
    let (client, _) = line::open(client);
    let made = &sought.made;
    let (compared, mut crds) = crds(&client, contents.clone(), minor).await?;
    let known = contents.crd_names();
    let named = sought.crds.iter().filter(|name| !known.contains(&***name));
    let (named, unread) = crds_by_name(&client, named.cloned().collect()).await;
    crds.extend(named);
    let objects = ClusterObjects {
        crds,
        kubernetes: kubernetes(&client).await,
        ..ClusterObjects::default()
    };
    let of_made = made.iter().map(|object| object.kind.clone());
    let kinds: BTreeSet<_> = contents.kinds().into_iter().chain(of_made).collect();
    let served = match served(&client, &kinds).await {
        Ok(served) => served,
        Err(error) => return Ok((compared.with_cluster(objects), Some(error))),
    };
    let (required, uncounted) = unserved_of(&client, contents.required_kinds()).await;
    let (others, error) = others(&client, made, &served).await;
    let (missing, fault) = missing(&client, &sought.needed).await;
    let unserved = kinds.into_iter().filter(|kind| !served.contains_key(kind));
    let objects = ClusterObjects {
        unserved: unserved.chain(required).collect(),
        others,
        missing,
        ..objects
    };
    let error = unread.or(error).or(fault).or(uncounted);
    Ok((compared.with_cluster(objects), error))
}

/// Returns the version of the API server. It is used only for a warning, so a failure to read it is not a fault.
pub(super) async fn kubernetes(client: &Client) -> Option<KubernetesVersion> {
    let version = client.apiserver_version().await.ok()?;
    KubernetesVersion::read(&version.git_version)
}

/// Returns the needed objects that do not exist, up to the first fault. An object that the user may not read counts as
/// existing.
async fn missing(
    client: &Client,
    needed: &BTreeSet<NeededObject>,
) -> (BTreeSet<NeededObject>, Option<ClusterObjectsError>) {
    let too_many = ClusterObjectsError::too_many("needed objects", needed.len(), MOST_OBJECTS);
    let mut missing = BTreeSet::new();
    for needed in needed.iter().take(MOST_OBJECTS) {
        // Namespaces come first. If its namespace is missing, a service account is not reported.
        if missing.iter().any(|it: &NeededObject| it.brings(needed)) {
            continue;
        }
        match exists(client, needed).await {
            Ok(true) => {}
            Ok(false) => _ = missing.insert(needed.clone()),
            Err(kube::Error::Api(status)) if status.code == 403 => {}
            Err(error) => {
                let what = needed_name(needed);
                return (missing, Some(ClusterObjectsError::of(what, &error)));
            }
        }
    }
    (missing, too_many)
}

/// Whether an object exists. An invalid name is not put into a path, and counts as existing.
async fn exists(client: &Client, needed: &NeededObject) -> Result<bool, kube::Error> {
    let found = match needed {
        NeededObject::Namespace(name) | NeededObject::WatchedNamespace(name) => {
            if !is_subdomain(name) {
                return Ok(true);
            }
            let api: Api<Namespace> = Api::all(client.clone());
            api.get_metadata_opt(name).await?.is_some()
        }
        NeededObject::ServiceAccount { namespace, name } => {
            if !is_subdomain(name) || !is_subdomain(namespace) {
                return Ok(true);
            }
            let api: Api<ServiceAccount> = Api::namespaced(client.clone(), namespace);
            api.get_metadata_opt(name).await?.is_some()
        }
    };
    Ok(found)
}

fn needed_name(needed: &NeededObject) -> String {
    match needed {
        NeededObject::Namespace(name) | NeededObject::WatchedNamespace(name) => {
            format!("Namespace {}", go::quote(name))
        }
        NeededObject::ServiceAccount { name, .. } => {
            format!("ServiceAccount {}", go::quote(name))
        }
    }
}

/// Returns the existing CRDs of these names, with the fields that show their owners, and the first fault. A CRD that
/// the user may not read counts as absent.
async fn crds_by_name(
    client: &Client,
    names: BTreeSet<String>,
) -> (BTreeMap<String, Value>, Option<ClusterObjectsError>) {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let too_many = ClusterObjectsError::too_many("CRDs", names.len(), MOST_CRDS);
    let requests = names.into_iter().take(MOST_CRDS).map(|name| {
        let api = api.clone();
        async move {
            let found = api.get_metadata_opt(&name).await;
            let found = metadata(found, || crd_in_words(&name));
            (name, found.map(|crd| crd.as_ref().map(owned)))
        }
    });
    gathered(requests.collect(), too_many).await
}

/// Returns the metadata of an object, if it exists. An object that the user may not read counts as absent.
fn metadata<K>(
    found: kube::Result<Option<PartialObjectMeta<K>>>,
    what: impl FnOnce() -> String,
) -> Result<Option<Value>, ClusterObjectsError> {
    match found {
        Ok(found) => {
            let metadata = found.and_then(|found| serde_json::to_value(found.metadata).ok());
            Ok(metadata.map(|metadata| json!({"metadata": metadata})))
        }
        Err(kube::Error::Api(status)) if status.code == 403 => Ok(None),
        Err(error) => Err(ClusterObjectsError::of(what(), &error)),
    }
}

/// Sends these requests, several at a time. Returns the existing objects, and the first fault after the given one.
async fn gathered<K: Ord>(
    requests: Vec<impl Future<Output = (K, Result<Option<Value>, ClusterObjectsError>)>>,
    mut error: Option<ClusterObjectsError>,
) -> (BTreeMap<K, Value>, Option<ClusterObjectsError>) {
    let mut reading = stream::iter(requests).buffered(AT_ONCE);
    let mut objects = BTreeMap::new();
    while let Some((key, found)) = reading.next().await {
        match found {
            Ok(found) => objects.extend(found.map(|object| (key, object))),
            Err(fault) => _ = error.get_or_insert(fault),
        }
    }
    (objects, error)
}

/// Returns the kinds that are not served, and the fault of too many. OLM does not check these kinds, so the kinds of an
/// API version that cannot be read count as served.
async fn unserved_of(
    client: &Client,
    kinds: BTreeSet<BundledKind>,
) -> (BTreeSet<BundledKind>, Option<ClusterObjectsError>) {
    let versions: BTreeSet<_> = kinds.iter().map(|kind| &*kind.api_version).collect();
    let too_many =
        ClusterObjectsError::too_many("required API versions", versions.len(), MOST_VERSIONS);
    let mut unserved = BTreeSet::new();
    for version in versions.into_iter().take(MOST_VERSIONS) {
        if let Ok(listed) = resources(client, version).await {
            let of_version = kinds.iter().filter(|kind| kind.api_version == version);
            let missing = of_version.filter(|kind| listed.iter().all(|one| one.kind != kind.kind));
            unserved.extend(missing.cloned());
        }
    }
    (unserved, too_many)
}

/// Compares the CRDs of the bundles with the existing ones. Only one CRD at a time is in memory; of the others, only
/// their owners are kept.
async fn crds(
    client: &Client,
    mut contents: BundleContents,
    minor: u8,
) -> Result<(BundleContents, BTreeMap<String, Value>), ClusterObjectsError> {
    let names = contents.crd_names().into_iter().map(str::to_owned);
    let names: Vec<String> = names.collect();
    if let Some(error) = ClusterObjectsError::too_many("CRDs", names.len(), MOST_CRDS) {
        return Err(error);
    }
    let resource = ApiResource::erase::<CustomResourceDefinition>(&());
    let api: Api<WatchedObject> = Api::all_with(client.clone(), &resource);
    let mut crds = BTreeMap::new();
    for name in names {
        let found = api.get_opt(&name).await;
        let found = found.map_err(|error| ClusterObjectsError::of(crd_in_words(&name), &error))?;
        if let Some(crd) = found {
            let (of, compared) = (name.clone(), contents);
            // Comparing a large schema takes too long for a thread that serves.
            let compared = spawn_blocking(move || compare(compared, &of, &crd.content, minor));
            let marks;
            (contents, marks) = compared
                .await
                .map_err(|_| ClusterObjectsError::lost(&name))?;
            crds.insert(name, marks);
        }
    }
    Ok((contents, crds))
}

fn compare(
    mut contents: BundleContents,
    name: &str,
    crd: &Value,
    minor: u8,
) -> (BundleContents, Value) {
    contents.compare(name, crd, minor);
    (contents, owned(crd))
}

/// Returns the served resources of these kinds. Each API version is requested once.
async fn served(
    client: &Client,
    kinds: &BTreeSet<BundledKind>,
) -> Result<BTreeMap<BundledKind, APIResource>, ClusterObjectsError> {
    let versions: BTreeSet<_> = kinds.iter().map(|kind| &kind.api_version).collect();
    let too_many = ClusterObjectsError::too_many("API versions", versions.len(), MOST_VERSIONS);
    if let Some(error) = too_many {
        return Err(error);
    }
    let mut served = BTreeMap::new();
    for version in versions {
        let listed = resources(client, version).await;
        let listed = listed.map_err(|error| {
            ClusterObjectsError::of(format!("the kinds of {}", go::quote(version)), &error)
        })?;
        let listed = listed.into_iter();
        served.extend(listed.map(|one| (BundledKind::of(version, &one.kind), one)));
    }
    served.retain(|kind, _| kinds.contains(kind));
    Ok(served)
}

/// Returns the resources of an API version; none if it is not served. An invalid name is not put into a path, and
/// counts as not served.
async fn resources(client: &Client, api_version: &str) -> Result<Vec<APIResource>, kube::Error> {
    let listed = match api_version.split_once('/') {
        Some((group, version)) if is_subdomain(group) && is_subdomain(version) => {
            client.list_api_group_resources(api_version).await
        }
        None if is_subdomain(api_version) => client.list_core_api_resources(api_version).await,
        _ => return Ok(Vec::new()),
    };
    match listed {
        // Subresources such as `deployments/scale` have a kind too.
        Ok(listed) => Ok(listed
            .resources
            .into_iter()
            .filter(|one| !one.name.contains('/'))
            .collect()),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Returns the metadata of the existing objects, and the first fault. An object that the user may not read counts as
/// absent, because checking an edit must not need permission to read every kind in a bundle.
async fn others(
    client: &Client,
    made: &BTreeSet<RenderedObject>,
    served: &BTreeMap<BundledKind, APIResource>,
) -> (BTreeMap<RenderedObject, Value>, Option<ClusterObjectsError>) {
    let too_many = ClusterObjectsError::too_many("objects", made.len(), MOST_OBJECTS);
    let places = made.iter().take(MOST_OBJECTS);
    let places = places.filter_map(|object| ObjectPlace::of(object, served));
    let requests = places.map(|place| async move {
        let found = place.read(client).await;
        (place.object.clone(), found)
    });
    // Collected, because a future that keeps a closure over borrowed names across an await cannot be spawned as a task.
    gathered(requests.collect(), too_many).await
}

/// The location of an object in the API server.
struct ObjectPlace<'a> {
    object: &'a RenderedObject,
    name: &'a str,
    resource: &'a APIResource,
}

impl<'a> ObjectPlace<'a> {
    /// Returns the location of an object; none if its kind is not served or cannot be read, or if its name is invalid,
    /// because an invalid name is not put into a path.
    fn of(
        object: &'a RenderedObject,
        served: &'a BTreeMap<BundledKind, APIResource>,
    ) -> Option<Self> {
        let resource = served.get(&object.kind)?;
        let RenderedName::Whole(name) = &object.name else {
            return None;
        };
        let is_place = !resource.namespaced || is_subdomain(&object.namespace);
        let is_read = resource.verbs.iter().any(|verb| verb == "get");
        (is_subdomain(name) && is_place && is_read).then_some(Self {
            object,
            name,
            resource,
        })
    }

    async fn read(&self, client: &Client) -> Result<Option<Value>, ClusterObjectsError> {
        let found = self.api(client).get_metadata_opt(self.name).await;
        let kind = &self.object.kind.kind;
        metadata(found, || format!("{kind} {}", go::quote(self.name)))
    }

    fn api(&self, client: &Client) -> Api<DynamicObject> {
        let BundledKind { api_version, kind } = &self.object.kind;
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let kind = GroupVersionKind::gvk(group, version, kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, &self.resource.name);
        if self.resource.namespaced {
            Api::namespaced_with(client.clone(), &self.object.namespace, &resource)
        } else {
            Api::all_with(client.clone(), &resource)
        }
    }
}

/// The most objects that are requested one by one.
pub(crate) const MOST_OBJECTS: usize = 2000;

/// The number of concurrent requests.
const AT_ONCE: usize = 8;

/// The most CRDs that are requested one by one; packages have dozens.
const MOST_CRDS: usize = 1000;

/// The most API versions that are requested.
const MOST_VERSIONS: usize = 100;

#[cfg(test)]
mod tests;
