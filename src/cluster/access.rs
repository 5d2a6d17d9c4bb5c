//! Access to the cluster: as kubectl finds it, or as the pod that this process runs in.
//!
//! ```text
//! --kubeconfig --> KUBECONFIG (files merged) --> ~/.kube/config --> service account of the pod
//!                                            ^-- a server in a pod tries that first
//! ```
//!
//! Upstream: client-go, [`tools/clientcmd/loader.go`]. Credential plugins that a kubeconfig names are run as kubectl
//! runs them. If nothing is found, that is an error; kubectl would connect to localhost:8080 instead.
//!
//! [`tools/clientcmd/loader.go`]: https://github.com/kubernetes/client-go/blob/v0.36.2/tools/clientcmd/loader.go

mod error;
mod proxies;
#[cfg(test)]
mod tests;

pub use error::ConnectError;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hyper::Uri;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};

use proxies::{Proxies, retrying_client};

/// The cluster to use, as the user specified it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Access {
    /// The kubeconfig, if the user named one.
    pub kubeconfig: Option<PathBuf>,
    /// The context in it, if not its current one.
    pub context: Option<String>,
}

/// The caller.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Caller {
    /// A server. In a pod, if no kubeconfig is named, it uses its own cluster. It waits and retries on its own.
    Server,
    /// A command that a person or a pipeline runs, in a pod or not. A request that the API server is too busy for is
    /// repeated a few times.
    Command,
}

/// A cluster that can be accessed.
#[derive(Clone, derive_more::Debug)]
#[debug("Cluster {{ namespace: {namespace:?}, words: {words:?}, .. }}")]
pub struct Cluster {
    /// The client of its API server.
    pub client: Client,
    /// The namespace of the context, or of the pod.
    pub namespace: String,
    /// A description of the cluster and of how it was found, in one line.
    pub words: String,
}

/// Finds the cluster, without checking whether it answers.
pub async fn connect(access: &Access, caller: Caller) -> Result<Cluster, ConnectError> {
    let access = access.clone();
    // Reading files blocks, and a plugin may ask the user for a password.
    let connecting = tokio::task::spawn_blocking(move || {
        let place = find_place(&access, caller, &Surroundings::here())?;
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
    let (config, words) = load_config(place, context, &Proxies::here())?;
    let config = tuned(config);
    let namespace = config.default_namespace.trim().to_owned();
    let words = format!("{words}, {}", address(&config.cluster_url));
    let client = Client::try_from(config).map_err(|error| error::unusable(place, &error))?;
    let client = match caller {
        Caller::Server => client,
        Caller::Command => retrying_client(client),
    };
    Ok(Cluster {
        client,
        namespace,
        words,
    })
}

/// Formats a URL without the user name and password that it may contain.
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
        // kube loads the CA certificates of the system even if none is used, and fails if there are none.
        config.root_cert = Some(Vec::new());
    }
    config
}

const CONNECT: Duration = Duration::from_secs(10);

const WRITE: Duration = Duration::from_secs(30);

/// The longest silence on a connection; the server ends a watch earlier.
const SILENCE: Duration = Duration::from_secs(150);

// === The location of the configuration: files, or the service account of the pod ===

/// The environment of this process, as far as it can identify a cluster.
#[derive(Clone, Debug, Default)]
struct Surroundings {
    kubeconfig: Option<OsString>,
    home: Option<PathBuf>,
    /// Whether the process runs in a pod with a service account.
    is_in_pod: bool,
}

/// The location of the configuration.
#[derive(Clone, Debug, derive_more::Display, Eq, PartialEq)]
enum KubeconfigPlace {
    /// One kubeconfig, or several that are merged.
    #[display("kubeconfig {}", list(_0))]
    Files(Vec<PathBuf>),
    #[display("the service account of this pod")]
    Pod,
}

impl Surroundings {
    fn here() -> Self {
        Self {
            kubeconfig: env::var_os(KUBECONFIG),
            home: env::home_dir(),
            is_in_pod: env::var_os(SERVICE_HOST).is_some() && Path::new(TOKEN).exists(),
        }
    }

    /// Returns the files in the environment variable; empty names are ignored.
    fn listed(&self) -> Vec<PathBuf> {
        let list = self.kubeconfig.clone().unwrap_or_default();
        let paths = env::split_paths(&list);
        paths.filter(|path| !path.as_os_str().is_empty()).collect()
    }

    fn in_home(&self) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(".kube/config"))
    }
}

/// Returns the first location that exists.
fn find_place(
    access: &Access,
    caller: Caller,
    around: &Surroundings,
) -> Result<KubeconfigPlace, ConnectError> {
    if let Some(path) = &access.kubeconfig {
        return files(std::slice::from_ref(path), "--kubeconfig");
    }
    let listed = around.listed();
    if !listed.is_empty() {
        return files(&listed, KUBECONFIG);
    }
    let own = around.is_in_pod && access.context.is_none();
    if own && caller == Caller::Server {
        return Ok(KubeconfigPlace::Pod);
    }
    let home = around.in_home();
    if let Some(path) = home.clone().filter(|path| path.exists()) {
        return Ok(KubeconfigPlace::Files(vec![path]));
    }
    if own {
        return Ok(KubeconfigPlace::Pod);
    }
    let home = home.unwrap_or_else(|| PathBuf::from("~/.kube/config"));
    Err(match &access.context {
        Some(context) if around.is_in_pod => ConnectError::NoKubeconfig {
            context: context.clone(),
            home,
        },
        _ => ConnectError::NothingFound { home },
    })
}

/// Ignores missing files if others exist, as kubectl does.
fn files(paths: &[PathBuf], named_by: &'static str) -> Result<KubeconfigPlace, ConnectError> {
    let there: Vec<_> = paths.iter().filter(|path| path.exists()).cloned().collect();
    if there.is_empty() {
        let files = list(paths);
        return Err(ConnectError::Missing { files, named_by });
    }
    Ok(KubeconfigPlace::Files(there))
}

fn list(paths: &[PathBuf]) -> String {
    let paths = paths.iter().map(|path| path.display().to_string());
    paths.collect::<Vec<_>>().join(", ")
}

const KUBECONFIG: &str = "KUBECONFIG";

const SERVICE_HOST: &str = "KUBERNETES_SERVICE_HOST";

/// The path of the token in every pod with a service account.
const TOKEN: &str = "/var/run/secrets/kubernetes.io/serviceaccount/token";

// === The configuration at that location, for kube ===

/// Returns the configuration, and a description of its origin.
fn load_config(
    place: &KubeconfigPlace,
    context: Option<&str>,
    proxies: &Proxies,
) -> Result<(Config, String), ConnectError> {
    match place {
        KubeconfigPlace::Pod => {
            let config = Config::incluster().map_err(|error| ConnectError::Pod {
                why: error.to_string(),
            })?;
            Ok((config, place.to_string()))
        }
        KubeconfigPlace::Files(files) => {
            let whole = merged(files)?;
            let context = context_of(&whole, files, context)?;
            let words = format!("{place}, context {context:?}");
            Ok((of_context(whole, context, place, proxies)?, words))
        }
    }
}

fn merged(files: &[PathBuf]) -> Result<Kubeconfig, ConnectError> {
    let mut whole = Kubeconfig::default();
    for path in files {
        let next = read(path)?;
        let merged = whole.merge(next);
        whole = merged.map_err(|_| ConnectError::Kinds { files: list(files) })?;
    }
    Ok(whole)
}

fn read(path: &Path) -> Result<Kubeconfig, ConnectError> {
    let mut read = Kubeconfig::read_from(path).map_err(|error| error::unreadable(path, error))?;
    // An empty name counts as none; another file may have one.
    read.current_context = read.current_context.filter(|context| !context.is_empty());
    Ok(read)
}

fn context_of(
    whole: &Kubeconfig,
    files: &[PathBuf],
    asked: Option<&str>,
) -> Result<String, ConnectError> {
    let mut known: Vec<_> = whole.contexts.iter().map(|c| c.name.as_str()).collect();
    known.sort_unstable();
    let known = known.join(", ");
    let files = list(files);
    let Some(context) = asked.or(whole.current_context.as_deref()) else {
        return Err(ConnectError::NoContext { files, known });
    };
    let is_asked = |named: &kube::config::NamedContext| named.name == context;
    if !whole.contexts.iter().any(is_asked) {
        let context = context.to_owned();
        return Err(ConnectError::UnknownContext {
            files,
            context,
            known,
        });
    }
    Ok(context.to_owned())
}

fn of_context(
    whole: Kubeconfig,
    context: String,
    place: &KubeconfigPlace,
    proxies: &Proxies,
) -> Result<Config, ConnectError> {
    let unusable = |error: KubeconfigError| error::unusable(place, &error.into());
    let proxy = own_proxy(&whole, &context);
    let mut config = read_context(whole, context).map_err(unusable)?;
    let proxy = match proxy {
        Some(proxy) => proxy.parse().map(Some),
        None => proxies.to(&config.cluster_url),
    };
    config.proxy_url = proxy.map_err(|error| unusable(KubeconfigError::ParseProxyUrl(error)))?;
    config.default_namespace = match config.default_namespace.trim() {
        "" => "default".to_owned(),
        namespace => namespace.to_owned(),
    };
    Ok(config)
}

/// Returns the proxy that the cluster of a context names; it takes precedence over the environment.
fn own_proxy(whole: &Kubeconfig, context: &str) -> Option<String> {
    let mut contexts = whole.contexts.iter();
    let context = contexts.find(|named| named.name == context)?;
    let cluster = &context.context.as_ref()?.cluster;
    let mut clusters = whole.clusters.iter();
    let cluster = clusters.find(|named| named.name == *cluster)?;
    let proxy = cluster.cluster.as_ref()?.proxy_url.clone();
    proxy.filter(|proxy| !proxy.is_empty())
}

fn read_context(whole: Kubeconfig, context: String) -> Result<Config, KubeconfigError> {
    let options = KubeConfigOptions {
        context: Some(context),
        ..KubeConfigOptions::default()
    };
    // The function is async for historical reasons and never waits.
    let config =
        futures_util::FutureExt::now_or_never(Config::from_custom_kubeconfig(whole, &options));
    config.unwrap_or(Err(KubeconfigError::CurrentContextNotSet))
}
