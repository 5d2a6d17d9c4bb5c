//! A log that a test reads.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::runtime::Builder;

use crate::telemetry::log::{Log, LogFormat, LogLevel};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What is logged while this runs in virtual time, at the level that says most. No token is in it.
pub(crate) fn logged(act: impl AsyncFnOnce()) -> Vec<Value> {
    let lines = Lines::default();
    let (subscriber, log) = Log::on(lines.clone(), LogFormat::Json, LogLevel::Debug);
    // While there is only one subscriber, tracing turns a line off for good if a thread without a subscriber is the
    // first to reach it, such as the thread of another test.
    let _second = tracing::Dispatch::new(tracing_subscriber::registry());
    let mut runtime = Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build().unwrap();
    tracing::subscriber::with_default(subscriber, || runtime.block_on(act()));
    drop(log);
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert!(!text.contains("c4n4ry"), "{text}");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
