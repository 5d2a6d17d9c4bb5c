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
//! All inputs are read before anything is judged. Everything readable is judged, even if the exit code then reports an
//! unreadable input.

mod ahead;
mod args;
mod base;
mod cases;
mod form;
mod inputs;
mod installed;
mod judged;
mod kustomize;
mod report;
mod text;
mod trouble;

use std::io;

use args::{CheckPlan, Output};
use base::BaseError;
use form::Run;
use inputs::GatheredInputs;
use text::OriginAccess;

use crate::cli::args::installed::InstalledArgError;
use crate::cli::output::{self, yaml};
use crate::cli::{CommandFailure, Exit, ends_with, note, say, warn};
use crate::facts::{Facts, Fault};
use olmguard_catalog::olm::PreflightMode;
use olmguard_engine::explain::Answer;
use olmguard_preflight::content::{BundleContents, NeededObject};
use olmguard_report::{Finding, Severity};

pub(super) use args::CheckArgs;

pub use report::Report;

/// Runs `olmguard check`.
pub(super) fn run(args: &CheckArgs) -> Result<Exit, CommandFailure> {
    let project = args.facts.project.read()?;
    let args = &args.clone().within(project)?;
    let facts = args.facts.clone().open_any(args.edges)?;
    let facts = facts.with_preflight(args.preflight);
    let plan = args.plan(facts.rules.clone())?;
    let mut gathered = GatheredInputs::read(&plan)?;
    let mut printed = print_all(trouble::of_inputs(args, &gathered));
    installed::stand(&facts.origin, &mut gathered.cases, &plan);
    let (mut facts, warnings) = facts.read(std::mem::take(&mut gathered.given))?;
    printed.extend(print_all(trouble::of_faults(&facts.faults)));
    installed::set_given(&mut gathered.cases, &plan, &facts.snapshot)?;
    printed.extend(print_all(trouble::of_olm(&warnings)));
    if args.pull || args.facts.from_cluster && args.preflight != PreflightMode::Off {
        let (contents, faults) = contents(&plan, &gathered, &facts);
        printed.extend(print_all(trouble::of_faults(&faults)));
        facts = facts.with_contents(contents, faults);
    }
    Ok(judge(&plan, &gathered, &facts, printed)?)
}

/// Prints findings, and returns them for the report.
fn print_all(findings: Vec<Finding>) -> Vec<Finding> {
    findings.iter().for_each(print);
    findings
}

fn print(finding: &Finding) {
    match finding.severity {
        Severity::Error => say(&finding.text),
        Severity::Warning => warn(&finding.text),
        Severity::Note => note(&finding.text),
    }
}

/// The contents of the bundles that the cases resolve to, and the faults of reading them.
fn contents(
    plan: &CheckPlan<'_>,
    gathered: &GatheredInputs,
    facts: &Facts,
) -> (BundleContents, Vec<Fault>) {
    let answers = gathered.cases.iter().map(|case| {
        let (mut answer, _) = judged::judge(facts.basis(), case, gathered, plan);
        if let Some(image) = &mut answer.image {
            let brought = |needed: &NeededObject| {
                let mut all = gathered.brought.iter();
                all.any(|brought| brought.brings(needed))
            };
            image.needs.retain(|needed| !brought(needed));
        }
        (&facts.snapshot, answer)
    });
    let rules = facts.snapshot.rules();
    let args = plan.args;
    args.facts.contents(rules, args.pull, answers)
}

ends_with!(Usage: BaseError, InstalledArgError);

/// Judges every case, and prints the results.
fn judge(
    plan: &CheckPlan<'_>,
    gathered: &GatheredInputs,
    facts: &Facts,
    mut printed: Vec<Finding>,
) -> io::Result<Exit> {
    let args = plan.args;
    let cases = gathered.cases.iter();
    let (answers, successors): (Vec<Answer>, Vec<_>) = cases
        .map(|case| judged::judge(facts.basis(), case, gathered, plan))
        .unzip();
    let exit = exit(args, gathered, facts, &answers, &printed);
    let unknown = trouble::nothing_installed(args, gathered, &answers);
    unknown.iter().for_each(print);
    let report = || Report::of(args, &facts.snapshot, gathered, (&answers, &successors));
    let run = || {
        printed.extend(trouble::of_results(gathered).chain(unknown));
        Run::of(args, gathered, &answers, printed)
    };
    match args.output.form {
        Output::Text => {
            let origin = OriginAccess::of(&facts.faults);
            output::toned(&text::text(args, gathered, &answers, origin, exit))?;
        }
        Output::Json => output::json(&report())?,
        Output::Yaml => output::plain(yaml::document(&serde_json::to_value(report())?))?,
        Output::Sarif => output::json(&run().sarif(exit))?,
        Output::Junit => output::plain(run().junit().map_err(io::Error::other)?)?,
        Output::Github => output::plain(run().github())?,
        Output::Markdown => output::plain(run().document().to_markdown())?,
    }
    Ok(exit)
}

/// The exit code of the run, from its worst result, input or fact.
fn exit(
    args: &CheckArgs,
    gathered: &GatheredInputs,
    facts: &Facts,
    answers: &[Answer],
    printed: &[Finding],
) -> Exit {
    let undecided = judged::undecided(args);
    let bad = gathered.errors.iter().map(|_| Exit::BadInput);
    let faults = facts.faults.iter();
    let faults = faults.filter_map(|fault| fault.exit(undecided));
    let mut printed = printed.iter();
    let is_warned = printed.any(|finding| finding.severity == Severity::Warning);
    let warned = (args.warn_as_error && is_warned).then_some(Exit::Denied);
    judged::exit(bad.chain(faults).chain(warned), gathered, answers, args)
}
