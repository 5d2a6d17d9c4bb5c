//! `olmguard check`: the answer of the webhook, before anything is applied.
//!
//! ```text
//! -f PATH... --inputs--> cases, ClusterCatalogs ------\
//! --base REV|DIR --base--> what the cases were --------+
//! --snapshot FILE --facts--> catalogs, OLM ------------+--> Snapshot --judge--> Report --> text | JSON | form
//! --from-cluster --facts--> catalogs, OLM, installed -/
//! --catalog NAME=PATH --facts--> contents -----------/
//! ```
//!
//! Everything is read before anything is judged, and everything is judged before the exit code says
//! that an input was bad.

mod ahead;
mod args;
mod bad;
mod base;
mod cases;
mod form;
mod inputs;
mod installed;
mod judged;
mod kustomize;
mod report;
mod standing;
mod text;
mod trouble;
mod unrendered;

pub(super) use args::CheckArgs;
pub use report::Report;

use std::io;

use args::{Output, Plan};
use form::Run;
use inputs::{GatheredInputs, NotGathered};
use text::OriginAccess;

use crate::cli::args::catalogs::UsageError;
use crate::cli::facts::loading::{self, Facts, Fault, GivenCatalogs};
use crate::cli::facts::origin::{FactsOrigin, OriginError, OriginFlags};
use crate::cli::output;
use crate::cli::output::yaml;
use crate::cli::{Exit, note, say, warn};
use olmguard_engine::explain::Answer;
use olmguard_report::Severity;

/// What is known before the catalogs are read.
struct CheckInputs {
    plan: Plan,
    origin: FactsOrigin,
    /// About the OLM that is judged by.
    warnings: Vec<String>,
    gathered: GatheredInputs,
}

/// Runs the command.
pub(super) fn run(args: &CheckArgs) -> Exit {
    let project = args.project.read().map_err(OriginError::from);
    let args = project.and_then(|project| Ok(args.clone().within(project)?));
    args.map_or_else(|error| ended(&error), |args| check(&args))
}

fn ended(error: &OriginError) -> Exit {
    say(error);
    error.exit()
}

fn check(args: &CheckArgs) -> Exit {
    let CheckInputs {
        plan,
        origin,
        warnings,
        mut gathered,
    } = match read(args) {
        Ok(read) => read,
        Err(error) => {
            say(&error);
            return error.exit();
        }
    };
    gathered.errors.iter().for_each(say);
    let hints = gathered.hints.iter().map(trouble::of_hint);
    hints.for_each(|hint| warn(&hint.text));
    if let Some(none) = trouble::no_extension(args, &gathered) {
        match none.severity {
            Severity::Error => say(&none.text),
            Severity::Warning | Severity::Note => warn(&none.text),
        }
    }
    standing::stand(&origin, &mut gathered.cases, &plan);
    let objects = std::mem::take(&mut gathered.given);
    let given = GivenCatalogs {
        catalogs: &args.common.catalog,
        guardrails: &args.guardrails,
        policies: &args.policies,
    };
    let loaded = match loading::load(origin, objects, given, plan.rules.clone()) {
        Ok(loaded) => loaded,
        Err(error) => return ended(&error),
    };
    loaded.faults.iter().for_each(Fault::say);
    if let Err(error) = installed::set_given(&mut gathered.cases, &plan, &loaded.snapshot) {
        say(&error);
        return Exit::Usage;
    }
    // Where there is no cluster, nothing about its OLM is news.
    if !loaded.faults.iter().any(Fault::is_of_cluster) {
        warnings.iter().for_each(warn);
    }
    judge(args, &plan, &gathered, &loaded, &warnings).unwrap_or_else(|error| {
        say(&error);
        Exit::Internal
    })
}

/// Why nothing is judged.
#[derive(Debug, thiserror::Error)]
enum NotRead {
    #[error(transparent)]
    Origin(#[from] OriginError),
    #[error(transparent)]
    Inputs(#[from] NotGathered),
}

impl NotRead {
    fn exit(&self) -> Exit {
        match self {
            Self::Origin(error) => error.exit(),
            Self::Inputs(_) => Exit::Usage,
        }
    }
}

impl From<UsageError> for NotRead {
    fn from(error: UsageError) -> Self {
        Self::Origin(error.into())
    }
}

fn read(args: &CheckArgs) -> Result<CheckInputs, NotRead> {
    let origin = FactsOrigin::of(&OriginFlags {
        snapshot: args.snapshot.as_deref(),
        from_cluster: args.from_cluster,
        look: &args.look,
    })?;
    let (rules, mut warnings) = origin.rules(&args.common.olm)?;
    let (rules, departure) = args.edges.of(rules);
    warnings.extend(departure.map(|departure| departure.to_string()));
    let plan = args.plan(rules)?;
    let gathered = GatheredInputs::read(args, &plan)?;
    Ok(CheckInputs {
        plan,
        origin,
        warnings,
        gathered,
    })
}

fn judge(
    args: &CheckArgs,
    plan: &Plan,
    gathered: &GatheredInputs,
    facts: &Facts,
    warnings: &[String],
) -> io::Result<Exit> {
    let Facts {
        snapshot, faults, ..
    } = facts;
    let cases = gathered.cases.iter();
    let (answers, successors): (Vec<Answer>, Vec<_>) = cases
        .map(|case| judged::judge(facts.basis(), case, gathered, (plan, args)))
        .unzip();
    let bad = gathered.errors.iter().map(|_| Exit::BadInput);
    let bad = bad.chain(
        faults
            .iter()
            .filter_map(|fault| fault.exit(judged::undecided(args))),
    );
    let exit = judged::exit(bad, gathered, &answers, args);
    let unknown = trouble::nothing_installed(args, gathered, &answers);
    if let Some(unknown) = &unknown {
        note(&unknown.text);
    }
    let report = || Report::of(args, snapshot, gathered, (&answers, &successors));
    let run = || {
        let mut troubles = trouble::troubles(args, gathered, faults, warnings);
        troubles.extend(unknown.clone());
        Run::of(args, gathered, &answers, troubles)
    };
    match args.output.form {
        Output::Text => {
            let origin = OriginAccess::of(faults);
            output::toned(&text::text(args, gathered, &answers, origin, exit))?;
        }
        Output::Json => output::json(&report())?,
        Output::Yaml => output::plain(&yaml::document(&serde_json::to_value(report())?))?,
        Output::Sarif => output::json(&run().sarif(exit))?,
        Output::Junit => output::plain(&run().junit().map_err(io::Error::other)?)?,
        Output::Github => output::plain(&run().github())?,
        Output::Markdown => output::plain(&run().document().to_markdown())?,
    }
    Ok(exit)
}
