//! Where a server listens: for reviews, for health, and for those who can read its metrics.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::cli::args::catalogs::UsageError;
use crate::cli::args::heading;
use crate::cluster::Cluster;
use crate::cluster::scrapers::Scrapers;
use crate::server::Scrapes;

/// The flags about addresses.
#[derive(clap::Args, Clone, Copy, Debug)]
#[command(next_help_heading = heading::LISTEN)]
pub(super) struct ListenArgs {
    /// Serve reviews over TLS here
    #[arg(
        long = "listen",
        value_name = "IP:PORT",
        default_value = "[::]:9443",
        value_parser = addr,
    )]
    pub(super) reviews: SocketAddr,

    /// Serve health and metrics over HTTP here
    #[arg(
        long = "ops-listen",
        value_name = "IP:PORT",
        default_value = "[::]:8080",
        value_parser = addr,
    )]
    pub(super) ops: SocketAddr,

    /// Serve metrics over TLS here instead, to clients with a valid token
    #[arg(long = "metrics-listen", value_name = "IP:PORT", value_parser = addr)]
    metrics: Option<SocketAddr>,
}

impl ListenArgs {
    /// Whether each address is used once, and metrics have a cluster that checks the tokens of their readers.
    pub(super) fn check(self, has_cluster: bool) -> Result<(), UsageError> {
        if self.metrics.is_some() && !has_cluster {
            return Err(UsageError::MetricsWithoutCluster);
        }
        let addresses = [
            Some(("--listen", self.reviews)),
            Some(("--ops-listen", self.ops)),
            self.metrics.map(|addr| ("--metrics-listen", addr)),
        ];
        let addresses: Vec<_> = addresses.into_iter().flatten().collect();
        match twice(&addresses) {
            None => Ok(()),
            Some((one, other, addr)) => Err(UsageError::SameAddress { one, other, addr }),
        }
    }

    /// Metrics on a port of their own, if the flag is given; the cluster says who can read them.
    pub(super) fn scrapes(self, cluster: Option<&Cluster>) -> Result<Option<Scrapes>, UsageError> {
        let Some(listen) = self.metrics else {
            return Ok(None);
        };
        let cluster = cluster.ok_or(UsageError::MetricsWithoutCluster)?;
        Ok(Some(Scrapes {
            listen,
            authorizer: Arc::new(Scrapers::new(cluster.client.clone())),
        }))
    }
}

fn addr(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| "expected IP:PORT, such as 127.0.0.1:9443 or [::]:9443".to_owned())
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
