//! An authority that is replaced while three servers are called all the time, in virtual time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::io::duplex;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::wire::Wire;
use super::{post, review};
use crate::admission::Enforcement;
use crate::server::connection::{ConnectionConfig, serve};
use crate::server::handler::{Handler, Telemetry};
use crate::server::pace::Wait;
use crate::server::phase::Phase;
use crate::server::{Guard, Limits, Patience, validate};
use crate::telemetry::EditEvents;
use crate::telemetry::Metrics;
use crate::telemetry::log::DecisionLog;
use crate::tls::Certificates;
use crate::tls::self_managed::tests::world::World;
use olmguard_engine::snapshot::Snapshot;

/// One replica, and what it serves with.
#[derive(Clone)]
struct Replica {
    certificates: Certificates,
    config: ConnectionConfig,
    metrics: Metrics,
}

impl Replica {
    fn of(certificates: Certificates, phase: watch::Receiver<Phase>) -> Self {
        let metrics = Metrics::new();
        let guard = Guard::from(Snapshot::default());
        let telemetry = Telemetry::of(&metrics, DecisionLog::default(), EditEvents::default());
        let limits = Limits::default();
        let handler = Handler::new(Arc::new(guard), Enforcement::default(), &limits, telemetry);
        let config = ConnectionConfig {
            router: validate::routes(Arc::new(handler)),
            patience: Patience::default(),
            phase,
        };
        Self {
            certificates,
            config,
            metrics,
        }
    }

    /// Connects with what is published now, and asks twice; whatever fails, panics.
    async fn call(&self, world: &World) {
        let (near, far) = duplex(1 << 16);
        let Self {
            certificates,
            config,
            metrics,
        } = self.clone();
        tokio::spawn(async move {
            let acceptor = TlsAcceptor::from(certificates.server_config());
            let stream = acceptor.accept(near).await.unwrap();
            let (peer, pace) = (([127, 0, 0, 1], 0).into(), Arc::new(Wait::new()));
            serve(stream, peer, &pace, config, &metrics.connections).await;
        });
        let connector = TlsConnector::from(world.client(&world.store.bundle()));
        let name = ServerName::try_from("localhost").unwrap();
        let mut wire = Wire::over(connector.connect(name, far).await.unwrap());
        for _ in 0..2 {
            let response = wire.ask(&post(&review(0).to_string(), "")).await;
            assert_eq!(response.status(), 200, "{response:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_authority_is_replaced_under_load_without_a_failed_call() {
    let world = Arc::new(World::new());
    let (_phase, watched) = watch::channel(Phase::Serving);
    let replicas = world
        .three()
        .await
        .map(|certificates| Replica::of(certificates, watched.clone()));
    let first = world.store.bundle();
    world.clock.jump(243 * DAY);
    pass(2).await;

    let answered = Arc::new(AtomicU32::new(0));
    let mut load = JoinSet::new();
    for replica in replicas {
        let (world, answered) = (Arc::clone(&world), Arc::clone(&answered));
        load.spawn(async move {
            loop {
                replica.call(&world).await;
                answered.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(OFTEN).await;
            }
        });
    }
    world.clock.jump(DAY / 2);
    pass(2).await;
    assert_eq!(world.store.authorities(), 2, "old and new together");
    pass(15).await;
    for _ in 0..9 * 24 {
        world.clock.jump(HOUR);
        pass(1).await;
    }
    assert_eq!(world.store.authorities(), 1, "the old one is gone");
    assert_ne!(world.store.bundle(), first);
    assert!(load.try_join_next().is_none(), "a call failed");
    assert!(answered.load(Ordering::Relaxed) > 3 * 200);
}

async fn pass(minutes: u64) {
    tokio::time::sleep(Duration::from_mins(minutes)).await;
}

const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;

/// How often a client calls each server.
const OFTEN: Duration = Duration::from_secs(7);
