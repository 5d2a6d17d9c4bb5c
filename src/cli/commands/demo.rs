//! `olmguard demo`: the whole thing on this machine, with the built-in sample catalog.
//!
//! ```text
//! case --AdmissionReview--> client ==TLS==> server --> judge
//!                             |
//! what kubectl would print <--' only from the bytes that came back
//! ```

mod case;
mod client;
mod kubectl;
mod sample;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;

use clap::builder::BoolishValueParser;

use crate::admission::Enforcement;
use crate::cli::Exit;
use crate::cli::args::heading;
use crate::cli::help;
use crate::cli::signals::Signals;
use crate::server::{BindError, Config, Guard, Limits, Server};
use crate::telemetry::EditEvents;
use crate::telemetry::Metrics;
use crate::telemetry::log::DecisionLog;
use crate::tls::{TlsConfig, TlsError, self_signed};
use case::{CASES, Case};
use client::{Client, ClientError};
use kubectl::ReplyError;
use olmguard_catalog::olm::Rules;
use sample::Sample;

/// Try the webhook on this machine
#[derive(clap::Args, Clone, Copy, Debug)]
#[command(after_help = help::examples(EXAMPLES))]
pub(crate) struct DemoArgs {
    /// Keep the webhook running, and print a curl command for it
    #[arg(long, value_parser = BoolishValueParser::new(), help_heading = heading::WEBHOOK)]
    keep: bool,
}

const EXAMPLES: &[&str] = &["olmguard demo", "olmguard demo --keep"];

/// What happens after the last case.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Afterwards {
    End,
    Keep,
}

/// Why a demo breaks off.
#[derive(Debug, thiserror::Error)]
enum DemoError {
    #[error(transparent)]
    Bind(#[from] BindError),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error(transparent)]
    Reply(#[from] ReplyError),
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

/// Plays every case, and ends or stays.
pub(crate) fn run(args: DemoArgs) -> ExitCode {
    let afterwards = if args.keep {
        Afterwards::Keep
    } else {
        Afterwards::End
    };
    match play(
        &Sample::built_in(),
        afterwards,
        &mut anstream::stdout().lock(),
    ) {
        Ok(()) => Exit::Good.into(),
        // Whoever reads a demo may stop reading it.
        Err(DemoError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Exit::Good.into()
        }
        Err(error) => {
            crate::cli::say(&error);
            Exit::Internal.into()
        }
    }
}

fn play(sample: &Sample, afterwards: Afterwards, out: &mut dyn Write) -> Result<(), DemoError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let certificates = self_signed(&TlsConfig::default(), Vec::new())?;
        let certificate = certificates.leaf().der().clone();
        let guard = Guard::from(sample.snapshot(Rules::default()));
        let listening = Server::listen(config())?.certify(certificates);
        let server = listening.open(Arc::new(guard), Enforcement::default());
        let mut client = Client::connect(server.addr(), certificate).await?;
        for (number, case) in CASES.iter().enumerate() {
            show(case, number + 1, &mut client, out).await?;
        }
        drop(client);
        if afterwards == Afterwards::Keep {
            keep(&server, out).await?;
        }
        server.close().await;
        Ok(())
    })
}

fn config() -> Config {
    let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Config {
        listen: loopback,
        ops_listen: loopback,
        limits: Limits::default(),
        scrapes: None,
        checks: Vec::new(),
        metrics: Metrics::new(),
        decisions: DecisionLog::default(),
        events: EditEvents::default(),
        log_level: None,
    }
}

async fn show(
    case: &Case,
    number: usize,
    client: &mut Client,
    out: &mut dyn Write,
) -> Result<(), DemoError> {
    let review = case.review(number);
    let received = client.post(review.to_string()).await?;
    let printed = kubectl::prints(case, &received)?;
    writeln!(out, "{number}. {}", case.about)?;
    writeln!(out, "$ {}", case.command())?;
    writeln!(out, "{printed}")?;
    Ok(())
}

async fn keep(server: &Server, out: &mut dyn Write) -> Result<(), DemoError> {
    let mut signals = Signals::new()?;
    let review = CASES.first().map(|case| case.review(1));
    let review = review.unwrap_or_default();
    writeln!(
        out,
        "The server runs until you press Ctrl-C. Send it a review:"
    )?;
    writeln!(
        out,
        "curl -sk https://{}/validate -H 'content-type: application/json' -d '{review}'",
        server.addr()
    )?;
    out.flush()?;
    signals.next().await;
    server.leave();
    Ok(())
}
