//! What is written there, as kube's configuration.

use std::path::Path;

use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};

use super::error::{self, ConnectError};
use super::find::{Files, KubeconfigPlace};
use super::proxies::Proxies;

/// The configuration, and in words where it is from.
pub(super) fn config(
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

fn merged(files: &Files) -> Result<Kubeconfig, ConnectError> {
    let mut whole = Kubeconfig::default();
    for path in &files.paths {
        let next = read(path)?;
        whole = whole.merge(next).map_err(|_| ConnectError::Kinds {
            files: files.list(),
        })?;
    }
    Ok(whole)
}

fn read(path: &Path) -> Result<Kubeconfig, ConnectError> {
    let mut read = Kubeconfig::read_from(path).map_err(|error| error::unreadable(path, error))?;
    // An empty one is none, which another file may have.
    read.current_context = read.current_context.filter(|context| !context.is_empty());
    Ok(read)
}

fn context_of(
    whole: &Kubeconfig,
    files: &Files,
    asked: Option<&str>,
) -> Result<String, ConnectError> {
    let mut known: Vec<_> = whole.contexts.iter().map(|c| c.name.as_str()).collect();
    known.sort_unstable();
    let known = known.join(", ");
    let files = files.list();
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

/// The proxy that the cluster of a context names, whatever the environment says.
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
    // It is async for historical reasons and never waits.
    let config =
        futures_util::FutureExt::now_or_never(Config::from_custom_kubeconfig(whole, &options));
    config.unwrap_or(Err(KubeconfigError::CurrentContextNotSet))
}
