//! The part of kube-proxy and of the endpoint controller: the endpoints of a Service.
//!
//! A switch listens on the address that the API server gave the Service. It forwards each new connection to the next
//! pod that was ready at the last check, and the connection stays with that pod. Readiness is checked every [`PERIOD`],
//! so it is known late, as in a cluster. The ready pods are also written to an `EndpointSlice`.

mod path;

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Service as ServiceObject;
use kube::api::{Api, Patch, PatchParams};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{MissedTickBehavior, interval};

use crate::ask;
use path::carry;

/// The time between two checks of a pod's readiness.
const PERIOD: Duration = Duration::from_millis(100);

/// The ports of a pod for reviews and for its health.
pub(crate) const REVIEWS: u16 = 9443;
const OPS: u16 = 8080;

/// A task that is aborted when this is dropped.
#[derive(Debug)]
struct Task(JoinHandle<()>);

impl Task {
    fn of(future: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(tokio::spawn(future))
    }

    async fn end(&mut self) {
        self.0.abort();
        // Aborting the task is how it ends.
        let _aborted = (&mut self.0).await;
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A Service with endpoints. When it is dropped, its tasks end and its connections are cut.
#[derive(Debug)]
pub(crate) struct Service {
    /// The address on which it listens.
    pub(crate) address: SocketAddr,
    pods: Arc<Mutex<Vec<Endpoint>>>,
    turned_away: Arc<TurnedAway>,
    delay: watch::Sender<Duration>,
    switch: Task,
    follow: Task,
}

/// Counts of connections that reached no pod. A client sees them as closed by a pod.
#[derive(Debug, Default)]
struct TurnedAway {
    none_ready: AtomicUsize,
    refused_by_pod: AtomicUsize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Endpoint {
    name: String,
    pod: IpAddr,
    ready: bool,
}

impl Service {
    /// Listens on the addresses of the Service `name`, without any pod.
    pub(crate) async fn serve(client: &kube::Client, namespace: &str, name: &str) -> Result<Self> {
        let services: Api<ServiceObject> = Api::namespaced(client.clone(), namespace);
        let object = services.get(name).await?;
        let address: IpAddr = object
            .spec
            .and_then(|spec| spec.cluster_ip)
            .context("a Service has an address")?
            .parse()?;
        let address = SocketAddr::new(address, 443);
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| address.to_string())?;
        let pods = Arc::<Mutex<Vec<Endpoint>>>::default();
        let follow = follow(
            client.clone(),
            namespace.to_owned(),
            name.to_owned(),
            pods.clone(),
        );
        let (delay, delayed) = watch::channel(Duration::ZERO);
        let turned_away = Arc::<TurnedAway>::default();
        let switch = switch(listener, pods.clone(), delayed, turned_away.clone());
        Ok(Self {
            address,
            delay,
            switch: Task::of(switch),
            follow: Task::of(follow),
            pods,
            turned_away,
        })
    }

    /// Adds a pod, which gets connections once it is ready.
    pub(crate) fn add(&self, name: &str, pod: IpAddr) {
        let name = name.to_owned();
        locked(&self.pods).push(Endpoint {
            name,
            pod,
            ready: false,
        });
    }

    /// Removes a pod.
    pub(crate) fn remove(&self, pod: IpAddr) {
        locked(&self.pods).retain(|endpoint| endpoint.pod != pod);
    }

    /// Delays all traffic with pods by this time in each direction.
    pub(crate) fn is_delayed(&self, delay: Duration) {
        self.delay.send_replace(delay);
    }

    /// Stops listening, so clients are refused.
    pub(crate) async fn close(&mut self) {
        self.switch.end().await;
    }

    /// Stops checking pods: those that are ready remain so.
    pub(crate) async fn look_away(&mut self) {
        self.follow.end().await;
    }

    /// Describes how many connections reached no pod, which is a reason for failed calls.
    pub(crate) fn turned_away(&self) -> String {
        let TurnedAway {
            none_ready,
            refused_by_pod,
        } = &*self.turned_away;
        format!(
            "connections that the Service turned away: {none_ready:?} without a ready pod, {refused_by_pod:?} refused by a pod"
        )
    }

    /// Whether new connections are forwarded to this pod.
    pub(crate) fn leads_to(&self, pod: IpAddr) -> bool {
        let pods = locked(&self.pods);
        pods.iter()
            .any(|endpoint| endpoint.pod == pod && endpoint.ready)
    }
}

fn locked(pods: &Mutex<Vec<Endpoint>>) -> std::sync::MutexGuard<'_, Vec<Endpoint>> {
    pods.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn switch(
    listener: TcpListener,
    pods: Arc<Mutex<Vec<Endpoint>>>,
    delay: watch::Receiver<Duration>,
    turned_away: Arc<TurnedAway>,
) {
    let next = AtomicUsize::new(0);
    let mut connections = JoinSet::new();
    while let Ok((from, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        // Without a ready pod, a client is refused, as iptables' REJECT does.
        let Some(pod) = ready(&pods, next.fetch_add(1, Ordering::Relaxed)) else {
            turned_away.none_ready.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        let (delay, turned_away) = (delay.clone(), turned_away.clone());
        connections.spawn(async move {
            let Ok(to) = TcpStream::connect((pod, REVIEWS)).await else {
                turned_away.refused_by_pod.fetch_add(1, Ordering::Relaxed);
                return;
            };
            // Packets must not wait for the acknowledgement of earlier ones, as in a cluster.
            let _slower = from.set_nodelay(true).and_then(|()| to.set_nodelay(true));
            // Either side can close the connection at any time.
            let _ended = carry(from, to, &delay).await;
        });
    }
}

fn ready(pods: &Mutex<Vec<Endpoint>>, turn: usize) -> Option<IpAddr> {
    let pods = locked(pods);
    let ready: Vec<IpAddr> = pods
        .iter()
        .filter(|endpoint| endpoint.ready)
        .map(|endpoint| endpoint.pod)
        .collect();
    ready.get(turn.checked_rem(ready.len())?).copied()
}

async fn follow(
    client: kube::Client,
    namespace: String,
    name: String,
    pods: Arc<Mutex<Vec<Endpoint>>>,
) {
    let mut pace = interval(PERIOD);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut told = Vec::new();
    loop {
        pace.tick().await;
        probe(&pods).await;
        let now = locked(&pods).clone();
        if now != told && write(&client, &namespace, &name, &now).await.is_ok() {
            told = now;
        }
    }
}

async fn probe(pods: &Mutex<Vec<Endpoint>>) {
    let asked = locked(pods).clone();
    for Endpoint { pod, .. } in asked {
        let answer = ask::get(SocketAddr::new(pod, OPS), "/readyz").await;
        let ready = answer.is_ok_and(|(status, _)| status == 200);
        for endpoint in locked(pods)
            .iter_mut()
            .filter(|endpoint| endpoint.pod == pod)
        {
            endpoint.ready = ready;
        }
    }
}

async fn write(
    client: &kube::Client,
    namespace: &str,
    name: &str,
    pods: &[Endpoint],
) -> Result<()> {
    let endpoints = pods.iter().map(|endpoint| {
        json!({
            "addresses": [endpoint.pod],
            "conditions": { "ready": endpoint.ready },
            "targetRef": { "kind": "Pod", "name": endpoint.name, "namespace": namespace },
        })
    });
    let endpoints: Vec<_> = endpoints.collect();
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": { "name": name, "labels": { "kubernetes.io/service-name": name } },
        "addressType": "IPv4",
        "endpoints": endpoints,
        "ports": [
            { "name": "https", "port": REVIEWS, "protocol": "TCP" },
            { "name": "ops", "port": OPS, "protocol": "TCP" },
        ],
    });
    let slices: Api<k8s_openapi::api::discovery::v1::EndpointSlice> =
        Api::namespaced(client.clone(), namespace);
    slices
        .patch(
            name,
            &PatchParams::apply("e2e").force(),
            &Patch::Apply(slice),
        )
        .await?;
    Ok(())
}
