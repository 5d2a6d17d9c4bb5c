//! etcd for a temporary cluster, so it is killed and never shut down.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::assets;
use crate::program::Program;

use super::apiserver::free_port;

/// A running etcd with a single member.
#[derive(Debug)]
pub(crate) struct Etcd {
    dir: PathBuf,
    /// The port for the API server.
    pub(crate) port: u16,
    url: String,
    peers: String,
    program: Program,
}

impl Etcd {
    /// Starts etcd with its data in `dir`. Its readiness shows in that of the API server.
    pub(super) fn start(dir: &Path) -> Result<Self> {
        let port = free_port()?;
        let url = format!("http://127.0.0.1:{port}");
        let peers = format!("http://127.0.0.1:{}", free_port()?);
        let program = spawn(dir, &url, &peers)?;
        Ok(Self {
            dir: dir.to_owned(),
            port,
            url,
            peers,
            program,
        })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Kills it, but keeps its data.
    pub(crate) async fn stop(&mut self) -> Result<()> {
        self.program.kill().await
    }

    /// Starts it again with its data.
    pub(crate) fn start_again(&mut self) -> Result<()> {
        self.program = spawn(&self.dir, &self.url, &self.peers)?;
        Ok(())
    }
}

fn spawn(dir: &Path, url: &str, peers: &str) -> Result<Program> {
    let mut command = Command::new(assets::program("etcd")?);
    command.arg("--data-dir").arg(dir.join("etcd"));
    command.args(["--name=e2e", "--log-level=warn", "--unsafe-no-fsync"]);
    command.args([
        format!("--listen-client-urls={url}"),
        format!("--advertise-client-urls={url}"),
    ]);
    command.args([
        format!("--listen-peer-urls={peers}"),
        format!("--initial-advertise-peer-urls={peers}"),
    ]);
    command.arg(format!("--initial-cluster=e2e={peers}"));
    Program::start(dir, "etcd", command)
}
