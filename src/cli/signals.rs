//! The signals that end a server, and those that do not.

use std::io;
use std::process::ExitCode;

use olmguard_catalog::word_set;
use tokio::signal::unix::{self, SignalKind};
use tracing::info;

word_set! {
    /// A signal that ends a server.
    pub(crate) enum Signal {
        Interrupt => "SIGINT",
        Terminate => "SIGTERM",
        /// By itself it would also write a core file, with the TLS key in it.
        Quit => "SIGQUIT",
    }
}

/// The signals of this process, from now on no longer deadly by themselves.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: unix::Signal,
    terminate: unix::Signal,
    quit: unix::Signal,
}

impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: unix::signal(SignalKind::interrupt())?,
            terminate: unix::signal(SignalKind::terminate())?,
            quit: unix::signal(SignalKind::quit())?,
        })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.quit.recv() => Signal::Quit,
        }
    }
}

/// From now on, in this runtime, the signals that other servers reload their files by are logged, and end nothing.
pub(crate) fn ignore_others() -> io::Result<()> {
    let ignored = [
        (SignalKind::hangup(), "SIGHUP"),
        (SignalKind::user_defined1(), "SIGUSR1"),
        (SignalKind::user_defined2(), "SIGUSR2"),
        (SignalKind::alarm(), "SIGALRM"),
    ];
    for (kind, name) in ignored {
        let mut signal = unix::signal(kind)?;
        tokio::spawn(async move {
            while signal.recv().await.is_some() {
                info!(
                    signal = name,
                    "Ignored a signal, files are reloaded when they change"
                );
            }
        });
    }
    Ok(())
}

impl Signal {
    /// The code of a process that a signal ended: 128 and its number.
    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Interrupt => 128 + 2,
            Self::Terminate => 128 + 15,
            Self::Quit => 128 + 3,
        })
    }
}
