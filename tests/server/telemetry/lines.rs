//! The lines of the log: which are written, and what happens if no one reads them.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use olmguard_server::telemetry::Metrics;
use olmguard_server::telemetry::log::{Log, LogFormat, LogLevel, log_start};
use serde_json::json;
use tracing::{debug, error, info, info_span, warn};

use super::captured::{alone, lines, objects};
use super::exposition::value;
use olmguard_fixtures::moved::Moved;

#[test]
fn a_line_is_one_flat_object_without_its_spans() {
    let logged = objects(LogLevel::Info, |_| {
        let _span = info_span!(target: "olmguard", "outer", noise = 1).entered();
        info!(target: "olmguard::cli", count = 3, good = true, "Loaded \"it\"\n");
    });
    assert_eq!(
        logged,
        [json!({
            "level": "INFO",
            "message": "Loaded \"it\"\n",
            "count": 3,
            "good": true,
            "target": "olmguard::cli",
        })]
    );
}

#[test]
fn the_level_is_changed_while_the_log_runs() {
    let logged = lines(LogFormat::Text, LogLevel::Warn, |handle| {
        let all = || {
            error!(target: "olmguard", "an error");
            warn!(target: "olmguard", "a warning");
            info!(target: "olmguard", "a fact");
            debug!(target: "olmguard", "a detail");
            info!(target: "hyper", "of a library");
        };
        for level in [LogLevel::Error, LogLevel::Debug, LogLevel::Info] {
            handle.set(level);
            assert_eq!(handle.level(), level);
            all();
        }
    });
    let ends: Vec<_> = logged
        .iter()
        .map(|line| line.trim_end().rsplit(": ").next().unwrap())
        .collect();
    assert_eq!(
        ends,
        [
            "an error",
            "an error",
            "a warning",
            "a fact",
            "a detail",
            "an error",
            "a warning",
            "a fact",
        ]
    );
}

#[test]
fn how_it_is_configured_is_told_at_any_level() {
    for level in LogLevel::ALL {
        let logged = objects(level, |_| log_start("olmguard serve --mode=observe"));
        assert_eq!(
            logged,
            [json!({
                "level": "INFO",
                "message": "Starting olmguard",
                "configuration": "olmguard serve --mode=observe",
                "target": "olmguard::always",
            })]
        );
    }
}

/// A writer that blocks until the test releases it.
struct Stalled(Receiver<()>);

impl Write for Stalled {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // This returns when the sender is dropped.
        let _ = self.0.recv();
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reader_that_stalls_delays_nothing_and_its_losses_are_counted() {
    let _alone = alone();
    let (let_go, stalled) = channel();
    let (subscriber, log) = Log::on(Stalled(stalled), LogFormat::Json, LogLevel::Info);
    let metrics = Metrics::new();
    metrics.log.follow(log.dropped());
    let dropped = || value(&metrics.render(), "olmguard_log_lines_dropped_total");
    assert!(dropped().abs() < 1e-9);
    let mut moved = Moved::default();
    moved.look(&metrics.render());
    let (done, ended) = channel();
    // A line that waited for its reader would wait for ever, so this runs on its own thread.
    thread::spawn(move || {
        tracing::subscriber::with_default(subscriber, || {
            for line in 0..WRITTEN {
                info!(target: "olmguard", line, "Denied");
            }
        });
        done.send(())
    });
    ended.recv_timeout(DEADLINE).expect("no line waits");
    let (first, second) = (dropped(), dropped());
    assert!(first > 1000.0 && first < f64::from(WRITTEN), "{first}");
    assert!((first - second).abs() < 1e-9, "{second}");
    moved.look(&metrics.render());
    assert_eq!(moved.still(include_str!("moved/log.txt")), [""; 0]);
    drop(let_go);
}

const WRITTEN: u16 = 10_000;
const DEADLINE: Duration = Duration::from_secs(30);
