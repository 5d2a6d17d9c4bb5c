//! The flags of the log.

use crate::cli::args::heading::OBSERVABILITY;
use crate::telemetry::log::{DecisionLog, Log, LogFormat, LogLevel, LogUser};

/// The flags of the log.
#[derive(clap::Args, Clone, Copy, Debug)]
#[command(next_help_heading = OBSERVABILITY)]
pub(crate) struct LogArgs {
    /// Format of the log [default: text on a terminal, otherwise json]
    #[arg(long = "log-format", value_name = "FORMAT")]
    format: Option<LogFormat>,

    /// Least severe level to log
    #[arg(long = "log-level", value_name = "LEVEL", value_enum, default_value_t)]
    level: LogLevel,

    /// How to log the user of a request
    #[arg(long = "log-user", value_name = "HOW", value_enum, default_value_t)]
    user: LogUser,
}

impl LogArgs {
    /// Sets the log up for the rest of this process.
    pub(crate) fn install(self) -> Log {
        let format = self.format.unwrap_or_else(LogFormat::of_stderr);
        Log::install(format, self.level)
    }

    /// What writes decisions into it.
    pub(crate) fn decisions(self) -> DecisionLog {
        DecisionLog { user: self.user }
    }
}
