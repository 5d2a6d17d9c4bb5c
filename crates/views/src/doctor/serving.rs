//! Whether there is somebody to ask: the Service, what is behind it, and the Deployment.

use crate::doctor::facts::{Deployment, DoctorFacts, Endpoint, Service};
use crate::doctor::finding::{Check, Finding};

pub(super) fn findings(facts: &DoctorFacts) -> Vec<Finding> {
    vec![service(facts), endpoints(facts), deployment(facts)]
}

fn service(facts: &DoctorFacts) -> Finding {
    let check = Check::Service;
    let place = place(facts, &facts.names.service);
    match &facts.service {
        Err(unasked) => check.unasked(unasked),
        Ok(None) => check
            .fail(format!("Service {place} does not exist"))
            .since("API servers reach olmguard only through this Service")
            .run(format!("kubectl get services -n {}", facts.names.namespace)),
        Ok(Some(service)) => ports(facts, &place, service),
    }
}

/// Whether it has the port that API servers ask.
fn ports(facts: &DoctorFacts, place: &str, service: &Service) -> Finding {
    let asked = asked_port(facts);
    let listed = |ports: Vec<String>| match ports.as_slice() {
        [] => "no port".to_owned(),
        [port] => format!("port {port}"),
        ports => format!("ports {}", ports.join(", ")),
    };
    let all = service.ports.iter().map(|port| port.number.to_string());
    let all = listed(all.collect());
    match service.ports.iter().find(|port| Some(port.number) == asked) {
        Some(port) => Check::Service.ok(format!(
            "{place}, {}, port {} forwards to {}",
            service.kind, port.number, port.target
        )),
        None if asked.is_none() => {
            Check::Service.ok(format!("{place}, {}, with {all}", service.kind))
        }
        None => Check::Service
            .fail(format!(
                "{place} has {all}, but API servers call port {}",
                asked.unwrap_or_default()
            ))
            .since(
                "clientConfig.service.port of the webhook names a port that the Service does not \
                 have",
            )
            .run(format!(
                "kubectl get service {} -n {} -o yaml",
                facts.names.service, facts.names.namespace
            )),
    }
}

fn asked_port(facts: &DoctorFacts) -> Option<i32> {
    facts.webhook()?.port
}

fn endpoints(facts: &DoctorFacts) -> Finding {
    let check = Check::Endpoints;
    let endpoints = match &facts.endpoints {
        Err(unasked) => return check.unasked(unasked),
        Ok(endpoints) => endpoints,
    };
    if is_external(facts) {
        return check.ok("none: a Service of type ExternalName has no endpoints");
    }
    let (ready, others): (Vec<_>, Vec<_>) = endpoints.iter().partition(|one| one.is_ready);
    let pods = format!(
        "kubectl get pods -n {} -l app.kubernetes.io/name=olmguard -o wide",
        facts.names.namespace
    );
    match (ready.as_slice(), others.as_slice()) {
        ([], []) => check
            .fail("the Service has no endpoints")
            .since("no pod matches its selector, or no matching pod has an address yet")
            .run(pods),
        ([], others) => check
            .fail(format!("no endpoint is ready: {}", names(others)))
            .since("API servers call only ready pods")
            .run(pods),
        (ready, []) => check.ok(format!("{} ready: {}", ready.len(), names(ready))),
        (ready, others) => check
            .warn(format!(
                "{} ready: {}; not ready: {}",
                ready.len(),
                names(ready),
                names(others)
            ))
            .since("API servers send edits only to the ready endpoints")
            .run(pods),
    }
}

fn is_external(facts: &DoctorFacts) -> bool {
    matches!(&facts.service, Ok(Some(service)) if service.kind == "ExternalName")
}

fn names(endpoints: &[&Endpoint]) -> String {
    let name = |one: &&Endpoint| match &one.pod {
        Some(pod) => format!("{pod} ({})", one.address),
        None => one.address.clone(),
    };
    endpoints.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn deployment(facts: &DoctorFacts) -> Finding {
    let check = Check::Deployment;
    let place = place(facts, &facts.names.deployment);
    let deployment = match &facts.deployment {
        Err(unasked) => return check.unasked(unasked),
        Ok(Some(deployment)) => deployment,
        Ok(None) => {
            let namespace = &facts.names.namespace;
            return check
                .warn(format!("Deployment {place} does not exist"))
                .since("if something other than a Deployment runs olmguard, the doctor does not check it")
                .run(format!("kubectl get deployments -n {namespace}"));
        }
    };
    replicas(facts, deployment)
}

/// Whether enough of the replicas are ready.
fn replicas(facts: &DoctorFacts, deployment: &Deployment) -> Finding {
    let check = Check::Deployment;
    let place = place(facts, &facts.names.deployment);
    let (name, namespace) = (&facts.names.deployment, &facts.names.namespace);
    let status = format!("kubectl rollout status deployment/{name} -n {namespace} --timeout=1s");
    let Deployment {
        wanted,
        ready,
        updated,
    } = *deployment;
    let counts = format!("{place}, {ready} of {wanted} ready");
    match (wanted, ready) {
        (0, _) => check
            .fail(format!("{place} is scaled to 0"))
            .since("no pod can answer API servers")
            .run(format!(
                "kubectl scale deployment/{name} -n {namespace} --replicas=2"
            )),
        (_, 0) => check
            .fail(counts)
            .since("no pod can answer API servers")
            .run(status),
        (wanted, ready) if ready < wanted => check
            .warn(counts)
            .since("the remaining replicas carry all requests")
            .run(status),
        (wanted, _) if updated < wanted => check
            .warn(format!("{counts}, {updated} of them up to date"))
            .since("a rollout is in progress, or stuck")
            .run(status),
        _ => check.ok(counts),
    }
}

fn place(facts: &DoctorFacts, name: &str) -> String {
    format!("{}/{name}", facts.names.namespace)
}
