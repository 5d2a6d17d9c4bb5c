//! kube-apiserver on loopback, with RBAC and an audit log of OLM's objects and of olmguard's requests.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU16, Ordering};

use anyhow::Result;

use crate::assets;
use crate::pki::Pki;
use crate::program::Program;

/// A running API server.
#[derive(Debug)]
pub(crate) struct ApiServer {
    dir: PathBuf,
    url: String,
    flags: Vec<String>,
    program: Program,
}

impl ApiServer {
    pub(super) fn start(dir: &Path, pki: &Pki, etcd: &str) -> Result<Self> {
        let port = free_port()?;
        fs::write(dir.join("audit-policy.yaml"), AUDIT_POLICY)?;
        let flags = flags(dir, pki, etcd, port)?;
        let program = spawn(dir, &flags)?;
        Ok(Self {
            dir: dir.to_owned(),
            url: format!("https://127.0.0.1:{port}"),
            flags,
            program,
        })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The log of every request for OLM's objects and of every request of olmguard, one per line.
    pub(crate) fn audit_log(&self) -> PathBuf {
        self.dir.join("audit.log")
    }

    /// Kills it and starts it again with the same data in etcd.
    pub(crate) async fn restart(&mut self) -> Result<()> {
        self.program.kill().await?;
        self.program = spawn(&self.dir, &self.flags)?;
        Ok(())
    }
}

fn spawn(dir: &Path, flags: &[String]) -> Result<Program> {
    let mut command = Command::new(assets::program("kube-apiserver")?);
    command.args(flags);
    Program::start(dir, "kube-apiserver", command)
}

/// Returns its flags. Without a default route it needs its own address, and the keys of service accounts have no
/// default.
fn flags(dir: &Path, pki: &Pki, etcd: &str, port: u16) -> Result<Vec<String>> {
    let serving = pki.server(
        "apiserver",
        &["127.0.0.1", "localhost", "kubernetes.default.svc"],
    )?;
    let tokens = pki.keys("tokens")?;
    let file = |flag: &str, path: &Path| format!("--{flag}={}", path.display());
    Ok(vec![
        format!("--etcd-servers={etcd}"),
        format!("--secure-port={port}"),
        "--bind-address=127.0.0.1".to_owned(),
        "--advertise-address=127.0.0.1".to_owned(),
        "--service-cluster-ip-range=127.96.0.0/24".to_owned(),
        "--endpoint-reconciler-type=none".to_owned(),
        "--authorization-mode=RBAC".to_owned(),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        file("client-ca-file", &pki.ca()),
        file("tls-cert-file", &serving.cert),
        file("tls-private-key-file", &serving.key),
        file("service-account-key-file", &tokens.cert),
        file("service-account-signing-key-file", &tokens.key),
        file("audit-policy-file", &dir.join("audit-policy.yaml")),
        file("audit-log-path", &dir.join("audit.log")),
    ])
}

/// Returns a free port below the ephemeral range of the kernel. A program that dials a port of that range before its
/// listener exists can connect to itself, and then the listener can never start.
pub(crate) fn free_port() -> Result<u16> {
    static NEXT: AtomicU16 = AtomicU16::new(20_000);
    let port = NEXT.fetch_add(1, Ordering::Relaxed);
    Ok(TcpListener::bind(("127.0.0.1", port))?.local_addr()?.port())
}

const AUDIT_POLICY: &str = "\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, resources: [{group: olm.operatorframework.io}]}
- {level: Metadata, users: [system:serviceaccount:olmguard-system:olmguard]}
- {level: None}
";
