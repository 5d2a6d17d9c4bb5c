//! Where the log goes, and in which form: always to stderr, results have stdout for themselves.

use std::io::{self, IsTerminal};

use clap::ValueEnum;
use tracing::Level;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

/// How the log is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum LogFormat {
    /// One JSON object a line.
    Json,
    /// For people.
    Text,
}

/// What of this program is logged.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(crate) enum LogLevel {
    /// What someone must see to.
    Error,
    /// And what is answered all the same.
    Warn,
    /// And refusals, and changes of state.
    #[default]
    Info,
    /// And what is allowed, and connections that fail.
    Debug,
}

/// The flags of the log.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct LogArgs {
    /// How the log is written to stderr [default: text on a terminal, else json]
    #[arg(long, env = "OLMGUARD_LOG_FORMAT", value_name = "FORMAT")]
    log_format: Option<LogFormat>,

    /// What is logged
    #[arg(
        long,
        env = "OLMGUARD_LOG_LEVEL",
        value_name = "LEVEL",
        value_enum,
        default_value_t
    )]
    log_level: LogLevel,
}

impl LogArgs {
    /// Sets the log up for the rest of this process.
    pub(crate) fn install(self) {
        let filter = Targets::new()
            .with_default(LevelFilter::WARN)
            .with_target("olmguard", self.log_level.level());
        let layer = match self.format() {
            LogFormat::Json => fmt::layer()
                .json()
                .flatten_event(true)
                .with_span_list(false)
                .with_writer(io::stderr)
                .boxed(),
            LogFormat::Text => fmt::layer()
                .with_ansi(io::stderr().is_terminal())
                .with_writer(io::stderr)
                .boxed(),
        };
        tracing_subscriber::registry()
            .with(layer.with_filter(filter))
            .init();
    }

    fn format(self) -> LogFormat {
        match self.log_format {
            Some(format) => format,
            None if io::stderr().is_terminal() => LogFormat::Text,
            None => LogFormat::Json,
        }
    }
}

impl LogLevel {
    fn level(self) -> Level {
        match self {
            Self::Error => Level::ERROR,
            Self::Warn => Level::WARN,
            Self::Info => Level::INFO,
            Self::Debug => Level::DEBUG,
        }
    }
}
