//! `olmguard doctor`: whether the webhook of a cluster is healthy, and how to fix it if not.

use std::sync::Arc;

use clap::builder::BoolishValueParser;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::cluster::{self, AccessArgs};
use crate::cli::args::heading;
use crate::cli::output::{OutputArgs, TextOrJson};
use crate::cli::shipped::{self, NAME};
use crate::cli::{CommandFailure, Exit, ends_with, help};
use crate::cluster::doctor::{Examination, NoAnswer, gather};
use crate::cluster::{Caller, ConnectError, connect};
use crate::facts::cluster::ClusterRequestError;
use olmguard_engine::explain::one_line;
use olmguard_report::{Text, Tone};
use olmguard_server::tls::SystemClock;
use olmguard_views::doctor::{Check, DoctorFacts, Finding, Names, State, examine};

/// Diagnose the webhook in a cluster (read-only)
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = help::examples(EXAMPLES), after_long_help = help::examples_and_exits(EXAMPLES, EXIT_CODES))]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    access: AccessArgs,

    /// Namespace of the webhook
    #[arg(
        long,
        value_name = "NAMESPACE",
        default_value = "olmguard-system",
        value_parser = cluster::some_namespace,
        help_heading = heading::WEBHOOK
    )]
    namespace: String,

    /// Name of its Service
    #[arg(
        long,
        value_name = "NAME",
        default_value = NAME,
        value_parser = cluster::object_name,
        help_heading = heading::WEBHOOK
    )]
    service: String,

    /// Name of its Deployment
    #[arg(
        long,
        value_name = "NAME",
        default_value = NAME,
        value_parser = cluster::object_name,
        help_heading = heading::WEBHOOK
    )]
    deployment: String,

    /// Name of its ValidatingWebhookConfiguration
    #[arg(
        long,
        value_name = "NAME",
        default_value = NAME,
        value_parser = cluster::object_name,
        help_heading = heading::WEBHOOK
    )]
    webhook_configuration: String,

    /// Port on which replicas serve their health
    #[arg(long, value_name = "PORT", default_value_t = 8080, help_heading = heading::WEBHOOK)]
    health_port: u16,

    /// Count warnings and unknown results as failures
    #[arg(long, value_parser = BoolishValueParser::new(), help_heading = heading::RESULT)]
    warn_as_error: bool,

    #[command(flatten)]
    output: OutputArgs<TextOrJson>,
}

const EXAMPLES: &[&str] = &[
    "olmguard doctor",
    "olmguard doctor --context prod --warn-as-error",
    "olmguard doctor --namespace operators -o json",
];

const EXIT_CODES: &[(Exit, &str)] = &[
    (Exit::Good, "no check failed"),
    (Exit::Denied, "a check failed"),
    (Exit::Usage, "wrong usage"),
    (
        Exit::Undecided,
        "the cluster does not answer, or the round trip is unknown",
    ),
];

/// Runs `olmguard doctor`.
pub(super) fn run(args: &DoctorArgs) -> Result<Exit, CommandFailure> {
    let findings = examine(&facts(args)?);
    let report = Report::of(&findings);
    args.output.form.print(&report, || text(&findings))?;
    Ok(exit(&findings, args.warn_as_error))
}

fn facts(args: &DoctorArgs) -> Result<DoctorFacts, CommandFailure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ClusterRequestError::from)?;
    let examination = args.examination();
    runtime.block_on(async {
        let cluster = connect(&args.access.access(), Caller::Command).await;
        let cluster = cluster.map_err(|error: ConnectError| ClusterRequestError::from(error))?;
        Ok(gather(&cluster.client, &examination).await?)
    })
}

impl DoctorArgs {
    fn examination(&self) -> Examination {
        Examination {
            names: Names {
                namespace: self.namespace.clone(),
                service: self.service.clone(),
                deployment: self.deployment.clone(),
                configuration: self.webhook_configuration.clone(),
            },
            expected: shipped::expected(&self.webhook_configuration)
                .asking(&self.namespace, &self.service),
            ops_port: self.health_port,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            clock: Arc::new(SystemClock),
        }
    }
}

/// The exit code. A failure takes precedence over a round trip that could not be tested.
fn exit(findings: &[Finding], warn_as_error: bool) -> Exit {
    let worst = findings.iter().map(|finding| finding.state).max();
    let is_unproven = |one: &Finding| (one.check, one.state) == (Check::RoundTrip, State::Unknown);
    match worst {
        Some(State::Fail) => Exit::Denied,
        Some(State::Warn | State::Unknown) if warn_as_error => Exit::Denied,
        _ if findings.iter().any(is_unproven) => Exit::Undecided,
        _ => Exit::Good,
    }
}

ends_with!(Undecided: NoAnswer);

// === Findings for people: one line each, the cause and a command below it, the counts at the end ===

/// The text of all findings.
fn text(findings: &[Finding]) -> Text {
    let mut text = Text::default();
    for finding in findings {
        text.say(tone(finding.state), format!("{:9}", finding.state.as_str()));
        let (check, found) = (finding.check.as_str(), one_line(&finding.found));
        text.line(Tone::Plain, format!("{check:16}{found}"));
        below(&mut text, "cause", finding.cause.as_deref());
        below(&mut text, "run", finding.command.as_deref());
    }
    text.line(Tone::Plain, format!("\n{}", counts(findings)));
    text
}

fn below(text: &mut Text, label: &str, words: Option<&str>) {
    if let Some(words) = words {
        text.say(Tone::Plain, " ".repeat(25));
        text.say(Tone::Label, format!("{label:7}"));
        text.line(Tone::Plain, one_line(words));
    }
}

fn tone(state: State) -> Tone {
    match state {
        State::Ok => Tone::Good,
        State::Warn | State::Unknown => Tone::Caution,
        State::Fail => Tone::Bad,
    }
}

/// The number of findings by state, worst first, without states that do not occur.
fn counts(findings: &[Finding]) -> String {
    let count = |state| findings.iter().filter(|one| one.state == state).count();
    let counts = [State::Fail, State::Unknown, State::Warn, State::Ok];
    let counts = counts.map(|state| (count(state), state.as_str()));
    let said = counts.iter().filter(|(count, _)| *count > 0);
    let said: Vec<_> = said
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    said.join(", ")
}

// === Findings as JSON, schema `olmguard.doctor/v1` ===

/// Output of `olmguard doctor` as JSON.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Report {
    /// Schema of this object.
    schema: &'static str,
    /// Findings, in the order of the checks. A check can have several.
    checks: Vec<CheckReport>,
    /// Number of findings by state.
    summary: Summary,
}

#[derive(Debug, JsonSchema, Serialize)]
struct CheckReport {
    /// Name of the check.
    #[schemars(extend("enum" = Check::ALL.map(Check::as_str)))]
    check: &'static str,
    /// Result of the check: `ok`, `warn`, `fail`, or `unknown` if it could not be checked.
    #[schemars(extend("enum" = STATES.map(State::as_str)))]
    state: &'static str,
    /// Finding of the check.
    found: String,
    /// Cause of the finding, or why it matters.
    cause: Option<String>,
    /// Command to run next, to fix the problem or to see more.
    command: Option<String>,
}

#[derive(Debug, JsonSchema, Serialize)]
struct Summary {
    ok: usize,
    warn: usize,
    unknown: usize,
    fail: usize,
}

impl Report {
    fn of(findings: &[Finding]) -> Self {
        let count = |state| findings.iter().filter(|one| one.state == state).count();
        Self {
            schema: SCHEMA,
            checks: findings.iter().map(CheckReport::of).collect(),
            summary: Summary {
                ok: count(State::Ok),
                warn: count(State::Warn),
                unknown: count(State::Unknown),
                fail: count(State::Fail),
            },
        }
    }
}

impl CheckReport {
    fn of(finding: &Finding) -> Self {
        Self {
            check: finding.check.as_str(),
            state: finding.state.as_str(),
            found: finding.found.clone(),
            cause: finding.cause.clone(),
            command: finding.command.clone(),
        }
    }
}

const SCHEMA: &str = "olmguard.doctor/v1";
const STATES: [State; 4] = [State::Ok, State::Warn, State::Unknown, State::Fail];

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(check: Check, state: State) -> Finding {
        Finding {
            check,
            state,
            found: String::new(),
            cause: None,
            command: None,
        }
    }

    #[test]
    fn what_is_wrong_comes_first_then_what_is_not_proven() {
        use State::{Fail, Ok, Unknown, Warn};
        for (service, round_trip, expected, strict) in [
            (Ok, Ok, Exit::Good, Exit::Good),
            (Warn, Ok, Exit::Good, Exit::Denied),
            (Unknown, Ok, Exit::Good, Exit::Denied),
            (Fail, Ok, Exit::Denied, Exit::Denied),
            (Ok, Unknown, Exit::Undecided, Exit::Denied),
            (Fail, Unknown, Exit::Denied, Exit::Denied),
            (Unknown, Warn, Exit::Good, Exit::Denied),
        ] {
            let findings = [
                finding(Check::Service, service),
                finding(Check::RoundTrip, round_trip),
            ];
            let exits = [false, true].map(|warn_as_error| exit(&findings, warn_as_error));
            assert_eq!(exits, [expected, strict], "{service:?}, {round_trip:?}");
        }
    }
}
