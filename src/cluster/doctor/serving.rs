//! Who is there to be asked: the Service, what is behind it, and the Deployment.

use k8s_openapi::api::apps::v1::Deployment as Object;
use k8s_openapi::api::core::v1::{Container, PodSpec, Service as ServiceObject, ServicePort};
use k8s_openapi::api::discovery::v1::{Endpoint as EndpointObject, EndpointSlice};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::api::ListParams;
use kube::{Api, Client};

use crate::cluster::doctor::{need, unasked};
use crate::doctor::{Deployment, Endpoint, Names, Port, Service, Unasked};

/// What a Deployment says that matters here.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Its replicas, if it is there.
    pub(super) counts: Option<Deployment>,
    /// The service account of its pods.
    pub(super) account: Option<String>,
    /// Whether the replicas keep a certificate authority of their own; unknown where nothing says so.
    pub(super) is_self_managed: bool,
}

/// The Service, if there is one.
pub(super) async fn service(client: &Client, names: &Names) -> Result<Option<Service>, Unasked> {
    let (namespace, name) = (&names.namespace, &names.service);
    let api: Api<ServiceObject> = Api::namespaced(client.clone(), namespace);
    let found = api
        .get_opt(name)
        .await
        .map_err(|error| unasked(need("get", "services", Some(namespace), Some(name)), &error))?;
    Ok(found.map(|found| {
        let spec = found.spec.unwrap_or_default();
        Service {
            kind: spec.type_.unwrap_or_else(|| "ClusterIP".to_owned()),
            ports: spec.ports.iter().flatten().map(port).collect(),
        }
    }))
}

fn port(port: &ServicePort) -> Port {
    let target = match &port.target_port {
        Some(IntOrString::String(name)) => name.clone(),
        Some(IntOrString::Int(number)) => number.to_string(),
        None => port.port.to_string(),
    };
    Port {
        number: port.port,
        target,
    }
}

/// Everything behind the Service, in the order of its slices.
pub(super) async fn endpoints(client: &Client, names: &Names) -> Result<Vec<Endpoint>, Unasked> {
    let namespace = &names.namespace;
    let api: Api<EndpointSlice> = Api::namespaced(client.clone(), namespace);
    let of = format!("kubernetes.io/service-name={}", names.service);
    let slices = api.list(&ListParams::default().labels(&of)).await;
    let slices = slices.map_err(|error| {
        let resource = "endpointslices.discovery.k8s.io";
        unasked(need("list", resource, Some(namespace), None), &error)
    })?;
    let mut endpoints: Vec<Endpoint> = Vec::new();
    for endpoint in slices.iter().flat_map(|slice| &slice.endpoints) {
        let endpoint = read(endpoint);
        // A pod of two families has a slice of each.
        let is_known = |one: &Endpoint| one.pod.is_some() && one.pod == endpoint.pod;
        if !endpoints.iter().any(is_known) {
            endpoints.push(endpoint);
        }
    }
    Ok(endpoints)
}

fn read(endpoint: &EndpointObject) -> Endpoint {
    let pod = endpoint.target_ref.as_ref();
    let pod = pod.filter(|target| target.kind.as_deref() == Some("Pod"));
    let ready = endpoint.conditions.as_ref().and_then(|all| all.ready);
    Endpoint {
        address: endpoint.addresses.first().cloned().unwrap_or_default(),
        pod: pod.and_then(|pod| pod.name.clone()),
        // Unknown is ready: that is how the API has it.
        is_ready: ready.unwrap_or(true),
    }
}

/// The Deployment.
pub(super) async fn deployment(client: &Client, names: &Names) -> Result<Found, Unasked> {
    let (namespace, name) = (&names.namespace, &names.deployment);
    let api: Api<Object> = Api::namespaced(client.clone(), namespace);
    let found = api.get_opt(name).await.map_err(|error| {
        let resource = "deployments.apps";
        unasked(need("get", resource, Some(namespace), Some(name)), &error)
    })?;
    Ok(found.map(read_deployment).unwrap_or_default())
}

fn read_deployment(object: Object) -> Found {
    let (spec, status) = (
        object.spec.unwrap_or_default(),
        object.status.unwrap_or_default(),
    );
    let pod = spec.template.spec.unwrap_or_default();
    Found {
        counts: Some(Deployment {
            wanted: spec.replicas.unwrap_or(1),
            ready: status.ready_replicas.unwrap_or(0),
            updated: status.updated_replicas.unwrap_or(0),
        }),
        is_self_managed: is_self_managed(&pod),
        account: pod.service_account_name,
    }
}

/// By `--certs` of a container, in its arguments or its environment.
fn is_self_managed(pod: &PodSpec) -> bool {
    pod.containers.iter().any(says_so)
}

fn says_so(container: &Container) -> bool {
    let command = container.command.iter().flatten();
    let words: Vec<_> = command.chain(container.args.iter().flatten()).collect();
    let joined = words.iter().any(|word| *word == "--certs=self-managed");
    let apart = words
        .windows(2)
        .any(|pair| matches!(pair, [flag, value] if *flag == "--certs" && *value == SELF_MANAGED));
    let mut variables = container.env.iter().flatten();
    let twin = variables.any(|variable| {
        variable.name == "OLMGUARD_CERTS" && variable.value.as_deref() == Some(SELF_MANAGED)
    });
    joined || apart || twin
}

const SELF_MANAGED: &str = "self-managed";
