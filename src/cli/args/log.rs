//! The flags of the log.

use crate::telemetry::log::{DecisionLog, Log, LogFormat, LogLevel, LogUser};

/// The flags of the log.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct LogArgs {
    /// How the log is written to stderr [default: text on a terminal, else json]
    #[arg(long = "log-format", value_name = "FORMAT")]
    format: Option<LogFormat>,

    /// What is logged
    #[arg(long = "log-level", value_name = "LEVEL", value_enum, default_value_t)]
    level: LogLevel,

    /// What is logged of who asked
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
