//! The part of the kubelet: runs the template of a pod as a process on this machine.
//!
//! The Pod is a real object, so the admission of the API server applies (for example pod security). Its volumes are
//! directories, filled from their objects and replaced by the `..data` link. Its environment and arguments come from
//! the template, with the directories in place of the mount paths. Its token is that of its service account.

mod volumes;

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{Container, Pod as PodObject, PodSpec, PodTemplateSpec};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use rustix::process::Signal;
use serde_json::json;
use tokio::time::timeout;

use crate::ask;
use crate::program::Program;
use volumes::Volumes;

/// The settings that all pods of a deployment share.
#[derive(Clone)]
pub(crate) struct Setting {
    pub(crate) client: kube::Client,
    pub(crate) namespace: String,
    pub(crate) template: PodTemplateSpec,
    /// The kubeconfig with the token of the service account.
    pub(crate) kubeconfig: PathBuf,
    /// The program in the image.
    pub(crate) program: PathBuf,
    /// Variables in addition to those of the template, which they override.
    pub(crate) extra: Vec<(String, String)>,
}

/// A running pod, which is killed when this is dropped.
pub(crate) struct Pod {
    pub(crate) address: IpAddr,
    name: String,
    pods: Api<PodObject>,
    program: Program,
    volumes: Volumes,
    /// The time that a node waits after SIGTERM.
    grace: Duration,
}

impl Pod {
    /// Creates the object and starts the process, in `dir`.
    pub(crate) async fn start(
        dir: &Path,
        name: &str,
        address: IpAddr,
        setting: &Setting,
    ) -> Result<Self> {
        let pods: Api<PodObject> = Api::namespaced(setting.client.clone(), &setting.namespace);
        create(&pods, name, address, &setting.template).await?;
        let spec = setting
            .template
            .spec
            .as_ref()
            .context("a template has a spec")?;
        let container = spec.containers.first().context("a pod has a container")?;
        let volumes =
            Volumes::mount(&dir.join(name), &setting.client, &setting.namespace, spec).await?;
        let mut command = command(setting, container, &volumes, address);
        // A container has this variable.
        command.env("HOSTNAME", name);
        let program = Program::start(dir, name, command)?;
        Ok(Self {
            address,
            name: name.to_owned(),
            pods,
            program,
            volumes,
            grace: grace(spec)?,
        })
    }

    /// Updates its volumes, as the kubelet does once a minute.
    pub(crate) async fn refresh(&self) -> Result<()> {
        self.volumes.refresh().await
    }

    /// Returns the answer for a path on its second port.
    pub(crate) async fn ops(&self, path: &str) -> Result<(u16, String)> {
        ask::get(SocketAddr::new(self.address, OPS), path).await
    }

    /// Returns the sum of all samples of a metric whose labels contain `part`.
    pub(crate) async fn metric_sum(&self, name: &str, part: &str) -> Result<f64> {
        Ok(self.samples(name, part).await?.into_iter().sum())
    }

    /// Whether all watches of the pod are connected.
    pub(crate) async fn is_watching(&self) -> bool {
        let lowest = self.metric_lowest("olmguard_watch_connected").await;
        lowest.is_ok_and(|lowest| lowest >= 1.0)
    }

    /// Returns the lowest sample of a metric.
    pub(crate) async fn metric_lowest(&self, name: &str) -> Result<f64> {
        let samples = self.samples(name, "").await?;
        let lowest = samples.into_iter().min_by(f64::total_cmp);
        lowest.with_context(|| format!("{name} has no sample"))
    }

    async fn samples(&self, name: &str, part: &str) -> Result<Vec<f64>> {
        let (_, page) = self.ops("/metrics").await?;
        samples(&page, name, part)
    }

    /// Returns the directory on this machine for a directory of its container.
    pub(crate) fn folder(&self, mounted: &str) -> PathBuf {
        self.volumes.located(mounted).into()
    }

    /// Whether the pod has this name as the holder of a lease.
    pub(crate) fn is_called(&self, holder: &str) -> bool {
        let rest = holder.strip_prefix(&*self.name);
        rest.is_some_and(|rest| rest.starts_with('_'))
    }

    /// Returns its log so far.
    pub(crate) fn log(&self) -> String {
        self.program.log()
    }

    /// Returns the file of its running program.
    pub(crate) fn runs(&self) -> Result<PathBuf> {
        let process = self.program.id().context("it has ended")?;
        Ok(fs::read_link(format!("/proc/{process}/exe"))?)
    }

    /// Sends a signal to its process.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        self.program.signal(signal)
    }

    /// Kills the pod without a signal to end, as when a node dies.
    pub(crate) async fn kill(mut self) -> Result<()> {
        self.program.kill().await?;
        self.forget().await
    }

    /// Deletes the pod: after SIGTERM, it must end by itself and with success.
    pub(crate) async fn delete(mut self) -> Result<()> {
        self.program.signal(Signal::TERM)?;
        let status = timeout(self.grace, self.program.end()).await;
        let status = status.with_context(|| format!("a node would kill {} now", self.name))??;
        ensure!(status.success(), "{} ended with {status}", self.name);
        self.forget().await
    }

    async fn forget(&self) -> Result<()> {
        self.pods
            .delete(&self.name, &DeleteParams::default().grace_period(0))
            .await?;
        Ok(())
    }
}

/// Returns the samples of a metric on a page of metrics whose labels contain `part`.
pub(crate) fn samples(page: &str, name: &str, part: &str) -> Result<Vec<f64>> {
    let samples = page.lines().filter_map(|line| {
        let (labels, value) = line.strip_prefix(name)?.rsplit_once(' ')?;
        let is_of_metric = labels.is_empty() || labels.starts_with('{');
        (is_of_metric && labels.contains(part)).then_some(value)
    });
    samples.map(|value| Ok(value.parse()?)).collect()
}

pub(crate) const OPS: u16 = 8080;

fn grace(spec: &PodSpec) -> Result<Duration> {
    let seconds = spec.termination_grace_period_seconds.unwrap_or(30);
    Ok(Duration::from_secs(seconds.try_into()?))
}

async fn create(
    pods: &Api<PodObject>,
    name: &str,
    address: IpAddr,
    template: &PodTemplateSpec,
) -> Result<()> {
    let mut object = PodObject {
        metadata: template.metadata.clone().unwrap_or_default(),
        spec: template.spec.clone(),
        ..PodObject::default()
    };
    object.metadata.name = Some(name.to_owned());
    if let Some(spec) = &mut object.spec {
        spec.node_name = Some("e2e".to_owned());
        // There is no scheduler to read it, and its class may require additional rights.
        spec.service_account = spec.service_account_name.clone();
    }
    pods.create(&PostParams::default(), &object).await?;
    let status = json!({ "status": {
        "phase": "Running",
        "podIP": address,
        "podIPs": [{ "ip": address }],
        "conditions": [{ "type": "Ready", "status": "True" }],
    }});
    pods.patch_status(name, &PatchParams::default(), &Patch::Merge(status))
        .await?;
    Ok(())
}

fn command(
    setting: &Setting,
    container: &Container,
    volumes: &Volumes,
    address: IpAddr,
) -> Command {
    let mut command = Command::new(&setting.program);
    command.args(
        container
            .args
            .iter()
            .flatten()
            .map(|argument| volumes.located(argument)),
    );
    for variable in container.env.iter().flatten() {
        command.env(
            &variable.name,
            volumes.located(variable.value.as_deref().unwrap_or_default()),
        );
    }
    command.env("OLMGUARD_KUBECONFIG", &setting.kubeconfig);
    command.env("OLMGUARD_LISTEN", format!("{address}:9443"));
    command.env("OLMGUARD_OPS_LISTEN", format!("{address}:{OPS}"));
    command.envs(setting.extra.iter().map(|(name, value)| (name, value)));
    command
}
