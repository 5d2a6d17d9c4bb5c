//! The flags about the cluster, for every command that reads one.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::cli::args::heading;
use crate::cluster::Access;
use crate::facts::cluster::ClusterRequest;
use olmguard_catalog::dns1123;

/// Which cluster it is. What is set to nothing is not set.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct AccessArgs {
    /// Use this kubeconfig [default: KUBECONFIG, ~/.kube/config or the pod's]
    #[arg(long, value_name = "FILE", help_heading = heading::CLUSTER)]
    kubeconfig: Option<OsString>,

    /// Use this context of the kubeconfig [default: the current one]
    #[arg(long, value_name = "NAME", help_heading = heading::CLUSTER)]
    context: Option<String>,
}

/// Which cluster it is, and where OLM is in it.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct ClusterArgs {
    #[command(flatten)]
    access: AccessArgs,

    /// OLM namespace [default: olmv1-system or openshift-operator-controller]
    #[arg(long, value_name = "NAMESPACE", value_parser = namespace, help_heading = heading::CLUSTER)]
    olm_namespace: Option<String>,
}

/// How the contents of the catalogs of a cluster are fetched.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct CatalogdArgs {
    /// PEM file or directory with catalogd's CA [default: the system's]
    #[arg(long, value_name = "PATH", help_heading = heading::CLUSTER)]
    catalogd_ca: Option<PathBuf>,
}

/// Which cluster is read once, and how.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct ClusterRequestArgs {
    #[command(flatten)]
    cluster: ClusterArgs,

    #[command(flatten)]
    catalogd: CatalogdArgs,
}

impl ClusterRequestArgs {
    /// The flags of a command that fetches no catalog contents.
    pub(crate) fn of_cluster(cluster: ClusterArgs) -> Self {
        let catalogd = CatalogdArgs::default();
        Self { cluster, catalogd }
    }

    /// The same flags for another context of the kubeconfig.
    pub(crate) fn of_context(&self, context: &str) -> Self {
        Self {
            cluster: self.cluster.of_context(context),
            catalogd: self.catalogd.clone(),
        }
    }

    /// The cluster that the flags name.
    pub(crate) fn request(&self) -> ClusterRequest {
        self.catalogd.request(&self.cluster)
    }

    /// The first of these flags that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        self.cluster.given().or(self.catalogd.given())
    }
}

impl CatalogdArgs {
    /// The cluster that these flags and the flags about a cluster name.
    pub(crate) fn request(&self, cluster: &ClusterArgs) -> ClusterRequest {
        ClusterRequest {
            access: cluster.access(),
            olm_namespace: cluster.olm_namespace(),
            catalogd_ca: self.catalogd_ca.clone(),
        }
    }

    /// The name of the flag, if it is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        self.catalogd_ca.as_ref().map(|_| "--catalogd-ca")
    }
}

impl AccessArgs {
    /// The settings for reaching the cluster.
    pub(crate) fn access(&self) -> Access {
        Access {
            kubeconfig: self.kubeconfig().map(PathBuf::from),
            context: set(self.context.as_ref()),
        }
    }

    /// The first of these flags that is given.
    fn given(&self) -> Option<&'static str> {
        let kubeconfig = self.kubeconfig().map(|_| "--kubeconfig");
        kubeconfig.or_else(|| set(self.context.as_ref()).map(|_| "--context"))
    }

    fn kubeconfig(&self) -> Option<&OsString> {
        self.kubeconfig.as_ref().filter(|path| !path.is_empty())
    }
}

impl ClusterArgs {
    /// The same flags for another context of the kubeconfig.
    pub(crate) fn of_context(&self, context: &str) -> Self {
        let mut args = self.clone();
        args.access.context = Some(context.to_owned());
        args
    }

    /// The settings for reaching the cluster.
    pub(crate) fn access(&self) -> Access {
        self.access.access()
    }

    /// The namespace of operator-controller, if given.
    pub(crate) fn olm_namespace(&self) -> Option<String> {
        set(self.olm_namespace.as_ref())
    }

    /// The first of these flags that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let access = self.access.given();
        access.or_else(|| self.olm_namespace().map(|_| "--olm-namespace"))
    }
}

/// Parses the name of a Kubernetes object.
pub(crate) fn object_name(text: &str) -> Result<String, String> {
    if dns1123::is_subdomain(text) {
        Ok(text.to_owned())
    } else {
        Err("expected the name of an object, such as olmguard".to_owned())
    }
}

/// Parses the name of a namespace.
pub(crate) fn some_namespace(text: &str) -> Result<String, String> {
    match namespace(text) {
        Ok(name) if !name.is_empty() => Ok(name),
        _ => Err(NoNamespace.to_string()),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("expected at most {LONGEST} lower-case letters, digits and inner hyphens")]
struct NoNamespace;

/// Parses the name of a namespace, which may be empty.
fn namespace(text: &str) -> Result<String, NoNamespace> {
    let is_name = text.len() <= LONGEST && dns1123::is_label(text);
    if is_name || text.is_empty() {
        return Ok(text.to_owned());
    }
    Err(NoNamespace)
}

fn set(value: Option<&String>) -> Option<String> {
    value.filter(|value| !value.is_empty()).cloned()
}

/// The maximum length of the name of a namespace, in bytes.
const LONGEST: usize = 63;

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        cluster: ClusterArgs,
    }

    fn parsed(args: &[&str]) -> Result<ClusterArgs, String> {
        let command = Command::try_parse_from(["olmguard"].iter().chain(args));
        let command = command.map_err(|error| error.to_string())?;
        Ok(command.cluster)
    }

    #[test]
    fn what_is_set_to_nothing_is_not_set() {
        let args = parsed(&["--kubeconfig=", "--context=", "--olm-namespace="]).unwrap();
        assert_eq!(args.access(), Access::default());
        assert_eq!((args.olm_namespace(), args.given()), (None, None));
        let args = parsed(&["--kubeconfig=a", "--context=b", "--olm-namespace=c-1"]).unwrap();
        let access = Access {
            kubeconfig: Some("a".into()),
            context: Some("b".to_owned()),
        };
        assert_eq!(args.access(), access);
        assert_eq!(args.olm_namespace().as_deref(), Some("c-1"));
        assert_eq!(args.given(), Some("--kubeconfig"));
    }

    #[test]
    fn a_namespace_is_a_label() {
        for bad in ["a/b", "A", "a.b", "-a", "../x", &"a".repeat(64)] {
            let error = parsed(&[&format!("--olm-namespace={bad}")]).unwrap_err();
            let expected = "expected at most 63 lower-case letters, digits and inner hyphens";
            assert!(error.contains(expected), "{error}");
        }
    }
}
