//! `olmguard check`: the answer of the webhook, offline.
//!
//! ```text
//! -f PATH... --inputs--> cases, ClusterCatalogs --\
//! --catalog NAME=PATH --load--> contents ----------+--> Snapshot --judge--> Report --> text | JSON
//! ```
//!
//! Everything is read before anything is judged, and everything is judged before the exit code says
//! that an input was bad.

mod args;
mod cases;
mod inputs;
mod installed;
mod judged;
mod loading;
mod report;
mod text;

use std::io::{self, Write};

pub(super) use args::CheckArgs;

use crate::cli::Exit;
use crate::cli::check::args::Output;
use crate::cli::check::inputs::Gathered;
use crate::cli::check::judged::Judged;
use crate::cli::check::report::Report;
use crate::explain::usage;

/// Runs the command.
pub(super) fn run(args: &CheckArgs) -> Result<Exit, anyhow::Error> {
    let Some(plan) = usage_or(args.plan()) else { return Ok(Exit::Usage) };
    let Some(gathered) = usage_or(Gathered::read(args, &plan)) else { return Ok(Exit::Usage) };
    for error in &gathered.errors {
        anstream::eprintln!("{error}");
    }
    let snapshot = gathered.snapshot(args, &plan);
    let judged: Vec<Judged> =
        gathered.cases.iter().map(|case| judged::judge(&snapshot, case, &plan)).collect();
    let exit = judged::exit(&gathered, &judged, args);
    let report = Report::of(&snapshot, &gathered, &judged);
    print(args, &report)?;
    Ok(exit)
}
