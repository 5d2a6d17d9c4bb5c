//! The part of the deployment controller: applies the shipped manifests and runs their pods.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::apps::v1::Deployment as DeploymentObject;
use kube::Api;
use kube::api::{Patch, PatchParams};
use rustix::process::Signal;
use serde_json::json;

use crate::assets;
use crate::cluster::Cluster;
use crate::namespace::POD_ADDRESSES;
use crate::pod::{Pod, Setting};
use crate::service::Service;
use crate::until::until;

/// The name of all objects in the manifests.
pub(crate) const NAME: &str = "olmguard";
pub(crate) const NAMESPACE: &str = "olmguard-system";

/// The `ConfigMap` with the CA certificates that the webhook trusts for catalogd.
const AUTHORITIES: &str = "olmguard-catalogd-ca";

/// The time for which a pod accepts connections after SIGTERM, unless a trial needs another one.
const SHUTDOWN_DELAY: &str = "1s";

/// The webhook as it is deployed.
pub(crate) struct Deployment {
    pub(crate) pods: Vec<Pod>,
    pub(crate) setting: Setting,
    pub(crate) service: Service,
    replicas: usize,
    dir: PathBuf,
    started: usize,
}

impl Deployment {
    /// Applies one of `deploy/rendered` and starts its pods, until all of them are ready. Everything that the manifests
    /// mount must exist.
    pub(crate) async fn up(cluster: &Cluster, manifest: &str) -> Result<Self> {
        Self::up_with(cluster, manifest, &[]).await
    }

    /// Like [`Deployment::up`], with variables in addition to those of the manifests.
    pub(crate) async fn up_with(
        cluster: &Cluster,
        manifest: &str,
        extra: &[(&str, &str)],
    ) -> Result<Self> {
        cluster.kubectl()?.apply(&rendered(manifest)?).await?;
        Self::start(cluster, extra).await
    }

    /// Like [`Deployment::up`], with pods that all start at the same time.
    pub(crate) async fn up_at_once(cluster: &Cluster, manifest: &str) -> Result<Self> {
        cluster.kubectl()?.apply(&rendered(manifest)?).await?;
        trust_catalogd(cluster).await?;
        let mut deployment = Self::found(cluster, &[]).await?;
        for _ in 0..deployment.replicas {
            deployment.add().await?;
            // A process has hardly started at this point.
            deployment.signal_newest(Signal::STOP)?;
        }
        for pod in &deployment.pods {
            pod.signal(Signal::CONT)?;
        }
        deployment.ready().await?;
        Ok(deployment)
    }

    fn signal_newest(&self, signal: Signal) -> Result<()> {
        let newest = self.pods.last().context("there is a pod")?;
        newest.signal(signal)
    }

    /// Starts the pods of manifests that have been applied already, until all are ready.
    pub(crate) async fn start(cluster: &Cluster, extra: &[(&str, &str)]) -> Result<Self> {
        trust_catalogd(cluster).await?;
        let mut deployment = Self::found(cluster, extra).await?;
        for _ in 0..deployment.replicas {
            deployment.add().await?;
        }
        deployment.ready().await?;
        Ok(deployment)
    }

    /// Reads the applied objects, without starting a pod.
    async fn found(cluster: &Cluster, extra: &[(&str, &str)]) -> Result<Self> {
        let api: Api<DeploymentObject> = Api::namespaced(cluster.client.clone(), NAMESPACE);
        let spec = api
            .get(NAME)
            .await?
            .spec
            .context("a deployment has a spec")?;
        let account = spec
            .template
            .spec
            .as_ref()
            .and_then(|pod| pod.service_account_name.as_deref());
        let kubeconfig = cluster
            .service_account(NAMESPACE, account.context("it has a service account")?)
            .await?;
        let mut environment = vec![(
            "OLMGUARD_SHUTDOWN_DELAY".to_owned(),
            SHUTDOWN_DELAY.to_owned(),
        )];
        environment.extend(
            extra
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        Ok(Self {
            pods: Vec::new(),
            setting: Setting {
                client: cluster.client.clone(),
                namespace: NAMESPACE.to_owned(),
                template: spec.template,
                kubeconfig,
                program: assets::guard()?,
                extra: environment,
            },
            service: Service::serve(&cluster.client, NAMESPACE, NAME).await?,
            replicas: usize::try_from(spec.replicas.unwrap_or(1))?,
            dir: cluster.dir().to_owned(),
            started: 0,
        })
    }

    /// Starts one more pod.
    pub(crate) async fn add(&mut self) -> Result<()> {
        let address = self.free_address()?;
        let name = format!("{NAME}-{}", self.started);
        self.started += 1;
        let pod = Pod::start(&self.dir, &name, address, &self.setting).await?;
        self.service.add(&name, address);
        self.pods.push(pod);
        Ok(())
    }

    /// Waits until the Service has every pod as an endpoint, and writes the Deployment's status.
    pub(crate) async fn ready(&self) -> Result<()> {
        let all = || {
            self.pods
                .iter()
                .all(|pod| self.service.leads_to(pod.address))
        };
        until("every pod to be ready", async || all().then_some(())).await?;
        self.tell().await
    }

    /// Writes the status, unless the Deployment was deleted before its pods.
    async fn tell(&self) -> Result<()> {
        match self.write_status().await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            written => Ok(written?),
        }
    }

    async fn write_status(&self) -> kube::Result<()> {
        let count = self.pods.len();
        let api: Api<DeploymentObject> = Api::namespaced(self.setting.client.clone(), NAMESPACE);
        let generation = api.get(NAME).await?.metadata.generation;
        let status = json!({ "status": {
            "observedGeneration": generation, "replicas": count, "updatedReplicas": count,
            "readyReplicas": count, "availableReplicas": count,
        }});
        api.patch_status(NAME, &PatchParams::default(), &Patch::Merge(status))
            .await?;
        Ok(())
    }

    /// Returns the number of reviews that its pods have answered.
    pub(crate) async fn reviews(&self) -> Result<f64> {
        let mut sum = 0.0;
        for pod in &self.pods {
            sum += pod.metric_sum("olmguard_requests_total", "").await?;
        }
        Ok(sum)
    }

    /// Restarts every pod, as `kubectl rollout restart` does with maxSurge 1 and maxUnavailable 0: one is deleted once
    /// another is ready. Only readiness decides where connections go.
    pub(crate) async fn restart(&mut self) -> Result<()> {
        for _ in 0..self.pods.len() {
            self.add().await?;
            self.ready().await?;
            self.remove_oldest().await?;
        }
        Ok(())
    }

    /// Deletes every pod.
    pub(crate) async fn down(&mut self) -> Result<()> {
        while !self.pods.is_empty() {
            self.remove_oldest().await?;
        }
        self.tell().await
    }

    /// Kills the oldest pod. The Service still uses it until its readiness has been checked.
    pub(crate) async fn kill_oldest(&mut self) -> Result<()> {
        self.kill(0).await
    }

    /// Kills the pod that holds the lease, like [`Deployment::kill_oldest`].
    pub(crate) async fn kill_holder(&mut self, holder: &str) -> Result<()> {
        let mut pods = self.pods.iter();
        let at = pods.position(|pod| pod.is_called(holder));
        self.kill(at.with_context(|| format!("{holder} is no pod"))?)
            .await
    }

    async fn kill(&mut self, at: usize) -> Result<()> {
        let pod = self.pods.remove(at);
        let address = pod.address;
        pod.kill().await?;
        until("the Service to notice", async || {
            (!self.service.leads_to(address)).then_some(())
        })
        .await?;
        self.service.remove(address);
        Ok(())
    }

    async fn remove_oldest(&mut self) -> Result<()> {
        let pod = self.pods.remove(0);
        let address = pod.address;
        let ended = pod.delete().await;
        self.service.remove(address);
        ended
    }

    fn free_address(&self) -> Result<IpAddr> {
        let addresses = POD_ADDRESSES.iter().map(|address| address.parse());
        let addresses = addresses.collect::<Result<Vec<IpAddr>, _>>()?;
        let taken = |address: &IpAddr| self.pods.iter().any(|pod| pod.address == *address);
        addresses
            .into_iter()
            .find(|address| !taken(address))
            .context("every pod address is taken")
    }
}

/// Writes the CA certificate of catalogd under the mounted key, as an administrator or OpenShift does in addition to
/// applying the manifests.
async fn trust_catalogd(cluster: &Cluster) -> Result<()> {
    let create = format!(
        "create configmap {AUTHORITIES} -n {NAMESPACE} --from-file={}={} --dry-run=client -o yaml",
        mounted_key(cluster).await?,
        cluster.pki.ca().display()
    );
    let kubectl = cluster.kubectl()?;
    let object = kubectl.run(&create, "").await?;
    kubectl.apply(&object).await?;
    Ok(())
}

/// Returns the key of [`AUTHORITIES`] that the Deployment mounts. If it mounts all keys, this is the one of the docs.
async fn mounted_key(cluster: &Cluster) -> Result<String> {
    let api: Api<DeploymentObject> = Api::namespaced(cluster.client.clone(), NAMESPACE);
    let pod = api
        .get(NAME)
        .await?
        .spec
        .and_then(|spec| spec.template.spec);
    let volumes = pod.and_then(|pod| pod.volumes).unwrap_or_default();
    let key = volumes
        .into_iter()
        .filter_map(|volume| volume.config_map)
        .filter(|source| source.name == AUTHORITIES)
        .find_map(|source| source.items?.into_iter().next())
        .map(|item| item.key);
    Ok(key.unwrap_or_else(|| "ca.crt".to_owned()))
}

/// Returns the `caBundle` by which the API server verifies the webhook, as PEM, or an empty text.
pub(crate) async fn bundle(client: &kube::Client) -> Result<String> {
    let configurations: Api<ValidatingWebhookConfiguration> = Api::all(client.clone());
    let webhooks = configurations.get(NAME).await?.webhooks;
    let webhook = webhooks.and_then(|webhooks| webhooks.into_iter().next());
    let bundle = webhook.context("it has a webhook")?.client_config.ca_bundle;
    Ok(String::from_utf8(
        bundle.map(|bytes| bytes.0).unwrap_or_default(),
    )?)
}

/// Returns one of the shipped manifests, such as `hardened-self-managed`.
pub(crate) fn rendered(name: &str) -> Result<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../deploy/rendered")
        .join(format!("{name}.yaml"));
    fs::read_to_string(&path).with_context(|| path.display().to_string())
}
