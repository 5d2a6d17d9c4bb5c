//! The webhook configuration that names this server, compared with the one that is shipped.

use std::sync::Arc;

use rustls::pki_types::ServerName;

use crate::cli::commands::serve::certs::CertsArgs;
use crate::cli::shipped::{self, NAME};
use crate::cluster::Cluster;
use crate::cluster::configuration::{ExpectedConfiguration, ReadingListener, watch};
use crate::telemetry::Metrics;
use crate::tls::SystemClock;

/// What flags say of it.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Configuration {
    name: String,
    /// Namespace and name of the Service, if a name of the certificate has both.
    service: Option<(String, String)>,
}

impl Configuration {
    /// The first one that is named, for the first Service that the certificate is for.
    pub(super) fn of(certs: &CertsArgs) -> Self {
        let name = certs.configurations().first();
        Self {
            name: name.map_or_else(|| NAME.to_owned(), Clone::clone),
            service: certs.names().iter().find_map(service),
        }
    }

    /// Reads it from this cluster from now on, in a task of its own.
    pub(super) fn watch(self, cluster: &Cluster, metrics: &Metrics) {
        let listener = ReadingListener {
            configuration: Arc::clone(&metrics.configuration),
            watches: Arc::clone(&metrics.watches),
            clock: Arc::new(SystemClock),
        };
        let client = cluster.client.clone();
        let expected = self.expected(&cluster.namespace);
        tokio::spawn(async move {
            watch(client, expected, listener).await;
        });
    }

    fn expected(&self, own_namespace: &str) -> ExpectedConfiguration {
        let expected = shipped::expected(&self.name);
        match &self.service {
            Some((namespace, name)) => expected.asking(namespace, name),
            None => expected.asking(own_namespace, NAME),
        }
    }
}

/// Of `SERVICE.NAMESPACE.svc`.
fn service(name: &ServerName<'_>) -> Option<(String, String)> {
    let ServerName::DnsName(name) = name else {
        return None;
    };
    let (service, namespace) = name.as_ref().strip_suffix(".svc")?.split_once('.')?;
    let is_one = !namespace.contains('.');
    is_one.then(|| (namespace.to_owned(), service.to_owned()))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct ServiceName {
        #[command(flatten)]
        certs: CertsArgs,
    }

    #[track_caller]
    fn is(arguments: &[&str], name: &str, service: Option<(&str, &str)>) {
        let line = ServiceName::try_parse_from([&["serve"], arguments].concat()).unwrap();
        let service = service.map(|(namespace, name)| (namespace.to_owned(), name.to_owned()));
        let name = name.to_owned();
        assert_eq!(
            Configuration::of(&line.certs),
            Configuration { name, service }
        );
    }

    #[test]
    fn it_is_named_by_flags() {
        is(&[], "olmguard", None);
        is(&["--webhook-configuration=a,b"], "a", None);
        is(
            &["--tls-server-name=::1,localhost,a.b.c.svc,guard.home.svc,x.y.svc"],
            "olmguard",
            Some(("home", "guard")),
        );
    }
}
