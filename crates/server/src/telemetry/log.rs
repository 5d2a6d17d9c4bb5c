//! The log: one line per event, to stderr, without ever delaying an answer.
//!
//! ```text
//! event --level--> line --queue of QUEUE lines--> a separate thread --> stderr
//!          ^                      '--full--> dropped, and counted
//!          '--- LogHandle: GET, PUT /debug/loglevel
//! ```
//!
//! Each edit has one line, with its request and its answer.
//!
//! Invariants: a blocked stderr delays nothing; a line is bounded and contains no control characters; the log never
//! contains an object, or any field that is not listed here.

mod level;

pub use level::{LogHandle, LogLevel, routes};

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::{self, Debug};
use std::io::{self, IsTerminal, Write};
use std::marker::PhantomData;
use std::panic::{self, PanicHookInfo};
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use ring::digest::{SHA256, digest};
use tracing::field::{self, DisplayValue, Field, Visit, display};
use tracing::{Subscriber, debug, error, info, warn};
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::field::{RecordFields, VisitOutput};
use tracing_subscriber::fmt::format::{DefaultVisitor, Writer};
use tracing_subscriber::fmt::{FormatFields, layer};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry};

use olmguard_admission::{Review, ReviewOperation, ReviewOutcome};
use olmguard_catalog::version::go;
use olmguard_engine::explain::{Answer, ResolvedBundle};
use olmguard_engine::extension::InstalledBundle;
use olmguard_engine::judge::Verdict;

/// How the log is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub enum LogFormat {
    /// One JSON object per line
    Json,
    /// Text for people
    Text,
}

/// The log of this process. Dropping it writes the lines that are still queued.
#[derive(Debug)]
#[must_use = "it ends when this is dropped"]
pub struct Log {
    handle: LogHandle,
    dropped: ErrorCounter,
    #[expect(dead_code, reason = "it flushes when it is dropped")]
    writer: WorkerGuard,
}

impl Log {
    /// Sets up the log for the rest of this process. Can be called only once.
    pub fn install(format: LogFormat, level: LogLevel) -> Self {
        let (subscriber, log) = Self::painted(io::stderr(), format, Paint::of_stderr(), level);
        subscriber.init();
        log
    }

    /// Creates a log that writes to `out` while the returned subscriber is active.
    pub fn on(
        out: impl Write + Send + 'static,
        format: LogFormat,
        level: LogLevel,
    ) -> (impl Subscriber + Send + Sync, Self) {
        Self::painted(out, format, Paint::Plain, level)
    }

    /// Returns a handle that changes the level.
    pub fn handle(&self) -> LogHandle {
        self.handle.clone()
    }

    /// Returns the counter of lines that were dropped because the output was blocked.
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

/// Logs the configuration of this process at every level. It must not contain secrets.
pub fn log_start(configuration: &str) {
    info!(target: level::ALWAYS, configuration, "Starting olmguard");
}

/// A counter of the lines that a log has dropped.
#[derive(Clone, Debug)]
pub struct DroppedLines(ErrorCounter);

impl DroppedLines {
    /// Returns the number of dropped lines so far.
    pub fn count(&self) -> usize {
        self.0.dropped_lines()
    }
}

impl LogFormat {
    /// Text on a terminal, JSON otherwise, for log collectors.
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
        LogFormat::Json => layer()
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(false)
            .with_writer(lines)
            .boxed(),
        LogFormat::Text => layer()
            .with_ansi(paint == Paint::Coloured)
            .fmt_fields(TextFields)
            .with_writer(lines)
            .boxed(),
    }
}

/// The most lines that wait to be written: some megabytes, or two seconds of a busy webhook that logs every answer.
const QUEUE: usize = 4096;

// The fields of a line of text. A value that is more than one plain word is quoted, so no value can look like a field.
//
// Quoted text is escaped as in Rust, and decodes to the same text as in the JSON form.

/// Writes `name=word` and `name="more than a word"`.
#[derive(Clone, Copy, Debug)]
struct TextFields;

impl<'w> FormatFields<'w> for TextFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'w>, fields: R) -> fmt::Result {
        let mut quoting = Quoting(DefaultVisitor::new(writer, true));
        fields.record(&mut quoting);
        quoting.0.finish()
    }
}

/// A visitor that quotes values where needed.
struct Quoting<'w>(DefaultVisitor<'w>);

impl Visit for Quoting<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if is_message(field) {
            self.0.record_str(field, value);
        } else {
            self.0.record_debug(field, &Word(value));
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if is_message(field) {
            self.0.record_debug(field, value);
        } else {
            self.0.record_debug(field, &Word(&format!("{value:?}")));
        }
    }
}

/// Whether the field is the message, which has no name on the line and is a literal of this program.
fn is_message(field: &Field) -> bool {
    field.name() == "message"
}

/// A text that is written as one word, quoted if needed.
struct Word<'a>(&'a str);

impl Debug for Word<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !"\"\\=".contains(c);
        if !self.0.is_empty() && self.0.chars().all(is_plain) {
            f.write_str(self.0)
        } else {
            write!(f, "{:?}", self.0)
        }
    }
}

// === The user of a request, as the log shows it ===

/// What the log says of who asked.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub enum LogUser {
    /// Not at all
    #[default]
    Omit,
    /// As 16 hexadecimal digits of the SHA-256 of the name: a guessed name can be recognized
    Hash,
    /// By name
    Name,
}

impl LogUser {
    /// Returns the logged form of a user name.
    fn written(self, name: &str) -> Option<Cow<'_, str>> {
        match self {
            Self::Omit => None,
            Self::Hash => Some(hash(name).into()),
            Self::Name => Some(name.into()),
        }
    }
}

fn hash(name: &str) -> String {
    let digest = digest(&SHA256, name.as_bytes());
    let first = digest.as_ref().first_chunk().copied().unwrap_or_default();
    format!("{:016x}", u64::from_be_bytes(first))
}

// === Text from outside, as the log shows it: bounded and printable ===

/// A text from outside, which is truncated and escaped when it is written.
struct LogText<'a>(&'a str);

/// Wraps a text as a field value.
fn shown(text: &str) -> DisplayValue<LogText<'_>> {
    display(LogText(text))
}

impl fmt::Display for LogText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.0.floor_char_boundary(LONGEST);
        f.write_str(&go::escape(self.0.get(..end).unwrap_or_default()))?;
        f.write_str(if end < self.0.len() { "..." } else { "" })
    }
}

/// The most bytes of a value in the log. No name that an API server accepts is longer.
const LONGEST: usize = 253;

// === A panic as one line of the log, with the review in which it happened ===
//
// A formatted message can quote the object under review, as the message of a slice index error does. So only messages
// that are string literals of a program are logged. The location is always logged.

/// A scope in which panics of this thread are logged with the uid of a review.
#[derive(Debug)]
#[must_use = "the review is known until it is dropped"]
pub struct ReviewScope {
    before: Option<String>,
    /// Keeps the scope on its thread.
    of_this_thread: PhantomData<*const ()>,
}

/// Associates this thread with the review of this uid until the returned scope is dropped.
pub fn reviewing(uid: &str) -> ReviewScope {
    ReviewScope {
        before: UID.replace(Some(uid.to_owned())),
        of_this_thread: PhantomData,
    }
}

/// Logs panics from now on, instead of printing several lines to stderr.
pub fn log_panics() {
    panic::set_hook(Box::new(say));
}

impl Drop for ReviewScope {
    fn drop(&mut self) {
        UID.set(self.before.take());
    }
}

fn say(panic: &PanicHookInfo<'_>) {
    let uid = UID.try_with(|uid| uid.try_borrow().ok().and_then(|uid| uid.clone()));
    let uid = uid.ok().flatten();
    let literal = panic.payload().downcast_ref::<&'static str>();
    error!(
        uid = uid.as_deref().map(shown),
        panic = shown(literal.copied().unwrap_or(NOT_LITERAL)),
        location = panic.location().map(field::display),
        "Panicked"
    );
}

thread_local! {
    static UID: RefCell<Option<String>> = const { RefCell::new(None) };
}

const NOT_LITERAL: &str = "not shown: the message may quote what was judged";

// === The log line of an answer, at a level that fits its verdict ===
//
// | verdict | level |
// | --- | --- |
// | deny | info |
// | undecided | warn |
// | allow, not judged | debug |

/// The log of decisions.
#[derive(Clone, Copy, Debug, Default)]
pub struct DecisionLog {
    /// The logged form of the user of a request.
    pub user: LogUser,
}

/// An answer to a review, for the log.
#[derive(Clone, Copy, Debug)]
pub struct LoggedAnswer<'a> {
    /// The request.
    pub asked: ReviewRequest<'a>,
    /// The answer.
    pub answer: &'a Answer,
    /// The outcome in the reply to the API server.
    pub outcome: ReviewOutcome,
    /// The time from the head of the request to its answer.
    pub elapsed: Duration,
}

/// The request of a review, as far as it is known when it is answered.
#[derive(Clone, Copy, Debug)]
pub struct ReviewRequest<'a> {
    /// The UID of the review.
    pub uid: &'a str,
    /// The operation on the object.
    pub operation: ReviewOperation,
    /// Whether the request is a dry run.
    pub dry_run: bool,
    /// The name of the object, or the prefix from which one is generated.
    pub extension: Option<&'a str>,
    /// The user of the request.
    pub user: Option<&'a str>,
}

impl<'a> From<&'a Review> for ReviewRequest<'a> {
    fn from(review: &'a Review) -> Self {
        let identity = review.identity();
        let extension = identity.name.as_ref().or(identity.generate_name.as_ref());
        Self {
            uid: review.uid(),
            operation: review.operation(),
            dry_run: review.is_dry_run(),
            extension: extension.map(String::as_str),
            user: review.user(),
        }
    }
}

/// Emits one event with the fields of a decision. No field is computed if the level is disabled.
macro_rules! line {
    ($event:ident, $log:expr, $decision:expr, $message:literal) => {{
        let LoggedAnswer {
            asked,
            answer,
            outcome,
            elapsed,
        } = $decision;
        let (requested, catalog) = (answer.requested.as_ref(), answer.catalog.as_ref());
        $event!(
            target: DECISIONS,
            uid = shown(asked.uid),
            operation = asked.operation.as_str(),
            dry_run = asked.dry_run,
            extension = asked.extension.map(shown),
            user = asked
                .user
                .and_then(|user| $log.user.written(user))
                .as_deref()
                .map(shown),
            package = requested.map(|filter| shown(&filter.package)),
            installed = answer
                .installed
                .as_ref()
                .map(InstalledBundle::line)
                .as_deref()
                .map(shown),
            requested = requested
                .and_then(|filter| filter.version.as_deref())
                .map(shown),
            resolved = answer
                .resolved
                .as_ref()
                .map(ResolvedBundle::line)
                .as_deref()
                .map(shown),
            policy = requested.map(|filter| filter.policy.as_str()),
            catalog = catalog.map(|catalog| shown(&catalog.name)),
            digest = catalog
                .and_then(|catalog| catalog.digest.as_deref())
                .map(shown),
            verdict = answer.verdict().as_str(),
            token = answer.token.as_str(),
            why = answer
                .exemption
                .as_ref()
                .map(|exemption| exemption.kind.as_str()),
            outcome = outcome.as_str(),
            duration_ms = milliseconds(*elapsed),
            $message
        );
    }};
}

impl DecisionLog {
    /// Writes one line about a decision.
    pub fn say(&self, decision: &LoggedAnswer<'_>) {
        match decision.answer.verdict() {
            Verdict::Deny => line!(info, self, decision, "Denied"),
            Verdict::Undecided => line!(warn, self, decision, "Undecided"),
            Verdict::Allow => line!(debug, self, decision, "Allowed"),
            Verdict::NotJudged => line!(debug, self, decision, "Not checked"),
        }
    }
}

/// The target of these lines, which distinguishes them from all others.
const DECISIONS: &str = "olmguard::telemetry::log::decision";

/// Converts to milliseconds with three decimals; more precision has no meaning.
fn milliseconds(elapsed: Duration) -> f64 {
    f64::from(u32::try_from(elapsed.as_micros()).unwrap_or(u32::MAX)) / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_more_than_a_plain_word_is_in_quotes() {
        for (text, word) in [
            ("1.234", "1.234"),
            ("lantern.v1", "lantern.v1"),
            ("hübsch", "hübsch"),
            ("", r#""""#),
            ("1 verdict=allow", r#""1 verdict=allow""#),
            (">=1", r#"">=1""#),
            ("1\u{2003}2", r#""1\u{2003}2""#),
            (r#"a\"b"#, r#""a\\\"b""#),
            ("a\nb", r#""a\nb""#),
        ] {
            assert_eq!(format!("{:?}", Word(text)), word);
        }
    }

    #[test]
    fn a_user_is_named_only_where_that_is_asked_for() {
        for (log_user, written) in [
            (LogUser::Omit, None),
            // `printf kube | sha256sum`
            (LogUser::Hash, Some("7ab9b39a15b5b065")),
            (LogUser::Name, Some("kube")),
        ] {
            assert_eq!(log_user.written("kube").as_deref(), written);
        }
    }

    #[test]
    fn what_is_logged_is_bounded_and_printable() {
        assert_eq!(LogText("a\u{1b}\n").to_string(), "a\\x1b\\n");
        let long = "ä".repeat(500);
        let shown = LogText(&long).to_string();
        assert!(
            shown.len() <= LONGEST + 3 && shown.ends_with("ä..."),
            "{shown}"
        );
    }
}
