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

use std::io;

use args::{Output, Plan};
use inputs::Gathered;
use judged::Judged;

use crate::cli::common::UsageError;
use crate::cli::{Exit, output, say};

/// Runs the command.
pub(super) fn run(args: &CheckArgs) -> Exit {
    let (plan, gathered) = match read(args) {
        Ok(read) => read,
        Err(error) => {
            say(&error);
            return Exit::Usage;
        }
    };
    gathered.errors.iter().for_each(say);
    judge(args, &plan, &gathered).unwrap_or_else(|error| {
        say(&error);
        Exit::Internal
    })
}

fn read(args: &CheckArgs) -> Result<(Plan, Gathered), UsageError> {
    let plan = args.plan()?;
    let gathered = Gathered::read(args, &plan)?;
    Ok((plan, gathered))
}

fn judge(args: &CheckArgs, plan: &Plan, gathered: &Gathered) -> io::Result<Exit> {
    let snapshot = gathered.snapshot(args, plan);
    let judged: Vec<Judged> = gathered
        .cases
        .iter()
        .map(|case| judged::judge(&snapshot, case, plan))
        .collect();
    match args.output {
        Output::Text => {
            let text = text::text(args, gathered, &judged);
            output::text(|stdout| stdout.write_all(text.as_bytes()))?;
        }
        Output::Json => output::json(&Report::of(&snapshot, gathered, &judged))?,
    }
    Ok(judged::exit(gathered, &judged, args))
}
