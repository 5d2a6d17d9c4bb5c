//! The flag that serves metrics over TLS, to those who can read them.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::cli::args::catalogs::UsageError;
use crate::cli::args::heading;
use crate::cli::commands::serve::addr;
use crate::cli::commands::serve::origin::CatalogsOrigin;
use crate::cluster::Cluster;
use crate::cluster::scrapers::Scrapers;
use crate::server::Scrapes;

/// The flag about metrics.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(super) struct ScrapeArgs {
    /// Serve metrics over TLS here instead, to clients with a valid token
    #[arg(
        long,
        value_name = "IP:PORT",
        value_parser = addr,
        help_heading = heading::LISTEN
    )]
    metrics_listen: Option<SocketAddr>,
}

impl ScrapeArgs {
    /// Whether the flag fits to where catalogs come from, and its address to the others.
    pub(super) fn check(
        self,
        origin: &CatalogsOrigin,
        listen: SocketAddr,
        ops_listen: SocketAddr,
    ) -> Result<(), UsageError> {
        if self.metrics_listen.is_some() && matches!(origin, CatalogsOrigin::Files(..)) {
            return Err(UsageError::MetricsWithoutCluster);
        }
        let addresses = [
            Some(("--listen", listen)),
            Some(("--ops-listen", ops_listen)),
            self.metrics_listen.map(|addr| ("--metrics-listen", addr)),
        ];
        let addresses: Vec<_> = addresses.into_iter().flatten().collect();
        match twice(&addresses) {
            None => Ok(()),
            Some((one, other, addr)) => Err(UsageError::SameAddress { one, other, addr }),
        }
    }

    /// Metrics on a port of their own, if the flag is given; the cluster says who can read them.
    pub(super) fn scrapes(self, cluster: Option<&Cluster>) -> Result<Option<Scrapes>, UsageError> {
        let Some(listen) = self.metrics_listen else {
            return Ok(None);
        };
        let cluster = cluster.ok_or(UsageError::MetricsWithoutCluster)?;
        Ok(Some(Scrapes {
            listen,
            authorizer: Arc::new(Scrapers::new(cluster.client.clone())),
        }))
    }
}

/// The first two flags with one address. Port 0 is another one each time.
fn twice(
    addresses: &[(&'static str, SocketAddr)],
) -> Option<(&'static str, &'static str, SocketAddr)> {
    addresses
        .iter()
        .enumerate()
        .find_map(|(at, (other, addr))| {
            let mut before = addresses.iter().take(at);
            let (one, _) = before.find(|(_, one)| one == addr && addr.port() != 0)?;
            Some((*one, *other, *addr))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_flags_with_one_address_are_named() {
        let [one, other, any]: [SocketAddr; 3] =
            ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:0"].map(|addr| addr.parse().unwrap());
        for (addresses, expected) in [
            ([one, other, any], None),
            ([any, any, any], None),
            ([one, one, one], Some(("a", "b"))),
            ([one, other, one], Some(("a", "c"))),
            ([other, one, one], Some(("b", "c"))),
        ] {
            let [a, b, c] = addresses;
            let found = twice(&[("a", a), ("b", b), ("c", c)]);
            assert_eq!(found.map(|(one, other, _)| (one, other)), expected);
        }
    }
}
