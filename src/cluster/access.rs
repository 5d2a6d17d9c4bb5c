//! How the cluster is reached: as kubectl finds it, or as the pod that this runs in.
//!
//! ```text
//! --kubeconfig --> KUBECONFIG (files merged) --> ~/.kube/config --> service account of the pod
//!                                            ^-- a server in a pod asks for that first
//! ```
//!
//! Upstream: client-go, [`tools/clientcmd/loader.go`]; plugins that a kubeconfig names for credentials
//! are run as kubectl runs them. Unlike kubectl, which then talks to localhost:8080, nothing found is
//! an error.
//!
//! [`tools/clientcmd/loader.go`]: https://github.com/kubernetes/client-go/blob/v0.36.2/tools/clientcmd/loader.go

mod error;
mod find;
mod load;
mod proxies;
#[cfg(test)]
mod tests;
mod tries;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use hyper::Uri;
use kube::{Client, Config};

pub use error::ConnectError;

use find::{KubeconfigPlace, Surroundings};
use proxies::Proxies;

/// What was said about the cluster to use.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Access {
    /// The kubeconfig, if one was named.
    pub kubeconfig: Option<PathBuf>,
    /// The context in it, if not its current one.
    pub context: Option<String>,
}

/// Who asks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Caller {
    /// A server: in a pod, and where no kubeconfig is named, it is meant for its own cluster. It
    /// waits and asks again by itself.
    Server,
    /// A command of a person or a pipeline, in a pod or not. What the API server is too busy for
    /// is asked again, a few times.
    Command,
}

/// A cluster that can be talked to.
#[derive(Clone)]
pub struct Cluster {
    /// Talks to its API server.
    pub client: Client,
    /// The namespace of the context, or of the pod.
    pub namespace: String,
    /// Which one it is and how it was found, in words of one line.
    pub words: String,
}

/// Finds the cluster; whether anybody answers there is not asked.
pub async fn connect(access: &Access, caller: Caller) -> Result<Cluster, ConnectError> {
    let access = access.clone();
    // Files are read, and a plugin may ask a person for a password.
    let connecting = tokio::task::spawn_blocking(move || {
        let place = find::place(&access, caller, &Surroundings::here())?;
        cluster(&place, access.context.as_deref(), caller)
    });
    let lost = |error: tokio::task::JoinError| ConnectError::Interrupted(error.to_string());
    connecting.await.map_err(lost)?
}

fn cluster(
    place: &KubeconfigPlace,
    context: Option<&str>,
    caller: Caller,
) -> Result<Cluster, ConnectError> {
    let (config, words) = load::config(place, context, &Proxies::here())?;
    let config = tuned(config);
    let namespace = config.default_namespace.trim().to_owned();
    let words = format!("{words}, {}", address(&config.cluster_url));
    let client = Client::try_from(config).map_err(|error| error::unusable(place, &error))?;
    let client = match caller {
        Caller::Server => client,
        Caller::Command => tries::open(client),
    };
    Ok(Cluster {
        client,
        namespace,
        words,
    })
}

/// A URL without the name and password that may be in it.
fn address(url: &Uri) -> String {
    let authority = url.authority().map_or("", |authority| authority.as_str());
    match authority.rsplit_once('@') {
        Some((user, _)) => url.to_string().replacen(&format!("{user}@"), "", 1),
        None => url.to_string(),
    }
}

fn tuned(mut config: Config) -> Config {
    config.connect_timeout = Some(CONNECT);
    config.read_timeout = Some(SILENCE);
    config.write_timeout = Some(WRITE);
    config.reset_reader_on_write = true;
    config.default_retry = false;
    let needs_no_ca =
        config.accept_invalid_certs || config.cluster_url.scheme_str() == Some("http");
    if needs_no_ca && config.root_cert.is_none() {
        // kube asks for those of the system even where none is used, and there may be none.
        config.root_cert = Some(Vec::new());
    }
    config
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster")
            .field("namespace", &self.namespace)
            .field("words", &self.words)
            .finish_non_exhaustive()
    }
}

const CONNECT: Duration = Duration::from_secs(10);
const WRITE: Duration = Duration::from_secs(30);
/// No byte for so long is the end of a connection; a watch is ended by the server before.
const SILENCE: Duration = Duration::from_secs(150);
