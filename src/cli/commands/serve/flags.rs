//! The flags for the addresses and the limits of a server.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use tracing::warn;

use crate::cli::args::catalogs::UsageError;
use crate::cli::args::memory::MemoryLimit;
use crate::cli::args::{FROM_ONE, FROM_ZERO, heading, number};
use crate::cluster::Cluster;
use crate::cluster::scrapers::Scrapers;
use olmguard_catalog::go_duration;
use olmguard_catalog::memory::Pool;
use olmguard_server::{Limits, Patience, Scrapes};

/// The flags that bound what a server takes on.
#[derive(clap::Args, Clone, Copy, Debug)]
#[command(next_help_heading = heading::LIMITS)]
pub(super) struct LimitArgs {
    /// Changes to check at the same time [default: one per core, at most 8]
    #[arg(
        long,
        value_name = "COUNT",
        value_parser = number::<NonZeroUsize>(FROM_ONE),
        default_value_t = Limits::default().workers,
        hide_default_value = true,
    )]
    workers: NonZeroUsize,

    /// Maximum number of waiting changes; more are undecided
    #[arg(long, value_name = "COUNT", default_value_t = 256, value_parser = number::<usize>(FROM_ZERO))]
    queue: usize,

    /// Maximum time for a review
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = timeout)]
    timeout: Duration,

    /// Maximum number of open connections
    #[arg(long, value_name = "COUNT", default_value = "2048", value_parser = number::<NonZeroUsize>(FROM_ONE))]
    max_connections: NonZeroUsize,

    /// Maximum number of connections of one address [default: half of all]
    #[arg(long, value_name = "COUNT", value_parser = number::<NonZeroUsize>(FROM_ONE))]
    max_connections_per_peer: Option<NonZeroUsize>,

    /// Close a connection with its first answer after this time (0s: never)
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = go_duration::parse)]
    max_connection_age: Duration,

    /// Memory that olmguard can use [default: the container's or machine's]
    #[arg(long, value_name = "QUANTITY")]
    memory_limit: Option<MemoryLimit>,
}

impl LimitArgs {
    pub(super) fn resolve(self) -> Result<Limits, UsageError> {
        let Self {
            workers,
            queue,
            timeout,
            max_connections,
            max_connections_per_peer,
            max_connection_age,
            memory_limit: _,
        } = self;
        let default = Limits::default();
        let half = NonZeroUsize::new(max_connections.get() / 2);
        let per_peer = max_connections_per_peer.or(half).unwrap_or(max_connections);
        if per_peer > max_connections {
            return Err(UsageError::PerPeer {
                per_peer,
                in_all: max_connections,
            });
        }
        Ok(Limits {
            workers,
            queue,
            timeout,
            connections: max_connections,
            connections_per_peer: per_peer,
            body_memory: default.body_memory,
            patience: Patience {
                age: (!max_connection_age.is_zero()).then_some(max_connection_age),
                ..default.patience
            },
        })
    }

    /// The memory for the catalogs of a server with these limits and this many threads.
    pub(super) fn catalogs(&self, limits: &Limits, threads: usize) -> Result<Pool, UsageError> {
        let limit = self.memory_limit;
        let limit = limit.unwrap_or_else(MemoryLimit::of_this_process);
        Ok(limit.catalogs_beside(limits, threads)?)
    }
}

/// Parses a timeout. A webhook configuration accepts 1 to 30 seconds.
fn timeout(text: &str) -> Result<Duration, String> {
    let timeout = go_duration::parse(text).map_err(|error| error.to_string())?;
    if timeout < SHORTEST {
        return Err("expected 200ms or more: less leaves no time to answer".to_owned());
    }
    if timeout > LONGEST {
        return Err("expected 30s or less: no API server waits longer".to_owned());
    }
    Ok(timeout)
}

const SHORTEST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(30);

/// Raises the limit of open files to the number of connections and some others. Many systems start processes with far
/// fewer files than they allow, for the sake of very old programs.
pub(super) fn make_room_for(connections: usize) {
    let wanted = connections.saturating_add(OTHERS) as u64;
    match rlimit::increase_nofile_limit(wanted) {
        Ok(allowed) if allowed >= wanted => {}
        Ok(allowed) => warn!(
            allowed,
            wanted, "Failed to raise the limit of open files as far as --max-connections needs"
        ),
        Err(error) => warn!(%error, wanted, "Failed to raise the limit of open files"),
    }
}

/// Standard streams, listening sockets, the second port, and certificates and catalogs while they are read.
const OTHERS: usize = 256;

// === The addresses of a server: for reviews, for health, and for clients that may read its metrics ===

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
    /// Checks that each address is used once, and that metrics have a cluster that checks the tokens of clients.
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

    /// Metrics on a port of their own, if the flag is given. The cluster decides which clients can read them.
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

/// The first two flags with the same address. Port 0 is a different port each time.
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
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Probe {
        #[command(flatten)]
        limits: LimitArgs,
    }

    fn resolve(arguments: &[&str]) -> Result<Limits, String> {
        let arguments = std::iter::once("probe").chain(arguments.iter().copied());
        let probe = Probe::try_parse_from(arguments).map_err(|error| error.to_string())?;
        probe.limits.resolve().map_err(|error| error.to_string())
    }

    #[test]
    fn one_address_has_half_of_the_connections() {
        for (arguments, expected) in [
            (&[] as &[_], (2048, 1024)),
            (&["--max-connections=1"], (1, 1)),
            (&["--max-connections=9"], (9, 4)),
            (
                &["--max-connections=9", "--max-connections-per-peer=9"],
                (9, 9),
            ),
        ] {
            let limits = resolve(arguments).unwrap();
            let both = (limits.connections.get(), limits.connections_per_peer.get());
            assert_eq!(both, expected, "{arguments:?}");
        }
    }

    #[test]
    fn a_connection_has_an_age_unless_it_is_0() {
        for (arguments, expected) in [
            (&[] as &[_], Some(600)),
            (&["--max-connection-age=90s"], Some(90)),
            (&["--max-connection-age=0s"], None),
        ] {
            let age = resolve(arguments).unwrap().patience.age;
            assert_eq!(age.map(|age| age.as_secs()), expected, "{arguments:?}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (arguments, expected) in [
            (
                &["--max-connections=9", "--max-connections-per-peer=10"] as &[_],
                "--max-connections-per-peer is 10, but --max-connections is only 9: expected at \
             most that",
            ),
            (&["--timeout=0s"], "expected 200ms or more"),
            (&["--timeout=31s"], "expected 30s or less"),
            (&["--timeout=5"], "unit missing: expected one of"),
            (&["--workers=0"], "expected a whole number, 1 or more"),
            (&["--max-connection-age=-1s"], "--max-connection-age"),
            (&["--queue=-1"], "expected a whole number, 0 or more"),
        ] {
            let error = resolve(arguments).unwrap_err();
            assert!(error.contains(expected), "{arguments:?}: {error}");
        }
    }

    #[test]
    fn the_limit_is_raised_as_far_as_needed() {
        let (_, most) = rlimit::Resource::NOFILE.get().unwrap();
        make_room_for(64);
        let (allowed, _) = rlimit::Resource::NOFILE.get().unwrap();
        assert!(
            allowed >= (64 + OTHERS as u64).min(most),
            "{allowed} of {most}"
        );
    }

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
