//! A cluster of these catalogs: an API server in this process, and a catalogd in one of its own.

use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tempfile::NamedTempFile;

use crate::bench::files::NAMES;
use crate::bench::guard::Guard;
use crate::bench::process::Catalogd;
use olmguard_support::apiserver::objects::{CATALOGS, DEPLOYMENTS, catalog, operator_controller};
use olmguard_support::apiserver::served::Served;

pub(crate) struct Cluster {
    server: Served,
    catalogd: Catalogd,
    kubeconfig: NamedTempFile,
    /// What was named last: no digest is ever named again.
    digest: AtomicU64,
    /// How many catalogs were given other content.
    reloads: AtomicUsize,
}

impl Cluster {
    /// One with an OLM and no catalog.
    pub(crate) async fn start() -> Self {
        let server = Served::start().await;
        server.api.put(DEPLOYMENTS, operator_controller("v1.11.0"));
        let kubeconfig = NamedTempFile::new().unwrap();
        std::fs::write(&kubeconfig, server.kubeconfig()).unwrap();
        Self {
            server,
            catalogd: Catalogd::start(),
            kubeconfig,
            digest: AtomicU64::new(0),
            reloads: AtomicUsize::new(0),
        }
    }

    /// A catalog has what catalogd sends in this way, under a digest that never was.
    pub(crate) fn publish(&self, name: &str, way: &str) {
        let digest = self.digest.fetch_add(1, Ordering::Relaxed);
        let object = catalog(name, digest, &self.catalogd.base(way, name));
        self.server.api.put(CATALOGS, object);
    }

    /// Publishes all five.
    pub(crate) fn publish_all(&self) {
        for name in NAMES {
            self.publish(name, "gzip");
        }
    }

    /// Gives the catalog whose turn it is other content than it has, and waits until that is loaded.
    pub(crate) fn reload_one(&self, guard: &Guard) {
        let turn = self.reloads.fetch_add(1, Ordering::Relaxed);
        let name = NAMES.get(turn % NAMES.len()).expect("one of them");
        let is_next = (turn / NAMES.len()).is_multiple_of(2);
        self.publish(name, if is_next { "next" } else { "gzip" });
        guard.loaded_one();
    }

    pub(crate) fn kubeconfig(&self) -> &Path {
        self.kubeconfig.path()
    }

    pub(crate) fn ca(&self) -> &Path {
        self.catalogd.ca.path()
    }
}
