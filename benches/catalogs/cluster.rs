//! A cluster with these catalogs: an API server in this process, and a catalogd in a process of its
//! own.

use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tempfile::NamedTempFile;

use olmguard_support::apiserver::objects::{CATALOGS, DEPLOYMENTS, catalog, operator_controller};
use olmguard_support::apiserver::served::Served;
use olmguard_support::load::questions::Question;

use super::catalogd::Catalogd;
use crate::world::World;

pub(crate) struct Cluster {
    server: Served,
    catalogd: Catalogd,
    kubeconfig: NamedTempFile,
    /// The last digest. No digest is used twice.
    digest: AtomicU64,
    /// The number of catalogs that received other content.
    reloads: AtomicUsize,
    names: [&'static str; 5],
    /// An upgrade that is allowed.
    pub(crate) allowed: Question,
}

impl Cluster {
    /// Starts a cluster with an OLM and no catalogs.
    pub(crate) async fn start(world: &World) -> Self {
        let [allowed, ..] = world.questions();
        let server = Served::start().await;
        server.api.put(DEPLOYMENTS, operator_controller("v1.11.0"));
        let kubeconfig = NamedTempFile::new().unwrap();
        std::fs::write(&kubeconfig, server.kubeconfig()).unwrap();
        Self {
            server,
            catalogd: Catalogd::start(world),
            kubeconfig,
            digest: AtomicU64::new(0),
            reloads: AtomicUsize::new(0),
            names: world.names(),
            allowed,
        }
    }

    /// Publishes a catalog with the content that catalogd sends in this form, with a new digest.
    pub(crate) fn publish(&self, name: &str, way: &str) {
        let digest = self.digest.fetch_add(1, Ordering::Relaxed);
        let object = catalog(name, digest, &self.catalogd.base(way, name));
        self.server.api.put(CATALOGS, object);
    }

    /// Publishes all five.
    pub(crate) fn publish_all(&self) {
        for name in self.names {
            self.publish(name, "gzip");
        }
    }

    /// Gives the next catalog in turn other content than it has.
    pub(crate) fn change_one(&self) {
        let turn = self.reloads.fetch_add(1, Ordering::Relaxed);
        let name = self
            .names
            .get(turn % self.names.len())
            .expect("one of them");
        let is_next = (turn / self.names.len()).is_multiple_of(2);
        self.publish(name, if is_next { "next" } else { "gzip" });
    }

    pub(crate) fn kubeconfig(&self) -> &Path {
        self.kubeconfig.path()
    }

    pub(crate) fn ca(&self) -> &Path {
        self.catalogd.ca.path()
    }
}
