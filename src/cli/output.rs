//! Results on stdout, and the progress of loading catalogs on stderr.
//!
//! A reader that closes the pipe early has what it needs, so a broken pipe is not an error.

pub(super) mod json;
pub(super) mod page;
pub(super) mod yaml;

use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::cli::args::heading;
use crate::source::Progress;
use olmguard_report::{Text, Tone};

/// The flag about the form of the results, for a command with these forms.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct OutputArgs<Form>
where
    Form: ValueEnum + Default + Send + Sync + 'static,
{
    /// Format of the output
    #[arg(
        id = "output",
        short = 'o',
        long = "output",
        value_name = "FORMAT",
        value_enum,
        default_value = name_of_default::<Form>(),
        help_heading = heading::OUTPUT
    )]
    pub(crate) form: Form,
}

/// The name of the default form. `default_value_t` would keep the name for the first command in a static, and use it
/// for all commands.
fn name_of_default<Form: ValueEnum + Default>() -> String {
    let value = Form::default().to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// The forms of a command that has just these two.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum TextOrJson {
    /// Text for people
    #[default]
    Text,
    /// One JSON object, described by a file in schemas/
    Json,
}

impl TextOrJson {
    /// Prints a report in this form.
    pub(crate) fn print(
        self,
        report: &impl Serialize,
        text: impl FnOnce() -> Text,
    ) -> io::Result<()> {
        match self {
            Self::Text => toned(&text()),
            Self::Json => json(report),
        }
    }
}

/// Prints text, and strips its colors if they are not wanted.
pub(crate) fn text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    taken(write(&mut stdout).and_then(|()| stdout.flush()))
}

/// Prints a text, with each piece in the style of its tone.
pub(crate) fn toned(report: &Text) -> io::Result<()> {
    text(|stdout| paint(report, stdout))
}

/// Prints a finished text.
pub(crate) fn plain(report: impl AsRef<[u8]>) -> io::Result<()> {
    text(|stdout| stdout.write_all(report.as_ref()))
}

/// Prints one JSON value on one line.
pub(crate) fn json(value: &impl Serialize) -> io::Result<()> {
    let mut stdout = BufWriter::new(io::stdout().lock());
    taken(json::write_line(value, &mut stdout).and_then(|()| stdout.flush()))
}

/// The line that [`json`] prints for a value.
pub(crate) fn json_line(value: &impl Serialize) -> io::Result<String> {
    let mut line = Vec::new();
    json::write_line(value, &mut line)?;
    String::from_utf8(line).map_err(io::Error::other)
}

/// Prints bytes unchanged. They must contain nothing that a terminal would obey.
pub(crate) fn raw(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    taken(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

fn taken(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

// === The styles of tones on a terminal ===

/// Writes the text, with each piece in the style of its tone. The stream strips the styles if its reader is not a
/// terminal, or if `NO_COLOR` is set.
fn paint(text: &Text, to: &mut (impl Write + ?Sized)) -> io::Result<()> {
    text.pieces().try_for_each(|(tone, piece)| {
        let style = style(tone);
        write!(to, "{style}{piece}{style:#}")
    })
}

/// The style of a tone.
fn style(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Label => Style::new().dimmed(),
        Tone::Good => AnsiColor::Green.on_default(),
        Tone::Caution => AnsiColor::Yellow.on_default(),
        Tone::Bad => AnsiColor::Red.on_default(),
    }
}

// === The progress of loading catalogs, for users at a terminal ===

/// Runs `work`. Shows its progress if it takes long and stderr is a terminal.
pub(crate) fn with_progress<T: Send>(progress: &Progress, work: impl FnOnce() -> T + Send) -> T {
    if io::stderr().is_terminal() {
        watched(progress, work)
    } else {
        work()
    }
}

/// Runs `work`, and shows its progress once it has taken longer than [`PATIENCE`].
fn watched<T: Send>(progress: &Progress, work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let (done, ended) = mpsc::channel::<()>();
        let worker = scope.spawn(move || {
            let result = work();
            drop(done);
            result
        });
        let started = Instant::now();
        let mut bar = None;
        while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            if started.elapsed() >= PATIENCE {
                show(bar.get_or_insert_with(|| new_bar(progress)), progress);
            }
        }
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        worker
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Creates a bar, or a spinner if the length is unknown, as it is for downloads.
fn new_bar(progress: &Progress) -> ProgressBar {
    let template = match progress.total() {
        0 => "loading catalogs {spinner} {bytes}",
        _ => "loading catalogs {wide_bar} {bytes}/{total_bytes}",
    };
    let style = ProgressStyle::with_template(template);
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn show(bar: &ProgressBar, progress: &Progress) {
    bar.set_length(progress.total());
    bar.set_position(progress.done());
}

const PATIENCE: Duration = Duration::from_millis(500);
const TICK: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;
    use olmguard_views::range_report::Grammar;
    use olmguard_views::range_report::RangeReport;

    #[test]
    fn styles_end_where_their_piece_ends() {
        let text = RangeReport::new("1x", Grammar::SkipRange, []).to_text();
        let mut painted = Vec::new();
        paint(&text, &mut painted).unwrap();
        let painted = String::from_utf8(painted).unwrap();
        assert!(
            painted.starts_with("1x\n\u{1b}[31m^\u{1b}[0m\n\u{1b}[31mCould not"),
            "{painted:?}"
        );
        assert_eq!(
            anstream::adapter::strip_str(&painted).to_string(),
            text.to_string()
        );
    }
}
