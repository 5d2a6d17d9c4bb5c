//! A cluster: etcd, an API server with an audit log, OLM's definitions, and kubectl.
//!
//! It has no scheduler, kubelet or controller-manager: a trial that needs one plays its part. The addresses of Services
//! are in the loopback range (`127.96.0.0/24`), so that a process can listen on them.

pub(crate) mod apiserver;
pub(crate) mod audit;
mod etcd;
mod finalizer;
mod inventory;
mod report;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::api::{Api, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::assets;
use crate::kubeconfig::{self, Identity, Server};
use crate::kubectl::Kubectl;
use crate::pki::Pki;
use crate::until::until;
use apiserver::ApiServer;
use etcd::Etcd;

pub(crate) use report::report;

/// A running cluster. When it is dropped, its programs are killed and its directory is removed.
pub(crate) struct Cluster {
    pub(crate) etcd: Etcd,
    pub(crate) api: ApiServer,
    pub(crate) pki: Pki,
    /// A client of the API server with administrator rights.
    pub(crate) client: kube::Client,
    admin: PathBuf,
    dir: TempDir,
    _finalizer: JoinSet<()>,
}

impl Cluster {
    /// Starts a cluster and waits until it accepts `ClusterExtension`s.
    pub(crate) async fn start() -> Result<Self> {
        let dir = TempDir::with_prefix("olmguard-e2e-")?;
        let pki = Pki::new(dir.path(), "pki")?;
        let etcd = Etcd::start(dir.path())?;
        let api = ApiServer::start(dir.path(), &pki, etcd.url())?;
        let identity = pki.client("e2e-admin", ADMINISTRATORS)?;
        let server = Server {
            url: api.url(),
            ca: &pki.ca(),
        };
        let admin = kubeconfig::write(
            dir.path(),
            "admin",
            server,
            Identity::Certificate(&identity),
            "default",
        )?;
        let client = client(&admin).await?;
        let cluster = Self {
            etcd,
            api,
            pki,
            _finalizer: finalizer::start(client.clone()),
            client,
            admin,
            dir,
        };
        cluster.ready().await?;
        cluster.define().await?;
        Ok(cluster)
    }

    /// Waits until the API server is ready.
    pub(crate) async fn ready(&self) -> Result<()> {
        until("the API server", async || {
            is_ready(&self.client).await.then_some(())
        })
        .await
    }

    /// Returns the directory for the files of a trial and the logs of programs.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Returns kubectl of the built version, with administrator rights.
    pub(crate) fn kubectl(&self) -> Result<Kubectl> {
        Ok(Kubectl::new(
            assets::program("kubectl")?,
            self.admin.clone(),
            self.dir(),
        ))
    }

    /// Returns the administrator's kubeconfig.
    pub(crate) fn admin(&self) -> &Path {
        &self.admin
    }

    /// Returns a client with administrator rights and another user name.
    pub(crate) async fn administrator(&self, name: &str) -> Result<kube::Client> {
        client(&self.certified(name, ADMINISTRATORS)?).await
    }

    /// Returns a kubeconfig for this user and group, with a certificate.
    pub(crate) fn certified(&self, user: &str, group: &str) -> Result<PathBuf> {
        let identity = self.pki.client(user, group)?;
        let server = Server {
            url: self.api.url(),
            ca: &self.pki.ca(),
        };
        let identity = Identity::Certificate(&identity);
        kubeconfig::write(self.dir(), user, server, identity, "default")
    }

    /// Returns a kubeconfig with a token of a service account, like that of a pod.
    pub(crate) async fn service_account(&self, namespace: &str, name: &str) -> Result<PathBuf> {
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client.clone(), namespace);
        let request = TokenRequest {
            spec: TokenRequestSpec::default(),
            ..TokenRequest::default()
        };
        let answer = accounts
            .create_token_request(name, &PostParams::default(), &request)
            .await?;
        let token = answer
            .status
            .context("a token request is answered with a status")?
            .token;
        let server = Server {
            url: self.api.url(),
            ca: &self.pki.ca(),
        };
        kubeconfig::write(
            self.dir(),
            &format!("{namespace}-{name}"),
            server,
            Identity::Token(&token),
            namespace,
        )
    }

    /// Applies OLM's definitions and waits until they are served.
    async fn define(&self) -> Result<()> {
        let group = "olm.operatorframework.io";
        self.define_resources(&["clusterextensions", "clustercatalogs"], group)
            .await
    }

    /// Applies the definitions of these resources of a group, and waits until they are served.
    pub(crate) async fn define_resources(&self, resources: &[&str], group: &str) -> Result<()> {
        let kubectl = self.kubectl()?;
        let (mut apply, mut wait) = ("apply".to_owned(), ESTABLISHED.to_owned());
        for resource in resources {
            let file = assets::definition(resource, group)?;
            write!(apply, " -f {}", file.display())?;
            write!(wait, " crd/{resource}.{group}")?;
        }
        kubectl.run(&apply, "").await?;
        kubectl.run(&wait, "").await?;
        Ok(())
    }
}

const ESTABLISHED: &str = "wait --for=condition=Established --timeout=60s";

/// The group with all rights.
pub(crate) const ADMINISTRATORS: &str = "system:masters";

async fn client(kubeconfig: &Path) -> Result<kube::Client> {
    let file = Kubeconfig::read_from(kubeconfig)?;
    let config = kube::Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
    Ok(kube::Client::try_from(config)?)
}

async fn is_ready(client: &kube::Client) -> bool {
    let Ok(request) = http::Request::get("/readyz").body(Vec::new()) else {
        return false;
    };
    client
        .request_text(request)
        .await
        .is_ok_and(|body| body == "ok")
}
