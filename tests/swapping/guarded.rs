//! A server in this process that decides by the snapshot of a follower.

use std::sync::Arc;

use arc_swap::ArcSwap;
use kube::Client;
use olmguard::cluster::WatchEvent;
use olmguard::cluster::catalogs::{NamelessObject, ObservedCatalog};
use olmguard::cluster::follow::{
    AgeLimit, ContentLoader, FollowConfig, StatusBoard, StatusListener, follow,
};
use olmguard::source::catalogd::Catalogd;
use olmguard::source::http::FetchLimits;
use olmguard_admission::Enforcement;
use olmguard_catalog::memory::Pool;
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::Snapshot;
use olmguard_server::telemetry::EditEvents;
use olmguard_server::telemetry::Metrics;
use olmguard_server::telemetry::log::DecisionLog;
use olmguard_server::tls::{SystemClock, TlsConfig as Validity, self_signed};
use olmguard_server::{Config, Guard, Limits, Server};
use rustls::pki_types::CertificateDer;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinSet;

use olmguard_support::https::trusting;
use olmguard_support::load::fleet::{Fleet, PACE};
use olmguard_support::load::review::{Edit, post};
use olmguard_support::load::wire::Target;

/// A running server, which stops when this is dropped.
pub(crate) struct Guarded {
    /// The events of the catalogs.
    pub(crate) events: Sender<WatchEvent<Result<ObservedCatalog, NamelessObject>>>,
    /// The snapshot by which edits are decided.
    pub(crate) snapshot: Arc<ArcSwap<Snapshot>>,
    metrics: Metrics,
    server: Server,
    certificate: CertificateDer<'static>,
    _running: JoinSet<()>,
}

impl Guarded {
    /// Starts a server that rereads its objects through `client`.
    pub(crate) async fn start(client: Client) -> Self {
        let (events, received) = channel(1);
        let (rules, rules_received) = channel(1);
        rules.send(Rules::default()).await.unwrap();
        let (metrics, snapshot) = (Metrics::new(), Arc::<ArcSwap<Snapshot>>::default());
        let terms = terms(received, rules_received, &snapshot, &metrics);
        let catalogd = Catalogd::new(None, FetchLimits::default()).unwrap();
        let counts = Arc::clone(&metrics.catalogs);
        let loader = ContentLoader::new(
            client,
            catalogd,
            None,
            Arc::new(SystemClock),
            counts,
            Pool::unbounded(),
        );
        let mut running = JoinSet::new();
        running.spawn(async move {
            follow(loader, terms).await;
            drop(rules);
        });
        let (server, certificate) = serve(Guard::new(Arc::clone(&snapshot)), &metrics);
        Self {
            events,
            snapshot,
            metrics,
            server,
            certificate,
            _running: running,
        }
    }

    /// Returns edits of an extension that each content resolves differently, on this many
    /// connections.
    pub(crate) fn fleet(&self, connections: u32) -> Fleet {
        let edit = Edit {
            package: "p",
            catalog: "asked",
            installed: ("p.v1", "1.0.0"),
            wanted: "1.1.0",
        };
        Fleet {
            target: Target {
                address: self.server.addr(),
                tls: trusting([self.certificate.clone()]),
            },
            request: post(&edit.review()).into(),
            expected: Arc::from([r#""resolved":"p.of-"#]),
            marked: Some(r#""resolved":"p.of-a "#),
            connections,
            rate: PACE,
        }
    }

    /// Returns how many times the snapshot was replaced.
    pub(crate) fn swaps(&self) -> u64 {
        let told = self.metrics.render();
        let mut lines = told.lines();
        let value = lines.find_map(|line| line.strip_prefix("olmguard_snapshot_swaps_total "));
        value.unwrap().parse().unwrap()
    }
}

fn terms(
    events: Receiver<WatchEvent<Result<ObservedCatalog, NamelessObject>>>,
    rules: Receiver<Rules>,
    snapshot: &Arc<ArcSwap<Snapshot>>,
    metrics: &Metrics,
) -> FollowConfig {
    FollowConfig {
        limit: AgeLimit::default(),
        events,
        rules,
        contents: channel(1).1,
        snapshot: Arc::clone(snapshot),
        listener: StatusListener {
            board: Arc::<StatusBoard>::default(),
            catalogs: Arc::clone(&metrics.catalogs),
            watches: Arc::clone(&metrics.watches),
            clock: Arc::new(SystemClock),
        },
    }
}

/// Starts the server, and returns it with its certificate.
fn serve(guard: Guard, metrics: &Metrics) -> (Server, CertificateDer<'static>) {
    let certificates = self_signed(&Validity::default(), Vec::new()).unwrap();
    let certificate = certificates.leaf().der().to_vec().into();
    let loopback = "127.0.0.1:0".parse().unwrap();
    let listening = Server::listen(Config {
        listen: loopback,
        ops_listen: loopback,
        limits: Limits::default(),
        scrapes: None,
        checks: Vec::new(),
        metrics: metrics.clone(),
        decisions: DecisionLog::default(),
        events: EditEvents::default(),
        log_level: None,
    });
    let server = listening
        .unwrap()
        .certify(certificates)
        .open(Arc::new(guard), Enforcement::default());
    (server, certificate)
}
