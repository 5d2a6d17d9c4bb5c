//! Shutdown under load: no request is lost, and the process ends in time and with success.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use olmguard_support::ALONE;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use olmguard_support::load::fleet::Fleet;
use olmguard_support::load::served::Served;
use tokio::sync::watch;

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_when_it_leaves_under_load() {
    let _alone = ALONE.lock().await;
    let server = Served::start(&["--shutdown-delay=5s"]);
    let fleet = Fleet::of_edits(&server.target, CONNECTIONS);
    let (stop, stopped) = watch::channel(());
    let load = tokio::spawn({
        let fleet = fleet.clone();
        async move { fleet.run_until(stopped).await }
    });
    some_answers(&fleet).await;

    let told = Instant::now();
    server.process.terminate();
    server.until_unready();
    assert_eq!(server.health("/readyz"), Some(503));
    some_answers(&fleet).await;
    // By then, an endpoint controller has sent the clients elsewhere.
    tokio::time::sleep_until((told + NEARLY_OVER).into()).await;
    drop(stop);
    let figures = load.await.unwrap();
    let ended = server.process.ended();
    let took = told.elapsed();

    println!(
        "{} answered, {} with a farewell, {} reconnected, {} sent twice, ended after {took:?}",
        figures.answered, figures.farewells, figures.reconnected, figures.sent_twice
    );
    assert_eq!(figures.failed(), 0, "{:?}", figures.failures);
    assert_eq!(
        figures.sent_twice, 0,
        "Go does not send a POST twice: it fails"
    );
    assert!(
        figures.farewells >= u64::from(CONNECTIONS),
        "every connection was told to close"
    );
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!((DELAY..DELAY + IN_FLIGHT).contains(&took), "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_ends_it_at_once_under_load() {
    let _alone = ALONE.lock().await;
    let server = Served::start(&["--shutdown-delay=1h"]);
    let fleet = Fleet::of_edits(&server.target, CONNECTIONS);
    let (stop, stopped) = watch::channel(());
    let load = tokio::spawn(async move { fleet.run_until(stopped).await });
    server.process.terminate();
    server.until_unready();
    server.process.terminate();
    assert_eq!(server.process.ended().code, Some(143));
    drop(stop);
    load.await.unwrap();
}

#[test]
fn as_process_1_it_ends_by_a_signal_as_well() {
    let _alone = ALONE.blocking_lock();
    let Some(wrapper) = wrapper() else {
        println!("left out: the server as process 1, unshare is not permitted here");
        return;
    };
    let server = Served::under(wrapper, &["--shutdown-delay=0s"]);
    server.process.terminate_child();
    let ended = server.process.ended();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

/// Returns the command that runs a process with the id 1, if this machine allows it.
fn wrapper() -> Option<&'static [&'static str]> {
    const WAYS: [&[&str]; 2] = [
        &["unshare", "--pid", "--fork", "--mount-proc"],
        &["unshare", "--map-root-user", "--pid", "--fork"],
    ];
    WAYS.into_iter().find(|way| {
        let tried = Command::new("env")
            .args(*way)
            .arg("true")
            .stderr(Stdio::null())
            .status();
        tried.is_ok_and(|status| status.success())
    })
}

/// Sends requests for a while, to be sure that the load is under way.
async fn some_answers(fleet: &Fleet) {
    for _ in 0..50 {
        let mut connection = fleet.target.connect().await.unwrap();
        let response = connection.ask(&fleet.request).await.unwrap();
        assert_eq!(response.status, 200, "{}", response.head);
    }
}

const CONNECTIONS: u32 = 16;
/// Enough for the answers that are awaited meanwhile, also on a busy machine.
const DELAY: Duration = Duration::from_secs(5);
const NEARLY_OVER: Duration = Duration::from_millis(4500);

/// Much more time than an answer takes.
const IN_FLIGHT: Duration = Duration::from_secs(5);
