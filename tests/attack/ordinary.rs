//! A client that behaves like an API server: one edit after another, each of which needs the
//! catalog.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::timeout;

use olmguard_support::load::review::{Edit, post};
use olmguard_support::load::wire::{Broken, Target};

/// A running client, until [`end`](Self::end).
pub(crate) struct Ordinary {
    ends: Arc<AtomicBool>,
    running: JoinHandle<usize>,
}

/// An edit that the catalog allows and one that it denies, each with a part of the answer.
const EDITS: [(&str, &str); 2] = [
    ("1.1.0", r#""resolved":"p.v1.1"#),
    ("1.7.0", "[VersionNotFound]"),
];

const DEADLINE: Duration = Duration::from_mins(1);

impl Ordinary {
    /// Starts once the catalog is loaded.
    pub(crate) async fn begin(target: Target) -> Self {
        let loaded = async {
            while ask(&target, EDITS[1]).await.is_err() {
                tokio::task::yield_now().await;
            }
        };
        timeout(DEADLINE, loaded)
            .await
            .expect("the catalog is loaded");
        let ends = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&ends);
        let running = tokio::spawn(async move {
            let mut answers = 0;
            while !end.load(Ordering::Relaxed) {
                for edit in EDITS {
                    let answer = ask(&target, edit).await;
                    assert_eq!(answer, Ok(()), "answer {answers}");
                    answers += 1;
                }
            }
            answers
        });
        Self { ends, running }
    }

    /// Whether an answer was missing or wrong, so that [`end`](Self::end) panics.
    pub(crate) fn has_failed(&self) -> bool {
        self.running.is_finished()
    }

    /// Stops, and returns the number of answers, all of them right.
    pub(crate) async fn end(self) -> usize {
        self.ends.store(true, Ordering::Relaxed);
        self.running.await.expect("every answer is right")
    }
}

/// Sends an edit on a new connection, which is no easier for the server than a kept one.
async fn ask(target: &Target, (wanted, expected): (&str, &str)) -> Result<(), String> {
    let edit = Edit {
        package: "p",
        catalog: "good",
        installed: ("p.v1", "1.0.0"),
        wanted,
    };
    let failed = |error: Broken| error.to_string();
    let connected = target.connect().await;
    let mut connection = connected.map_err(|error| error.to_string())?;
    let response = connection
        .ask(&post(&edit.review()))
        .await
        .map_err(failed)?;
    let body = String::from_utf8_lossy(&response.body);
    if body.contains(expected) {
        Ok(())
    } else {
        Err(format!("{} {body}", response.status))
    }
}
