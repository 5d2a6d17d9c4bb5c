//! A log whose text the test reads.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use olmguard_server::telemetry::log::{Log, LogFormat, LogHandle, LogLevel};
use serde_json::Value;

/// Returns the lines that `act` logs.
#[track_caller]
pub(crate) fn lines(
    format: LogFormat,
    level: LogLevel,
    act: impl FnOnce(&LogHandle),
) -> Vec<String> {
    let _alone = alone();
    let (sink, lines) = Sink::new();
    let (subscriber, log) = Log::on(sink, format, level);
    tracing::subscriber::with_default(subscriber, || {
        act(&log.handle());
        tracing::error!(target: "olmguard", END);
    });
    let next = || lines.recv_timeout(DEADLINE).expect("the last line comes");
    std::iter::repeat_with(next)
        .take_while(|line| !line.contains(END))
        .collect()
}

/// Returns the lines that `act` logs as JSON, without the time.
#[track_caller]
pub(crate) fn objects(level: LogLevel, act: impl FnOnce(&LogHandle)) -> Vec<Value> {
    let lines = lines(LogFormat::Json, level, act);
    let object = |line: &String| {
        let mut object: Value = serde_json::from_str(line).expect("a line is an object");
        let fields = object.as_object_mut().expect("a line is an object");
        assert!(fields.remove("timestamp").is_some(), "{line}");
        object
    };
    lines.iter().map(object).collect()
}

/// Keeps the logs of other tests away: tracing caches its callsites and their interest for the
/// whole process, and a log that changes its level affects all of them.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static LOG: Mutex<()> = Mutex::new(());
    LOG.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A writer that sends every line to the test.
#[derive(Debug)]
pub(crate) struct Sink(Sender<String>);

impl Sink {
    pub(crate) fn new() -> (Self, Receiver<String>) {
        let (sender, receiver) = channel();
        (Self(sender), receiver)
    }
}

impl Write for Sink {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8(line.to_vec()).expect("text");
        assert_eq!(text.matches('\n').count(), 1, "{text:?} is one line");
        // A test that has read enough no longer listens.
        let _ = self.0.send(text);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const END: &str = "the end of the test";
const DEADLINE: Duration = Duration::from_secs(30);
