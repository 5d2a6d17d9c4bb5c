//! The process that is measured.

use std::io::{Read, Write};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use base64_simd::STANDARD;
use olmguard_admission::{Enforcement, Review};
use olmguard_engine::explain::Answer;
use olmguard_engine::judge::Basis;
use olmguard_engine::snapshot::Snapshot;
use olmguard_server::telemetry::EditEvents;
use olmguard_server::telemetry::Metrics;
use olmguard_server::telemetry::log::DecisionLog;
use olmguard_server::tls::{TlsConfig, self_signed};
use olmguard_server::{Config, Guard, Judge, Limits, PendingReview, Server};

use crate::world::World;

/// The source of the answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Mode {
    /// A judge with the catalogs.
    Judge,
    /// A constant: the body is read, and the answer is always the text of [`ANSWER`].
    Constant,
    /// A judge without catalogs that takes [`SLOW`] for each edit.
    Slow,
}

/// The time of the slow judge for each edit.
const SLOW: Duration = Duration::from_millis(20);
const WORKERS: usize = 2;
/// The number of edits per second that the slow judge can answer.
pub(crate) const CAPACITY: u32 = 100;
const QUEUE: usize = 64;

/// The environment variable that sets the mode of the process.
pub(crate) const MODE: &str = "OLMGUARD_BENCH_MODE";
/// The environment variable with the answer of [`Mode::Constant`].
pub(crate) const ANSWER: &str = "OLMGUARD_BENCH_ANSWER";

impl Mode {
    const ALL: [Self; 3] = [Self::Judge, Self::Constant, Self::Slow];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Judge => "judge",
            Self::Constant => "constant",
            Self::Slow => "slow",
        }
    }

    /// The mode of this process, if it is a server.
    fn of_this_process() -> Option<Self> {
        let asked = std::env::var(MODE).ok()?;
        Self::ALL.into_iter().find(|mode| mode.as_str() == asked)
    }
}

/// Whether this process must be a server.
pub(crate) fn is_server() -> bool {
    Mode::of_this_process().is_some()
}

/// Serves until standard input ends. Prints one line with the address and the certificate.
pub(crate) fn run_server() {
    let mode = Mode::of_this_process().expect("it was asked");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (server, certificate) = {
        let _within = runtime.enter();
        start(mode)
    };
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{} {certificate}", server.addr()).expect("someone reads");
    std::io::stdin()
        .read_to_end(&mut Vec::new())
        .expect("standard input");
    runtime.shutdown_background();
}

fn start(mode: Mode) -> (Server, String) {
    let certificates = self_signed(&TlsConfig::default(), Vec::new()).expect("a certificate");
    let certificate = STANDARD.encode_to_string(certificates.leaf().der());
    let listening = Server::listen(config(mode))
        .expect("free ports")
        .certify(certificates);
    let enforcement = Enforcement::default();
    let server = match mode {
        Mode::Judge => {
            let guard = Guard::from(World::of_variable().snapshot());
            listening.open(Arc::new(guard), enforcement)
        }
        Mode::Constant => listening.open_with(constant()),
        Mode::Slow => listening.open(Arc::new(SlowJudge), enforcement),
    };
    (server, certificate)
}

fn config(mode: Mode) -> Config {
    let loopback = "127.0.0.1:0".parse().expect("an address");
    let mut limits = Limits {
        connections: MANY,
        connections_per_peer: MANY,
        ..Limits::default()
    };
    if mode == Mode::Slow {
        limits.workers = NonZeroUsize::new(WORKERS).expect("not zero");
        limits.queue = QUEUE;
    }
    Config {
        listen: loopback,
        ops_listen: loopback,
        limits,
        scrapes: None,
        checks: Vec::new(),
        metrics: Metrics::default(),
        decisions: DecisionLog::default(),
        events: EditEvents::default(),
        log_level: None,
    }
}

fn constant() -> Router {
    let body = Bytes::from(std::env::var(ANSWER).expect("it was given"));
    let answer = async move |_: Bytes| ([(CONTENT_TYPE, "application/json")], body);
    Router::new().route("/validate", post(answer))
}

#[derive(Debug)]
struct SlowJudge;

impl Judge for SlowJudge {
    fn answer(&self, review: &Review, _pending: &PendingReview) -> Answer {
        std::thread::sleep(SLOW);
        review.answer(Basis::without_policies(&Snapshot::default()))
    }
}

const MANY: NonZeroUsize = NonZeroUsize::new(10_000).expect("not zero");
