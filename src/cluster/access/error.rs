//! Reasons why a cluster cannot be accessed.
//!
//! A kubeconfig contains credentials, so errors show only names and positions from it.

use std::io;
use std::path::{Path, PathBuf};

use kube::config::KubeconfigError;

use super::KubeconfigPlace;
use crate::cluster::fault_words;

/// The reason why the cluster cannot be accessed.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// No cluster is configured.
    #[error(
        "no cluster: --kubeconfig and KUBECONFIG are not set, {} does not exist, and this is not a \
         pod with a service account; give --kubeconfig FILE",
        home.display()
    )]
    NothingFound {
        /// The default location of a kubeconfig.
        home: PathBuf,
    },
    /// A context was requested in a pod, but there is no kubeconfig.
    #[error(
        "no kubeconfig for the context {context:?}: --kubeconfig and KUBECONFIG are not set, and \
         {} does not exist; give --kubeconfig FILE, or omit --context to use the service account \
         of this pod",
        home.display()
    )]
    NoKubeconfig {
        /// The requested context.
        context: String,
        /// The default location of a kubeconfig.
        home: PathBuf,
    },
    /// The named files do not exist.
    #[error(
        "kubeconfig {files}: no such file, named by {named_by}: expected the file that kubectl uses"
    )]
    Missing {
        /// The files.
        files: String,
        /// The flag or variable that names them.
        named_by: &'static str,
    },
    /// A file cannot be read.
    #[error("kubeconfig {}: cannot read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file is not a kubeconfig.
    #[error("kubeconfig {}:{line}:{column}: not a kubeconfig: expected YAML with clusters, users and contexts", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The column, counted from 1.
        column: u64,
    },
    /// Files that cannot be merged.
    #[error(
        "kubeconfig {files}: their apiVersion or kind differ: expected v1 and Config, or neither"
    )]
    Kinds {
        /// The files.
        files: String,
    },
    /// No context is the current one, and none was requested.
    #[error("kubeconfig {files}: no current-context: expected --context with one of: {known}")]
    NoContext {
        /// The files.
        files: String,
        /// The contexts in the kubeconfig.
        known: String,
    },
    /// No context has the requested name.
    #[error("kubeconfig {files}: no context {context:?}: expected one of: {known}")]
    UnknownContext {
        /// The files.
        files: String,
        /// The requested context.
        context: String,
        /// The contexts in the kubeconfig.
        known: String,
    },
    /// The configuration cannot be used.
    #[error("{place}: cannot be used: {why}")]
    Unusable {
        /// The location of the configuration.
        place: String,
        /// The cause.
        why: String,
    },
    /// The service account of the pod cannot be used.
    #[error(
        "the service account of this pod cannot be used: {why}; expected its token, namespace and ca.crt, or --kubeconfig"
    )]
    Pod {
        /// The cause.
        why: String,
    },
    /// The reading thread panicked or was cancelled; please report this.
    #[error("internal fault: {0}; please report this")]
    Interrupted(String),
}

pub(super) fn unreadable(path: &Path, error: KubeconfigError) -> ConnectError {
    let path = path.to_owned();
    match error {
        KubeconfigError::ReadConfig(source, _) => ConnectError::Read { path, source },
        KubeconfigError::Parse(error) => {
            let at = error.location();
            ConnectError::Parse {
                path,
                line: at.map_or(1, |at| at.line()),
                column: at.map_or(1, |at| at.column()),
            }
        }
        _ => ConnectError::Kinds {
            files: path.display().to_string(),
        },
    }
}

pub(super) fn unusable(place: &KubeconfigPlace, error: &kube::Error) -> ConnectError {
    let why = match error {
        kube::Error::InferKubeconfig(KubeconfigError::LoadClusterOfContext(cluster)) => {
            format!("the context names the cluster {cluster:?}, which does not exist in it")
        }
        kube::Error::InferKubeconfig(KubeconfigError::MissingClusterUrl) => {
            "the cluster of the context has no server: expected its URL".to_owned()
        }
        kube::Error::RustlsTls(_) if fault_words(error).contains(NO_CAS) => {
            "it names no certificate-authority, and this machine has no CA certificates: expected \
             certificate-authority or certificate-authority-data in its cluster"
                .to_owned()
        }
        // The URL of the proxy may contain a password.
        kube::Error::ProxyProtocolUnsupported { proxy_url } => format!(
            "its proxy has the scheme {:?}: expected http, https or socks5",
            proxy_url.scheme_str().unwrap_or_default()
        ),
        other => fault_words(other),
    };
    ConnectError::Unusable {
        place: place.to_string(),
        why,
    }
}

/// The message of rustls-platform-verifier if the system has no CA certificates.
const NO_CAS: &str = "No CA certificates were loaded";
