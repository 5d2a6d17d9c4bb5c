//! `olmguard check`: the answer of the webhook, offline.
//!
//! ```text
//! -f PATH... --inputs--> cases, ClusterCatalogs --\
//! --catalog NAME=PATH --loading--> contents -------+--> Snapshot --judge--> Report --> text | JSON
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

pub(super) use args::CheckArgs;
pub use report::Report;

use args::Output;
use inputs::Gathered;
use judged::Judged;

use crate::cli::common::UsageError;
use crate::cli::output::{Failed, print};
use crate::cli::{Exit, usage};

/// Runs the command.
pub(super) fn run(args: &CheckArgs) -> Result<Exit, Failed> {
    match read(args) {
        Ok((plan, gathered)) => judge(args, &plan, &gathered),
        Err(error) => Ok(usage(&error)),
    }
}

fn read(args: &CheckArgs) -> Result<(args::Plan, Gathered), UsageError> {
    let plan = args.plan()?;
    let gathered = Gathered::read(args, &plan)?;
    Ok((plan, gathered))
}

fn judge(args: &CheckArgs, plan: &args::Plan, gathered: &Gathered) -> Result<Exit, Failed> {
    for error in &gathered.errors {
        anstream::eprintln!("error: {error}");
    }
    let snapshot = gathered.snapshot(args, plan);
    let judged: Vec<Judged> = gathered
        .cases
        .iter()
        .map(|case| judged::judge(&snapshot, case, plan))
        .collect();
    match args.output {
        Output::Text => print(&text::text(args, gathered, &judged))?,
        Output::Json => {
            let report = Report::of(&snapshot, gathered, &judged);
            print(&format!("{}\n", serde_json::to_string(&report)?))?;
        }
    }
    Ok(judged::exit(gathered, &judged, args))
}
