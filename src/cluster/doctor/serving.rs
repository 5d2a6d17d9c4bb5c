//! The path of a review: the Service, its endpoints, the Deployment, and a probe through all of them.

use std::time::Instant;

use http_body_util::BodyExt;
use hyper::header::{HeaderMap, WARNING};
use hyper::{Request, StatusCode};
use k8s_openapi::api::apps::v1::Deployment as Object;
use k8s_openapi::api::core::v1::{Container, PodSpec, Service as ServiceObject, ServicePort};
use k8s_openapi::api::discovery::v1::{Endpoint as EndpointObject, EndpointSlice};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::api::ListParams;
use kube::client::Body;
use kube::core::Status;
use kube::{Api, Client};

use crate::cluster::doctor::{need, unasked};
use crate::cluster::olm::flag_values;
use crate::foreign_text;
use olmguard_views::doctor::{
    ApiAnswer, Deployment, Endpoint, MissingAnswer, Names, Port, Service, probe,
};

/// The relevant settings of the Deployment.
#[derive(Debug, Default)]
pub(super) struct ServingDeployment {
    /// The replicas of the Deployment, if it exists.
    pub(super) counts: Option<Deployment>,
    /// The service account of its pods.
    pub(super) account: Option<String>,
    /// Whether the replicas maintain a self-managed CA.
    pub(super) is_self_managed: bool,
    /// The Secret of that CA, `[NAMESPACE/]NAME`, if a flag names one.
    pub(super) secret: Option<String>,
    /// Whether the replicas check the tokens of scrapers with API servers.
    pub(super) checks_tokens: bool,
    /// Whether the replicas ignore upgrade policies.
    pub(super) ignores_policies: bool,
    /// The namespace of OLM, from the flags of olmguard.
    pub(super) olm_namespace: Option<String>,
}

/// Reads the Service, if it exists.
pub(super) async fn service(
    client: &Client,
    names: &Names,
) -> Result<Option<Service>, MissingAnswer> {
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

/// Reads all endpoints of the Service, in the order of its slices.
pub(super) async fn endpoints(
    client: &Client,
    names: &Names,
) -> Result<Vec<Endpoint>, MissingAnswer> {
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
        // A dual-stack pod is in one slice per address family.
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
        // In this API, an unknown condition means ready.
        is_ready: ready.unwrap_or(true),
    }
}

/// Reads the Deployment.
pub(super) async fn deployment(
    client: &Client,
    names: &Names,
) -> Result<ServingDeployment, MissingAnswer> {
    let (namespace, name) = (&names.namespace, &names.deployment);
    let api: Api<Object> = Api::namespaced(client.clone(), namespace);
    let found = api.get_opt(name).await.map_err(|error| {
        let resource = "deployments.apps";
        unasked(need("get", resource, Some(namespace), Some(name)), &error)
    })?;
    Ok(found.map(read_deployment).unwrap_or_default())
}

fn read_deployment(object: Object) -> ServingDeployment {
    let (spec, status) = (
        object.spec.unwrap_or_default(),
        object.status.unwrap_or_default(),
    );
    let pod = spec.template.spec.unwrap_or_default();
    ServingDeployment {
        counts: Some(Deployment {
            wanted: spec.replicas.unwrap_or(1),
            ready: status.ready_replicas.unwrap_or(0),
            updated: status.updated_replicas.unwrap_or(0),
        }),
        is_self_managed: is_self_managed(&pod),
        secret: setting(&pod, "--tls-secret"),
        checks_tokens: setting(&pod, "--metrics-listen").is_some(),
        ignores_policies: is_set(&pod, "--ignore-policies"),
        olm_namespace: setting(&pod, "--olm-namespace"),
        account: pod.service_account_name,
    }
}

/// Whether a flag without a value is given, or its environment variable is true.
fn is_set(pod: &PodSpec, flag: &str) -> bool {
    let arguments = pod
        .containers
        .iter()
        .flat_map(|one| one.args.iter().flatten());
    let is_given = arguments.into_iter().any(|argument| argument == flag);
    is_given || setting(pod, flag).is_some_and(|value| value == "true")
}

/// Applies the rules of `serve`: flags for a self-managed certificate imply it, as `--certs` does.
fn is_self_managed(pod: &PodSpec) -> bool {
    match setting(pod, "--certs") {
        Some(source) => source == "self-managed",
        None if setting(pod, "--tls-cert").is_some() => false,
        None => ["--tls-secret", "--webhook-configuration"]
            .iter()
            .any(|flag| setting(pod, flag).is_some()),
    }
}

/// Returns the value of a flag of `serve`, from the arguments of a container or from its environment variable.
fn setting(pod: &PodSpec, flag: &str) -> Option<String> {
    pod.containers.iter().find_map(|container| {
        let values = flag_values(container, flag);
        let value = values.first().map(|value| (*value).to_owned());
        value.or_else(|| variable(container, flag))
    })
}

/// Returns the value of the environment variable, which is `OLMGUARD_A_B` for `--a-b`.
fn variable(container: &Container, flag: &str) -> Option<String> {
    let name = flag.trim_start_matches('-').to_uppercase();
    let twin = format!("OLMGUARD_{}", name.replace('-', "_"));
    let mut variables = container.env.iter().flatten();
    variables.find(|one| one.name == twin)?.value.clone()
}

// === A probe of the whole path: the dry run of a creation that must be denied, with its warnings ===

/// Sends the probe. Nothing is ever created, because the API server does not persist a dry run.
pub(super) async fn send_probe(client: &Client, names: &Names) -> Result<ApiAnswer, MissingAnswer> {
    let sent = send(client, names).await;
    sent.map_err(|error| unasked(probe::need(), &error))
}

async fn send(client: &Client, names: &Names) -> Result<ApiAnswer, kube::Error> {
    let body = probe::object(&names.namespace).to_string();
    let request = Request::post(PATH)
        .header(hyper::header::CONTENT_TYPE, "application/json")
        .body(Body::from(body.into_bytes()))
        .map_err(kube::Error::HttpError)?;
    let began = Instant::now();
    let answer = client.send(request).await?;
    let took = began.elapsed();
    let (parts, body) = answer.into_parts();
    let bytes = body.collect().await?.to_bytes();
    let status = status(parts.status, &bytes);
    Ok(ApiAnswer {
        code: parts.status.as_u16(),
        reason: status.reason,
        message: foreign_text::lines(&status.message),
        warnings: warnings(&parts.headers),
        took,
    })
}

/// Returns the status in an answer; empty if the answer is an object.
fn status(code: StatusCode, body: &[u8]) -> Status {
    if code.is_success() {
        return Status::default();
    }
    serde_json::from_slice(body).unwrap_or_else(|_| Status {
        message: String::from_utf8_lossy(body).into_owned(),
        ..Status::default()
    })
}

/// Parses values such as `299 - "text"`, in which backslashes escape quotes and backslashes.
///
/// Upstream: apimachinery, `pkg/util/net/http.go`, `NewWarningHeader`.
fn warnings(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(WARNING).into_iter();
    values
        .filter_map(|value| warning(&String::from_utf8_lossy(value.as_bytes())))
        .collect()
}

fn warning(value: &str) -> Option<String> {
    let (_, quoted) = value.split_once('"')?;
    let mut text = String::new();
    let mut rest = quoted.chars();
    loop {
        match rest.next()? {
            '"' => return Some(text),
            '\\' => text.push(rest.next()?),
            other => text.push(other),
        }
    }
}

const PATH: &str = "/apis/olm.operatorframework.io/v1/clusterextensions?dryRun=All";

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn found(args: &[&str], env: &Value) -> ServingDeployment {
        let container = json!({"name": "olmguard", "args": args, "env": env});
        let object = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {},
            "spec": {"selector": {}, "template": {"spec": {"containers": [container]}}},
        });
        read_deployment(serde_json::from_value(object).unwrap())
    }

    #[test]
    fn a_setting_is_a_flag_or_its_twin() {
        let twins = json!([
            {"name": "OLMGUARD_CERTS", "value": "self-managed"},
            {"name": "OLMGUARD_OLM_NAMESPACE", "value": "a"},
        ]);
        let none = json!([]);
        for (args, env, is_self_managed, namespace) in [
            (&["serve"][..], &none, false, None),
            (&["serve"], &twins, true, Some("a")),
            (
                &["--certs=self-managed", "--olm-namespace", "b"],
                &none,
                true,
                Some("b"),
            ),
            (
                &["--certs", "files", "--olm-namespace=b"],
                &twins,
                false,
                Some("b"),
            ),
            (
                &["--certs-other=self-managed", "--certs"],
                &none,
                false,
                None,
            ),
            (
                &["--certs-other=files", "--certs=self-managed"],
                &none,
                true,
                None,
            ),
            (&["--tls-secret=a/b"], &none, true, None),
            (&["--webhook-configuration", "a"], &none, true, None),
            (&["--certs=files", "--tls-secret=a"], &none, false, None),
        ] {
            let found = found(args, env);
            let said = (found.is_self_managed, found.olm_namespace.as_deref());
            assert_eq!(said, (is_self_managed, namespace), "{args:?}");
        }
    }

    #[test]
    fn tokens_are_checked_where_metrics_have_a_port_of_their_own() {
        let twin = json!([{"name": "OLMGUARD_METRICS_LISTEN", "value": "[::]:8443"}]);
        let none = json!([]);
        assert!(found(&["serve"], &twin).checks_tokens);
        assert!(found(&["--metrics-listen=[::]:8443"], &none).checks_tokens);
        assert!(!found(&["--ops-listen=[::]:8443"], &none).checks_tokens);
    }

    #[test]
    fn policies_are_ignored_where_a_flag_or_its_variable_says_so() {
        let twin = json!([{"name": "OLMGUARD_IGNORE_POLICIES", "value": "true"}]);
        let none = json!([]);
        assert!(found(&["serve"], &twin).ignores_policies);
        assert!(found(&["serve", "--ignore-policies"], &none).ignores_policies);
        assert!(!found(&["serve"], &none).ignores_policies);
    }

    #[test]
    fn a_deployment_that_says_nothing_wants_one_replica() {
        let counts = found(&[], &json!([])).counts.unwrap();
        let expected = Deployment {
            wanted: 1,
            ready: 0,
            updated: 0,
        };
        assert_eq!(counts, expected);
    }

    #[test]
    fn a_warning_is_what_stands_between_its_quotes() {
        for (value, expected) in [
            (r#"299 - "plain""#, Some("plain")),
            (
                r#"299 - "a \"b\" \\ c" "Wed, 21 Oct 2026 07:28:00 GMT""#,
                Some(r#"a "b" \ c"#),
            ),
            ("299 - plain", None),
            (r#"299 - "no end"#, None),
            (r#"299 - "no end\"#, None),
        ] {
            assert_eq!(warning(value).as_deref(), expected, "{value}");
        }
    }
}
