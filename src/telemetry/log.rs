//! The log: one line an event, to stderr, never in the way of an answer.
//!
//! ```text
//! event --level--> line --queue of QUEUE lines--> a thread of its own --> stderr
//!          ^                      '--full--> dropped, and counted
//!          '--- LogHandle: GET, PUT /debug/loglevel
//! ```
//!
//! Invariants: a stderr that nobody reads delays nothing; a line is bounded, and holds no control
//! characters; neither an object nor anything that was not named here is ever written.

mod decision;
mod level;
mod level_routes;
mod panics;
mod shown;
mod text_fields;
mod user;

use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use tracing::{Subscriber, info};
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry, fmt};

pub use decision::{Decision, DecisionLog, ReviewRequest};
pub use level::{LogHandle, LogLevel};
pub use level_routes::routes;
pub use panics::{ReviewScope, log_panics, reviewing};
pub use user::LogUser;

use text_fields::TextFields;

/// How the log is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub enum LogFormat {
    /// One JSON object per line
    Json,
    /// Text for people
    Text,
}

/// The log of this process, as long as this is held: dropping it writes what is still queued.
#[derive(Debug)]
#[must_use = "it ends when this is dropped"]
pub struct Log {
    handle: LogHandle,
    dropped: ErrorCounter,
    #[expect(dead_code, reason = "it flushes when it is dropped")]
    writer: WorkerGuard,
}

impl Log {
    /// Sets the log up for the rest of this process; it can be done once.
    pub fn install(format: LogFormat, level: LogLevel) -> Self {
        let (subscriber, log) = Self::painted(io::stderr(), format, Paint::of_stderr(), level);
        subscriber.init();
        log
    }

    /// A log that is written to `out`, for as long as its subscriber is the one in use.
    pub fn on(
        out: impl Write + Send + 'static,
        format: LogFormat,
        level: LogLevel,
    ) -> (impl Subscriber + Send + Sync, Self) {
        Self::painted(out, format, Paint::Plain, level)
    }

    /// Changes the level.
    pub fn handle(&self) -> LogHandle {
        self.handle.clone()
    }

    /// How many lines were dropped since nobody read those before them.
    pub fn dropped(&self) -> DroppedLines {
        DroppedLines(self.dropped.clone())
    }

    fn painted(
        out: impl Write + Send + 'static,
        format: LogFormat,
        paint: Paint,
        level: LogLevel,
    ) -> (impl Subscriber + Send + Sync, Self) {
        let (lines, writer) = NonBlockingBuilder::default()
            .buffered_lines_limit(QUEUE)
            .lossy(true)
            .thread_name("log")
            .finish(out);
        let dropped = lines.error_counter();
        let (filter, handle) = level::filter(level);
        let layer = written(format, paint, lines).with_filter(filter);
        let log = Self {
            handle,
            dropped,
            writer,
        };
        (tracing_subscriber::registry().with(layer), log)
    }
}

/// Says, at any level, how this process is configured; nothing of that may be secret.
pub fn log_start(configuration: &str) {
    info!(target: level::ALWAYS, configuration, "Starting olmguard");
}

/// Counts the lines that a log has dropped.
#[derive(Clone, Debug)]
pub struct DroppedLines(ErrorCounter);

impl DroppedLines {
    /// So many up to now.
    pub fn count(&self) -> usize {
        self.0.dropped_lines()
    }
}

impl LogFormat {
    /// Text on a terminal, JSON for whatever gathers logs.
    pub fn of_stderr() -> Self {
        if io::stderr().is_terminal() {
            Self::Text
        } else {
            Self::Json
        }
    }
}

/// Whether text has colours.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Paint {
    Coloured,
    Plain,
}

impl Paint {
    fn of_stderr() -> Self {
        match AutoStream::choice(&io::stderr()) {
            ColorChoice::Never => Self::Plain,
            ColorChoice::Auto | ColorChoice::AlwaysAnsi | ColorChoice::Always => Self::Coloured,
        }
    }
}

fn written(
    format: LogFormat,
    paint: Paint,
    lines: NonBlocking,
) -> Box<dyn Layer<Registry> + Send + Sync> {
    match format {
        LogFormat::Json => fmt::layer()
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(false)
            .with_writer(lines)
            .boxed(),
        LogFormat::Text => fmt::layer()
            .with_ansi(paint == Paint::Coloured)
            .fmt_fields(TextFields)
            .with_writer(lines)
            .boxed(),
    }
}

/// The most lines that wait to be written: some megabytes, and two seconds of a busy webhook that
/// writes every answer.
const QUEUE: usize = 4096;
