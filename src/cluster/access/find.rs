//! Where the way into the cluster is written down.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use super::{Access, Caller, ConnectError};

/// What there is around this process that may lead to a cluster.
#[derive(Clone, Debug, Default)]
pub(super) struct Surroundings {
    pub(super) kubeconfig: Option<OsString>,
    pub(super) home: Option<PathBuf>,
    pub(super) pod: Pod,
}

/// Whether this runs in a pod that has a service account.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Pod {
    Inside,
    #[default]
    Outside,
}

/// Where it is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum KubeconfigPlace {
    Files(Files),
    Pod,
}

/// One kubeconfig, or several that are read as one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Files {
    pub(super) paths: Vec<PathBuf>,
}

impl Surroundings {
    pub(super) fn here() -> Self {
        let inside = env::var_os(SERVICE_HOST).is_some() && Path::new(TOKEN).exists();
        Self {
            kubeconfig: env::var_os(KUBECONFIG),
            home: env::home_dir(),
            pod: if inside { Pod::Inside } else { Pod::Outside },
        }
    }

    /// The files of the environment: empty names are none.
    fn listed(&self) -> Vec<PathBuf> {
        let list = self.kubeconfig.clone().unwrap_or_default();
        let paths = env::split_paths(&list);
        paths.filter(|path| !path.as_os_str().is_empty()).collect()
    }

    fn in_home(&self) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(".kube/config"))
    }
}

/// The first place that there is.
pub(super) fn place(
    access: &Access,
    caller: Caller,
    around: &Surroundings,
) -> Result<KubeconfigPlace, ConnectError> {
    if let Some(path) = &access.kubeconfig {
        return files(vec![path.clone()], "--kubeconfig");
    }
    let listed = around.listed();
    if !listed.is_empty() {
        return files(listed, KUBECONFIG);
    }
    let own = around.pod == Pod::Inside && access.context.is_none();
    if own && caller == Caller::Server {
        return Ok(KubeconfigPlace::Pod);
    }
    let home = around.in_home();
    if let Some(path) = home.clone().filter(|path| path.exists()) {
        return Ok(KubeconfigPlace::Files(Files { paths: vec![path] }));
    }
    if own {
        return Ok(KubeconfigPlace::Pod);
    }
    let home = home.unwrap_or_else(|| PathBuf::from("~/.kube/config"));
    Err(match &access.context {
        Some(context) if around.pod == Pod::Inside => ConnectError::NoKubeconfig {
            context: context.clone(),
            home,
        },
        _ => ConnectError::NothingFound { home },
    })
}

/// Of several files those that are missing are left out, as kubectl does.
fn files(paths: Vec<PathBuf>, named_by: &'static str) -> Result<KubeconfigPlace, ConnectError> {
    let there: Vec<_> = paths.iter().filter(|path| path.exists()).cloned().collect();
    if there.is_empty() {
        let files = Files { paths }.list();
        return Err(ConnectError::Missing { files, named_by });
    }
    Ok(KubeconfigPlace::Files(Files { paths: there }))
}

impl Files {
    pub(super) fn list(&self) -> String {
        let paths = self.paths.iter().map(|path| path.display().to_string());
        paths.collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for KubeconfigPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files(files) => write!(f, "kubeconfig {}", files.list()),
            Self::Pod => f.write_str("the service account of this pod"),
        }
    }
}

const KUBECONFIG: &str = "KUBECONFIG";
const SERVICE_HOST: &str = "KUBERNETES_SERVICE_HOST";
/// Where every pod with a service account has its token.
const TOKEN: &str = "/var/run/secrets/kubernetes.io/serviceaccount/token";
