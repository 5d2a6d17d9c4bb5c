//! catalogd, whose content is fetched from `https://localhost:PORT/catalogs/NAME/api/v1/all` or
//! from the name of a Service.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::SYSTEM;
use crate::assets;
use crate::cluster::Cluster;
use crate::cluster::apiserver::free_port;
use crate::program::Program;
use crate::until::until;

/// A running catalogd, or one that was killed.
#[derive(Debug)]
pub(crate) struct Catalogd {
    dir: PathBuf,
    flags: Vec<String>,
    health: u16,
    /// The port of the contents on every address.
    pub(crate) content: u16,
    program: Program,
}

/// The host in the status of catalogs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum External {
    /// `localhost`, with the port.
    Loopback,
    /// A Service in OLM's namespace, whose name cannot be resolved here.
    Service(&'static str),
    /// `localhost` with another port, where a gate forwards the content.
    Gate(u16),
}

impl External {
    fn address(self, content: u16) -> String {
        match self {
            Self::Loopback => format!("localhost:{content}"),
            Self::Gate(port) => format!("localhost:{port}"),
            Self::Service(name) => format!("{name}.{SYSTEM}.svc"),
        }
    }
}

impl Catalogd {
    /// Starts it and waits until it is ready.
    pub(super) async fn start(
        cluster: &Cluster,
        authorities: &Path,
        external: External,
    ) -> Result<Self> {
        let (health, content) = (free_port()?, free_port()?);
        let mut flags = flags(cluster, authorities, health)?;
        flags.push(format!("--catalogs-server-addr=:{content}"));
        flags.push(format!("--external-address={}", external.address(content)));
        let program = spawn(cluster.dir(), &flags)?;
        let catalogd = Self {
            dir: cluster.dir().to_owned(),
            flags,
            health,
            content,
            program,
        };
        catalogd.ready().await?;
        Ok(catalogd)
    }

    /// Kills it. The status of the catalogs still reports that they are served.
    pub(crate) async fn kill(&mut self) -> Result<()> {
        self.program.kill().await
    }

    /// Starts it again at the same address. It unpacks every catalog again.
    pub(crate) async fn start_again(&mut self) -> Result<()> {
        self.program = spawn(&self.dir, &self.flags)?;
        self.ready().await
    }

    async fn ready(&self) -> Result<()> {
        until("catalogd", async || {
            super::is_ready(self.health).await.then_some(())
        })
        .await
    }
}

/// Returns its flags. It empties its cache directory at the start, whose default is shared by the
/// machine.
fn flags(cluster: &Cluster, authorities: &Path, health: u16) -> Result<Vec<String>> {
    let serving = cluster
        .pki
        .server("catalogd", &["localhost", "127.0.0.1"])?;
    let path = |flag: &str, path: &Path| format!("--{flag}={}", path.display());
    Ok(vec![
        path("kubeconfig", cluster.admin()),
        path("cache-dir", &cluster.dir().join("catalogd-cache")),
        path("pull-cas-dir", authorities),
        path("tls-cert", &serving.cert),
        path("tls-key", &serving.key),
        format!("--system-namespace={SYSTEM}"),
        format!("--metrics-bind-address=127.0.0.1:{}", free_port()?),
        format!("--health-probe-bind-address=127.0.0.1:{health}"),
        format!("--webhook-server-port={}", free_port()?),
    ])
}

fn spawn(dir: &Path, flags: &[String]) -> Result<Program> {
    let mut command = Command::new(assets::program("catalogd")?);
    command.args(flags);
    Program::start(dir, "catalogd", command)
}
