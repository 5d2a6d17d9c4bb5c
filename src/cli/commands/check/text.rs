//! The results of `check` for people.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use crate::cli::Exit;
use crate::cli::commands::check::args::CheckArgs;
use crate::cli::commands::check::cases::{Case, InstalledSource, Subject};
use crate::cli::commands::check::inputs::GatheredInputs;
use crate::cli::commands::check::report::Summary;
use crate::cli::commands::check::{installed, judged};
use crate::cli::facts::loading::Fault;
use crate::cli::output::paint;
use olmguard_catalog::version::go;
use olmguard_engine::explain::plain;
use olmguard_engine::explain::{Answer, Tone};
use olmguard_engine::extension::Filter;
use olmguard_engine::judge::{Token, Verdict};

/// Whether the cluster or the snapshot, if one is named, could be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum OriginAccess {
    /// Nothing went wrong.
    Good,
    /// It could not, and an error has said why. Then what stands in for its catalogs is the cause of an answer,
    /// and no one knows that catalog.
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

    /// Whether an answer lacks nothing but what could not be read. A status in a manifest can say that it is not known
    /// what is installed, too: that stands in no error.
    fn explains(self, case: &Case, answer: &Answer) -> bool {
        let lacks = match answer.token {
            Token::CatalogNotLoaded => true,
            Token::InstalledUnknown => case.told == InstalledSource::Cluster,
            _ => false,
        };
        self == Self::Failed && lacks
    }
}

/// All results, coloured; the stream takes the colours out where they are not wanted.
pub(super) fn text(
    args: &CheckArgs,
    gathered: &GatheredInputs,
    answers: &[Answer],
    origin: OriginAccess,
    exit: Exit,
) -> String {
    let mut text = String::new();
    let results = gathered.cases.iter().zip(answers);
    let mut all = results.clone();
    // The error has said it all.
    if !answers.is_empty() && all.all(|(case, answer)| origin.explains(case, answer)) {
        return text;
    }
    let shown = results.filter(|(_, answer)| !args.quiet || is_bad(answer, args));
    for (case, answer) in shown {
        result(&mut text, case, answer, (args, origin)).expect("a String takes everything");
        for note in assumed(args, case, answer) {
            writeln!(text, "  Note: {note}").expect("a String takes everything");
        }
    }
    // Of nothing that could be read there is no summary.
    let is_nothing = gathered.cases.is_empty() && !gathered.errors.is_empty();
    if !args.quiet && !is_nothing {
        places(&mut text, gathered).expect("a String takes everything");
        writeln!(text, "{}", Summary::of(args, gathered, answers))
            .expect("a String takes everything");
        // The error about the cluster has said what is missing.
        if exit == Exit::Undecided && origin == OriginAccess::Good {
            writeln!(text, "{}", plain::exit_undecided()).expect("a String takes everything");
        }
    }
    text
}

/// What is there no more, and what was skipped, each with its place.
fn places(text: &mut String, gathered: &GatheredInputs) -> fmt::Result {
    let style = paint::style(Tone::Label);
    for (place, one) in gathered.removed() {
        let (place, name) = (
            go::escape(&place),
            go::escape(one.name().unwrap_or_default()),
        );
        let filter = one.filter();
        let package = filter.map(|filter| &*filter.package);
        let asked = plain::removed(package, filter.and_then(Filter::range));
        writeln!(text, "{place}: {name}: {style}removed{style:#}")?;
        writeln!(text, "  {asked}")?;
    }
    for one in gathered.passed_over() {
        let place = one.place();
        let place = go::escape(&place);
        writeln!(text, "{place}: {style}not compared{style:#}")?;
        writeln!(text, "  {}", plain::not_compared(&one.why()))?;
    }
    for skipped in &gathered.skipped {
        let place = skipped.place.to_string();
        let place = go::escape(&place);
        writeln!(text, "{place}: {style}skipped{style:#}")?;
        writeln!(text, "  {}", skipped.words())?;
    }
    Ok(())
}

/// What a denying policy reads and no flag gives, each once. An `AdmissionReview` has its own.
fn assumed(args: &CheckArgs, case: &Case, answer: &Answer) -> BTreeSet<&'static str> {
    let is_review = matches!(case.subject, Subject::Review(_));
    let reads = answer.policies.iter().filter_map(|found| found.reads);
    let notes = reads.filter_map(|reads| args.policies.assumed(reads));
    notes.filter(|_| !is_review).collect()
}

fn is_bad(answer: &Answer, args: &CheckArgs) -> bool {
    answer.verdict == Verdict::Undecided || judged::exit_of(answer, args) != Exit::Good
}

fn result(
    text: &mut String,
    case: &Case,
    answer: &Answer,
    (args, origin): (&CheckArgs, OriginAccess),
) -> fmt::Result {
    let style = paint::style(tone(answer.verdict));
    let name = case.identity.name.as_deref().unwrap_or("(no name)");
    let (name, place) = (go::escape(name), go::escape(&case.place.to_string()));
    writeln!(
        text,
        "{place}: {name}: {style}{}{style:#}",
        answer.verdict.as_str()
    )?;
    if origin.explains(case, answer) {
        return Ok(());
    }
    for line in plain::result(answer).lines() {
        writeln!(text, "  {line}")?;
    }
    if let Some(note) = installed::note(case, answer, args) {
        writeln!(text, "  {note}")?;
    }
    let caution = paint::style(Tone::Caution);
    for warning in &answer.warnings {
        writeln!(text, "  {caution}warning{caution:#}: {warning}")?;
    }
    Ok(())
}

fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Allow => Tone::Good,
        Verdict::Deny => Tone::Bad,
        Verdict::Undecided => Tone::Caution,
        Verdict::NotJudged => Tone::Label,
    }
}
