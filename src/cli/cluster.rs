//! The flags about the cluster, of every command that asks one.

use std::path::PathBuf;

use crate::cluster::Access;

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
