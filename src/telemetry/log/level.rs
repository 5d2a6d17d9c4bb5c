//! What is logged, and how that is changed while the program runs.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::{Registry, reload};

/// What of this program is logged.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub enum LogLevel {
    /// Problems that someone must fix
    Error,
    /// Also undecided changes and problems that olmguard works around
    Warn,
    /// Also denials and changes of state
    #[default]
    Info,
    /// Also allowed changes and failed connections
    Debug,
}

/// A word is none of those that name a level.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("unknown level: expected error, warn, info or debug")]
pub struct UnknownLevel;

/// Tells and changes the level of a log.
#[derive(Clone, Debug)]
pub struct LogHandle {
    level: Arc<Mutex<LogLevel>>,
    filter: reload::Handle<Targets, Registry>,
}

impl LogHandle {
    /// What is logged at present.
    pub fn level(&self) -> LogLevel {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Logs so much from now on.
    pub fn set(&self, level: LogLevel) {
        let mut held = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        *held = level;
        // It fails only for a log that has ended, which has no lines to choose from.
        let _ = self.filter.reload(targets(level));
    }
}

/// A filter for this level, and what changes it.
pub(super) fn filter(level: LogLevel) -> (reload::Layer<Targets, Registry>, LogHandle) {
    let (filter, handle) = reload::Layer::new(targets(level));
    let handle = LogHandle {
        level: Arc::new(Mutex::new(level)),
        filter: handle,
    };
    (filter, handle)
}

/// Of the libraries only what is wrong: what they say at other levels may quote what was sent.
///
/// kube writes a line for each try that fails, which we tell once, and an answer that it cannot
/// decode in full, which may be a Secret.
fn targets(level: LogLevel) -> Targets {
    let own = level.filter();
    Targets::new()
        .with_default(LevelFilter::WARN.min(own))
        .with_target("kube_client::client", LevelFilter::OFF)
        .with_target("kube_client::client::tls", LevelFilter::WARN.min(own))
        .with_target("kube_runtime::watcher", LevelFilter::OFF)
        .with_target(OWN, own)
        .with_target(ALWAYS, LevelFilter::INFO.max(own))
}

impl LogLevel {
    /// Every level, the quietest first.
    pub const ALL: [Self; 4] = [Self::Error, Self::Warn, Self::Info, Self::Debug];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
        }
    }

    fn filter(self) -> LevelFilter {
        match self {
            Self::Error => LevelFilter::ERROR,
            Self::Warn => LevelFilter::WARN,
            Self::Info => LevelFilter::INFO,
            Self::Debug => LevelFilter::DEBUG,
        }
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for LogLevel {
    type Err = UnknownLevel;

    fn from_str(word: &str) -> Result<Self, UnknownLevel> {
        let known = Self::ALL.into_iter().find(|level| level.as_str() == word);
        known.ok_or(UnknownLevel)
    }
}

/// The target of every event of this program.
const OWN: &str = "olmguard";

/// The target of what is logged at any level, for without it the other lines cannot be understood.
pub(super) const ALWAYS: &str = "olmguard::always";

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn words_and_levels_go_both_ways() {
        for level in LogLevel::ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        assert_eq!("trace".parse::<LogLevel>(), Err(UnknownLevel));
        assert_eq!("".parse::<LogLevel>(), Err(UnknownLevel));
    }

    #[test]
    fn what_the_api_server_answers_is_never_written_by_a_library() {
        for level in LogLevel::ALL {
            let targets = targets(level);
            for target in [
                "kube_client::client",
                "kube_client::client::builder",
                "kube_runtime::watcher",
            ] {
                assert!(
                    !targets.would_enable(target, &Level::ERROR),
                    "{level} {target}"
                );
            }
            let reloads = targets.would_enable("kube_client::client::tls", &Level::WARN);
            assert_eq!(reloads, level != LogLevel::Error);
        }
    }

    #[test]
    fn libraries_say_at_most_what_is_wrong() {
        for (level, own, library) in [
            (LogLevel::Error, Level::ERROR, Level::ERROR),
            (LogLevel::Warn, Level::WARN, Level::WARN),
            (LogLevel::Info, Level::INFO, Level::WARN),
            (LogLevel::Debug, Level::DEBUG, Level::WARN),
        ] {
            let targets = targets(level);
            for (target, most) in [
                ("olmguard::server", own),
                (ALWAYS, own.max(Level::INFO)),
                ("hyper::proto", library),
            ] {
                for asked in [
                    Level::ERROR,
                    Level::WARN,
                    Level::INFO,
                    Level::DEBUG,
                    Level::TRACE,
                ] {
                    let enabled = targets.would_enable(target, &asked);
                    assert_eq!(enabled, asked <= most, "{level} {target} {asked}");
                }
            }
        }
    }
}
