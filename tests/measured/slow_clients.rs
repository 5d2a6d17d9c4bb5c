//! A thousand clients that send nothing, a thousand that never finish a head, and one that sends a
//! request.
//!
//! The latency of that request is measured several times, and the best result counts, because the
//! machine may be busy with other work.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails there, one that is left out says so"
)]

use olmguard_support::ALONE;
use std::time::{Duration, Instant};

use olmguard_support::load::review::{Edit, post};
use olmguard_support::load::served::Served;
use olmguard_support::load::wire::{Connection, Target};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread")]
async fn slow_clients_keep_nobody_out() {
    let _alone = ALONE.lock().await;
    let files = olmguard_support::load::files::raise_limit();
    if files < 3 * u64::from(CROWD) {
        println!("left out: slow clients, a process may open {files} files only");
        return;
    }
    let server = Served::start(&[]);
    answered_soon(&server.target, "nobody").await;
    let handshakes = idle_handshakes(&server.target).await;
    answered_soon(&server.target, "1,000 idle handshakes").await;
    assert!(open(&server) > CROWD / 2, "{} are open", open(&server));
    let heads = slow_heads(&server.target).await;
    answered_soon(&server.target, "1,000 slow heads as well").await;
    assert!(open(&server) > CROWD / 2, "{} are open", open(&server));
    drop(handshakes);
    answered_soon(&server.target, "1,000 slow heads").await;
    assert!(heads.len() > CROWD as usize / 2, "{} heads", heads.len());
    drop(heads);
}

/// Returns the number of open connections according to the server. On a busy machine, some of a
/// crowd have timed out.
fn open(server: &Served) -> u32 {
    let metrics = server.told("/metrics").expect("metrics");
    let mut lines = metrics.lines();
    let value = lines.find_map(|line| line.strip_prefix("olmguard_connections{port=\"reviews\"} "));
    value.expect("a gauge").parse().expect("a number")
}

async fn answered_soon(target: &Target, beside: &str) {
    let mut best = Duration::MAX;
    for _ in 0..TRIES {
        let begun = Instant::now();
        let mut connection = target.connect().await.unwrap();
        let response = connection.ask(&request()).await.unwrap();
        best = best.min(begun.elapsed());
        assert_eq!(response.status, 200, "{}", response.head);
    }
    println!("beside {beside}: answered after {best:?}, handshake and all");
    assert!(best < SOON, "beside {beside}: {best:?}");
}

async fn idle_handshakes(target: &Target) -> Vec<TcpStream> {
    let mut idle = Vec::new();
    for _ in 0..CROWD {
        idle.push(TcpStream::connect(target.address).await.unwrap());
    }
    idle
}

/// Opens connections with unfinished heads. Clients that were disconnected to make room for others
/// are gone, the rest stay.
async fn slow_heads(target: &Target) -> Vec<Connection> {
    let mut opening = JoinSet::new();
    for _ in 0..CROWD {
        let target = target.clone();
        opening.spawn(async move {
            let mut connection = target.connect().await.ok()?;
            let sent = connection.send(b"POST /validate HTTP/1.1\r\nhost: ").await;
            sent.is_ok().then_some(connection)
        });
    }
    opening.join_all().await.into_iter().flatten().collect()
}

fn request() -> Vec<u8> {
    let edit = Edit {
        package: "p",
        catalog: "c",
        installed: ("p.v1", "1.0.0"),
        wanted: "1.1.0",
    };
    post(&edit.review())
}

const CROWD: u32 = 1000;
const TRIES: u32 = 5;
const SOON: Duration = Duration::from_millis(100);
