//! The results of `check` for people.

use std::collections::BTreeSet;

use crate::cli::Exit;
use crate::cli::commands::check::args::CheckArgs;
use crate::cli::commands::check::cases::{Case, InstalledSource, Subject};
use crate::cli::commands::check::inputs::GatheredInputs;
use crate::cli::commands::check::installed;
use crate::cli::commands::check::judged;
use crate::cli::commands::check::report::Summary;
use crate::cli::commands::check::trouble;
use crate::facts::Fault;
use olmguard_catalog::version::go;
use olmguard_engine::explain::{Answer, RequesterFact, plain};
use olmguard_engine::judge::{Token, Verdict};
use olmguard_report::{Text, Tone};

/// Whether the cluster or the snapshot, if one is named, could be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum OriginAccess {
    /// No error occurred.
    Good,
    /// The origin could not be read, and an error has shown why. The cause of an answer is then a placeholder for the
    /// catalogs of the origin, which users do not know.
    Failed,
}

impl OriginAccess {
    pub(super) fn of(faults: &[Fault]) -> Self {
        if faults.iter().any(Fault::is_of_origin) {
            Self::Failed
        } else {
            Self::Good
        }
    }

    /// Whether an answer lacks only facts that could not be read. A status in a manifest can also state that the
    /// installed bundle is unknown, which no error mentions.
    fn explains(self, case: &Case, answer: &Answer) -> bool {
        let lacks = match answer.token {
            Token::CatalogNotLoaded => true,
            Token::InstalledUnknown => case.told == InstalledSource::Cluster,
            _ => false,
        };
        self == Self::Failed && lacks
    }
}

/// All results.
pub(super) fn text(
    args: &CheckArgs,
    gathered: &GatheredInputs,
    answers: &[Answer],
    origin: OriginAccess,
    exit: Exit,
) -> Text {
    let mut text = Text::default();
    let results = gathered.cases.iter().zip(answers);
    let mut all = results.clone();
    // The error has already shown the cause.
    if !answers.is_empty() && all.all(|(case, answer)| origin.explains(case, answer)) {
        return text;
    }
    let shown = results.filter(|(_, answer)| !args.quiet || is_bad(answer, args));
    for (case, answer) in shown {
        result(&mut text, case, answer, (args, origin));
        for note in assumed(args, case, answer) {
            text.line(Tone::Plain, format!("  Note: {note}"));
        }
    }
    // If no input could be read, a summary adds nothing.
    let is_nothing = gathered.cases.is_empty() && !gathered.errors.is_empty();
    if !args.quiet && !is_nothing {
        for aside in trouble::asides(gathered) {
            text.say(Tone::Plain, format!("{}: ", go::escape(&aside.subject)));
            text.line(Tone::Label, aside.word);
            text.line(Tone::Plain, format!("  {}", aside.why));
        }
        let summary = Summary::of(args, gathered, answers);
        text.line(Tone::Plain, summary.to_string());
        // The error about the cluster has already shown what is missing.
        if exit == Exit::Undecided && origin == OriginAccess::Good {
            text.line(Tone::Plain, plain::exit_undecided());
        }
    }
    text
}

/// Hints about facts that policies read and no flag sets, each once. An `AdmissionReview` has its own user.
fn assumed(args: &CheckArgs, case: &Case, answer: &Answer) -> BTreeSet<&'static str> {
    let is_review = matches!(case.subject, Subject::Review(_));
    let reads = answer.reads.iter().copied();
    let reads = reads.filter(|fact| !is_review || *fact == RequesterFact::Time);
    reads
        .filter_map(|fact| args.facts.policies.assumed(fact))
        .collect()
}

fn is_bad(answer: &Answer, args: &CheckArgs) -> bool {
    answer.verdict() == Verdict::Undecided || judged::exit_of(answer, args) != Exit::Good
}

fn result(
    text: &mut Text,
    case: &Case,
    answer: &Answer,
    (args, origin): (&CheckArgs, OriginAccess),
) {
    let name = case.identity.name.as_deref().unwrap_or("(no name)");
    let (name, place) = (go::escape(name), go::escape(&case.place.to_string()));
    text.say(Tone::Plain, format!("{place}: {name}: "));
    text.line(tone(answer.verdict()), answer.verdict().as_str());
    if origin.explains(case, answer) {
        return;
    }
    for line in plain::result(answer).lines() {
        text.line(Tone::Plain, format!("  {line}"));
    }
    if let Some(note) = installed::note(case, answer, args) {
        text.line(Tone::Plain, format!("  {note}"));
    }
    for warning in &answer.warnings {
        text.say(Tone::Plain, "  ");
        text.say(Tone::Caution, "warning");
        text.line(Tone::Plain, format!(": {warning}"));
    }
}

fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Allow => Tone::Good,
        Verdict::Deny => Tone::Bad,
        Verdict::Undecided => Tone::Caution,
        Verdict::NotJudged => Tone::Label,
    }
}
