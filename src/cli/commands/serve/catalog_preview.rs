//! Edits of catalogs: the flag about them, and the extensions that they are checked for.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::cli::args::heading;
use crate::cluster::Cluster;
use crate::cluster::extensions::SharedExtensions;
use crate::server::{CatalogPreviews, Guard, Installations, InstalledExtensions};

/// The flag.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(super) struct PreviewArgs {
    /// Warn about what a change of a ClusterCatalog does to installed extensions
    #[arg(long, help_heading = heading::DECISIONS)]
    catalog_preview: bool,
}

impl PreviewArgs {
    /// The flag, if it is given: it means nothing without a cluster.
    pub(super) fn given(self) -> Option<&'static str> {
        self.catalog_preview.then_some("--catalog-preview")
    }

    /// What answers edits of catalogs by this guard, for the extensions of this cluster.
    pub(super) fn of(self, cluster: Option<&Cluster>, guard: &Guard) -> Option<CatalogPreviews> {
        let cluster = cluster.filter(|_| self.catalog_preview)?;
        let installed = ClusterExtensions(SharedExtensions::of(cluster.client.clone()));
        Some(CatalogPreviews::new(guard.clone(), Arc::new(installed)))
    }
}

/// The extensions of a cluster.
#[derive(Debug)]
struct ClusterExtensions(SharedExtensions);

impl InstalledExtensions for ClusterExtensions {
    fn list(&self) -> Pin<Box<dyn Future<Output = Installations> + Send>> {
        let list = self.0.list();
        Box::pin(async {
            let (extensions, fault) = list.await;
            Installations { extensions, fault }
        })
    }
}
