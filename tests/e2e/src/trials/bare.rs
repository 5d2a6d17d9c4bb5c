//! The cluster alone: without a webhook, an edit that cannot work is accepted.

use anyhow::{Result, ensure};

use crate::cluster::Cluster;

pub(crate) async fn takes_an_extension(cluster: &mut Cluster) -> Result<()> {
    let printed = cluster.kubectl()?.apply(EXTENSION).await?;
    ensure!(
        printed == "clusterextension.olm.operatorframework.io/demo created\n",
        "{printed}"
    );
    Ok(())
}

const EXTENSION: &str = "\
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: demo}
spec:
  namespace: default
  serviceAccount: {name: installer}
  source: {sourceType: Catalog, catalog: {packageName: no-such-package, version: 99.0.0}}
";
