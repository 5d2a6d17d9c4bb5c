//! Between reading a request and writing its answer, the server makes no system calls except those for that connection,
//! memory and threads: no files, and no other sockets.
//!
//! Background work, such as checking the files of the certificate, can happen in between now and then, but not twice in
//! such a short time. So only calls that occur in two requests count.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails there, one that is left out says so"
)]

mod calls;
mod window;

use olmguard_support::ALONE;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use self::calls::calls;
use self::window::windows;
use olmguard_support::load::review::{Edit, post};
use olmguard_support::load::served::Served;

#[tokio::test]
async fn an_edit_that_resolves_is_answered_without_a_look_elsewhere() {
    let _alone = ALONE.lock().await;
    let found = foreign_calls("1.1.0", "\"token\":\"Resolved\"").await;
    assert!(found.is_empty(), "{found:?}");
}

#[tokio::test]
async fn a_refusal_costs_a_line_of_the_log_at_most() {
    let _alone = ALONE.lock().await;
    let found = foreign_calls("1.3.0", "NotASuccessor").await;
    assert!(found.iter().all(|call| call == STDERR), "{found:?}");
}

/// Returns the calls for other purposes that occur in at least two requests.
async fn foreign_calls(wanted: &str, expected: &str) -> Vec<String> {
    if !is_traceable() {
        println!("left out: the calls between request and answer, strace cannot be run here");
        return Vec::new();
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace");
    let catalog = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/Resolved/hub.yaml");
    let wrapper = [
        "strace",
        "-D",
        "-f",
        "-ttt",
        "-e",
        "trace=all",
        "-o",
        file.to_str().unwrap(),
    ];
    let catalog = format!("--catalog=hub={}", catalog.display());
    let server = Served::under(&wrapper, &["--shutdown-delay=0s", &catalog]);
    let edit = Edit {
        package: "lantern-operator",
        catalog: "hub",
        installed: ("lantern-operator.v1.0.0", "1.0.0"),
        wanted,
    };
    let mut connection = server.target.connect().await.unwrap();
    for _ in 0..WARM_UP + COUNTED {
        let response = connection.ask(&post(&edit.review())).await.unwrap();
        let body = String::from_utf8(response.body).unwrap();
        assert!(body.contains(expected), "{body}");
    }
    drop(connection);
    assert_eq!(server.end().code, Some(0));

    let calls = calls(&whole(&file));
    let windows = windows(&calls);
    let expected = HANDSHAKE + WARM_UP + COUNTED;
    assert_eq!(windows.len(), expected, "one for each request");
    let mut seen = BTreeMap::new();
    for window in windows.iter().skip(HANDSHAKE + WARM_UP) {
        for call in window {
            let times: &mut usize = seen.entry(call.what()).or_default();
            *times += 1;
        }
    }
    seen.retain(|_, times| *times > 1);
    seen.into_keys().collect()
}

/// Returns the trace once it has the end, because strace writes on for a while.
fn whole(file: &Path) -> String {
    let begun = Instant::now();
    loop {
        let text = fs::read_to_string(file).unwrap();
        if text.ends_with(" +++ exited with 0 +++\n") {
            return text;
        }
        assert!(begun.elapsed() < DEADLINE, "the trace has no end");
        thread::yield_now();
    }
}

/// Whether strace exists and may trace.
fn is_traceable() -> bool {
    let tried = Command::new("strace")
        .args(["-o", "/dev/null", "true"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}

const STDERR: &str = "write(2, ";

/// A handshake also has a request and an answer.
const HANDSHAKE: usize = 1;
const WARM_UP: usize = 4;
const COUNTED: usize = 12;
const DEADLINE: Duration = Duration::from_secs(20);
