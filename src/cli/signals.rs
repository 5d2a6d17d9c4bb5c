//! The signals that end a server.

use std::io;
use std::process::ExitCode;

use tokio::signal::unix::{self, SignalKind};

/// A signal that ends a server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Signal {
    Interrupt,
    Terminate,
}

/// The signals of this process, from now on no longer deadly by themselves.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: unix::Signal,
    terminate: unix::Signal,
}

impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: unix::signal(SignalKind::interrupt())?,
            terminate: unix::signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
        }
    }
}

impl Signal {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
        }
    }

    /// The code of a process that a signal ended: 128 and its number.
    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Interrupt => 128 + 2,
            Self::Terminate => 128 + 15,
        })
    }
}
