//! The log: one line an event, to stderr, never in the way of an answer.
//!
//! ```text
//! event --level--> line --queue of QUEUE lines--> a thread of its own --> stderr
//!          ^                      '--full--> dropped, and counted
//!          '--- LogHandle: GET, PUT /debug/loglevel
//! ```
//!
//! An edit has one line, with what it asked for and the answer.
//!
//! Invariants: a stderr that nobody reads delays nothing; a line is bounded, and holds no control
//! characters; neither an object nor anything that was not named here is ever written.

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
    /// The number of lost lines so far.
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

/// The most lines that wait to be written: some megabytes, and two seconds of a busy webhook that
/// writes every answer.
const QUEUE: usize = 4096;

// The fields of a line of text. A value that is more than one plain word is in quotes, so no value can
// pass for a field.
//
// Text in quotes is escaped as in Rust, and reads back as the text of the JSON form.

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

/// Quotes what it hands on.
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

/// The message has no name on the line, and is a text of this program.
fn is_message(field: &Field) -> bool {
    field.name() == "message"
}

/// A text as one word.
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
    /// What is written for a name.
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

// === A text from outside, as the log shows it: bounded and printable ===

/// A text as the log shows it.
struct LogText<'a>(&'a str);

/// A text as the value of a field.
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

/// The most bytes of a value in the log: no name that an API server takes is longer.
const LONGEST: usize = 253;

// === A panic as one line of the log, with the review that it happened in ===
//
// A formatted message can quote the object under review (the message of a slice out of bounds quotes the
// text). So only messages that are literals of a program are written; the place is always written.

/// While it is held, panics of this thread are said to have struck this review.
#[derive(Debug)]
#[must_use = "the review is known until it is dropped"]
pub struct ReviewScope {
    before: Option<String>,
    /// What is said of one thread must not move to another.
    of_this_thread: PhantomData<*const ()>,
}

/// A review of this uid is judged by this thread until the guard is dropped.
pub fn reviewing(uid: &str) -> ReviewScope {
    ReviewScope {
        before: UID.replace(Some(uid.to_owned())),
        of_this_thread: PhantomData,
    }
}

/// Logs panics from now on, in place of the text of several lines on stderr.
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

// === The line of the log for one answer, at a level that fits its verdict ===
//
// | verdict | level |
// | --- | --- |
// | deny | info |
// | undecided | warn |
// | allow, not judged | debug |

/// Writes decisions.
#[derive(Clone, Copy, Debug, Default)]
pub struct DecisionLog {
    /// What is said of who asked.
    pub user: LogUser,
}

/// One answer to a review.
#[derive(Clone, Copy, Debug)]
pub struct LoggedAnswer<'a> {
    /// What was asked.
    pub asked: ReviewRequest<'a>,
    /// What was found.
    pub answer: &'a Answer,
    /// What the API server was told.
    pub outcome: ReviewOutcome,
    /// The time from the head of the request to its answer.
    pub elapsed: Duration,
}

/// What a review asks, as far as it is known where it is answered.
#[derive(Clone, Copy, Debug)]
pub struct ReviewRequest<'a> {
    /// The UID of the review.
    pub uid: &'a str,
    /// What is done to the object.
    pub operation: ReviewOperation,
    /// Whether the API server asks only what would be.
    pub dry_run: bool,
    /// The name of the object, or what one is to be generated from.
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

/// One event with the fields of a decision; nothing of them is made where its level is off.
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
    /// Writes one line about it.
    pub fn say(&self, decision: &LoggedAnswer<'_>) {
        match decision.answer.verdict() {
            Verdict::Deny => line!(info, self, decision, "Denied"),
            Verdict::Undecided => line!(warn, self, decision, "Undecided"),
            Verdict::Allow => line!(debug, self, decision, "Allowed"),
            Verdict::NotJudged => line!(debug, self, decision, "Not checked"),
        }
    }
}

/// The target of these lines, by which they can be told from the others.
const DECISIONS: &str = "olmguard::telemetry::log::decision";

/// Milliseconds, to the microsecond: more precision has no meaning.
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
