//! The flags about the cluster, of every command that asks one.

use std::path::PathBuf;

use crate::cluster::Access;
use crate::source::catalogd::{Catalogd, CatalogdError, FetchLimits};

/// Which cluster it is, and where OLM is in it.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct ClusterArgs {
    /// The kubeconfig to use; else KUBECONFIG, ~/.kube/config or the service account of the pod
    #[arg(long, env = "OLMGUARD_KUBECONFIG", value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// The context of the kubeconfig to use; else its current one
    #[arg(long, env = "OLMGUARD_CONTEXT", value_name = "NAME")]
    context: Option<String>,

    /// The namespace of operator-controller; else those where OLM and OpenShift put it
    #[arg(long, env = "OLMGUARD_OLM_NAMESPACE", value_name = "NAMESPACE")]
    pub(crate) olm_namespace: Option<String>,
}

/// How the contents of its catalogs are fetched.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct CatalogdArgs {
    /// The authorities that vouch for catalogd, PEM, a file or a folder; else those of the system;
    /// followed when they change
    #[arg(long, env = "OLMGUARD_CATALOGD_CA", value_name = "PATH")]
    catalogd_ca: Option<PathBuf>,
}

impl CatalogdArgs {
    /// Who asks catalogd.
    pub(crate) fn catalogd(&self) -> Result<Catalogd, CatalogdError> {
        Catalogd::new(self.catalogd_ca.as_deref(), FetchLimits::default())
    }

    /// A flag of these that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        self.catalogd_ca.as_ref().map(|_| "--catalogd-ca")
    }
}

impl ClusterArgs {
    /// How the cluster is reached.
    pub(crate) fn access(&self) -> Access {
        Access {
            kubeconfig: self.kubeconfig.clone(),
            context: self.context.clone(),
        }
    }

    /// A flag of these that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given = [
            self.kubeconfig.as_ref().map(|_| "--kubeconfig"),
            self.context.as_ref().map(|_| "--context"),
            self.olm_namespace.as_ref().map(|_| "--olm-namespace"),
        ];
        given.into_iter().flatten().next()
    }
}
