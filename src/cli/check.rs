//! `olmguard check`: the answer of the webhook, offline.
//!
//! ```text
//! -f PATH... --inputs--> cases, ClusterCatalogs --\
//! --snapshot FILE --saved--> catalogs, OLM --------+--> Snapshot --judge--> Report --> text | JSON
//! --catalog NAME=PATH --loading--> contents ------/
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
mod saved;
mod text;

pub(super) use args::CheckArgs;
pub use report::Report;

use std::io;

use args::{Output, Plan};
use inputs::Gathered;
use loading::Loaded;
use saved::Saved;

use crate::cli::common::UsageError;
use crate::cli::{Exit, output, say, warn};
use crate::explain::Answer;

/// Runs the command.
pub(super) fn run(args: &CheckArgs) -> Exit {
    let (plan, saved, mut gathered) = match read(args) {
        Ok(read) => read,
        Err(error) => {
            say(&error);
            return Exit::Usage;
        }
    };
    gathered.errors.iter().for_each(say);
    let catalogs = std::mem::take(&mut gathered.catalogs);
    let loaded = loading::load(saved, catalogs, &args.common.catalog, plan.rules.clone());
    loaded.unreadable.iter().for_each(say);
    judge(args, &plan, &gathered, &loaded).unwrap_or_else(|error| {
        say(&error);
        Exit::Internal
    })
}

fn read(args: &CheckArgs) -> Result<(Plan, Option<Saved>, Gathered), UsageError> {
    let saved = args.snapshot.as_deref().map(Saved::open);
    let olm = &args.common.olm;
    let (rules, warnings) = match &saved {
        None => (olm.rules()?, Vec::new()),
        Some(saved) => saved.rules(olm)?,
    };
    let plan = args.plan(rules)?;
    let gathered = Gathered::read(args, &plan)?;
    warnings.iter().for_each(warn);
    Ok((plan, saved, gathered))
}

fn judge(args: &CheckArgs, plan: &Plan, gathered: &Gathered, loaded: &Loaded) -> io::Result<Exit> {
    let Loaded {
        snapshot,
        unreadable,
    } = loaded;
    let cases = gathered.cases.iter();
    let answers: Vec<Answer> = cases
        .map(|case| judged::judge(snapshot, case, plan, args))
        .collect();
    match args.output {
        Output::Text => {
            let text = text::text(args, gathered, &answers);
            output::text(|stdout| stdout.write_all(text.as_bytes()))?;
        }
        Output::Json => output::json(&Report::of(snapshot, gathered, &answers))?,
    }
    let bad_inputs = gathered.errors.len() + unreadable.len();
    Ok(judged::exit(bad_inputs, &answers, args))
}
