//! What a run has to tell, and the forms of it that pipelines read: one file a form.
//!
//! ```text
//! cases, answers, what could not be read --> Run --> github | junit | markdown | sarif
//! ```
//!
//! Invariant: texts of others are one line each, with nothing in it that is not printable, before a
//! form adds what it needs besides ([`clean`]).

pub(super) mod github;
pub(super) mod junit;
pub(super) mod markdown;
pub(super) mod sarif;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::cli::Exit;
use crate::cli::commands::check::args::CheckArgs;
use crate::cli::commands::check::cases::Case;
use crate::cli::commands::check::inputs::GatheredInputs;
use crate::cli::commands::check::judged;
use crate::cli::commands::check::report::Summary;
use crate::cli::commands::check::trouble::{Trouble, Weight};
use crate::manifest::Position;
use olmguard_engine::explain::{Answer, one_line, plain};
use olmguard_engine::judge::Verdict;

/// All that a run has to tell.
#[derive(Debug)]
pub(super) struct Run<'r> {
    /// In the order of the inputs.
    pub(super) results: Vec<CheckedExtension<'r>>,
    /// What could not be read, and what else is worth knowing about the run as a whole.
    pub(super) troubles: Vec<Trouble>,
    pub(super) summary: Summary,
    /// Whether what counts as good is left out, where a form is for people.
    pub(super) quiet: bool,
}

/// What became of one extension.
#[derive(Clone, Copy, Debug)]
pub(super) struct CheckedExtension<'r> {
    pub(super) case: &'r Case,
    pub(super) answer: &'r Answer,
    /// What it counts as, warnings included.
    pub(super) counts: Exit,
}

impl CheckedExtension<'_> {
    /// The name as people are shown it.
    pub(super) fn name(&self) -> Cow<'_, str> {
        let name = self.case.identity.shown();
        name.unwrap_or(Cow::Borrowed("(no name)"))
    }

    pub(super) fn file(&self) -> &str {
        &self.case.place.file
    }

    pub(super) fn at(&self) -> Position {
        self.case.place.at
    }

    pub(super) fn token(&self) -> &'static str {
        self.answer.token.as_str()
    }

    /// What became of it, in a line or more.
    pub(super) fn text(&self) -> String {
        clean(&plain::result(self.answer))
    }

    /// The first line of that, which is complete on its own.
    pub(super) fn first_line(&self) -> String {
        let text = self.text();
        text.lines().next().unwrap_or_default().to_owned()
    }

    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        self.answer.warnings.iter().map(|warning| one_line(warning))
    }

    /// What a refusal weighs, or that it is undecided; nothing where it is neither.
    pub(super) fn weight(&self) -> Option<Weight> {
        match (self.answer.verdict, self.counts) {
            (Verdict::Allow | Verdict::NotJudged, _) => None,
            (Verdict::Undecided, Exit::Good) => Some(Weight::Note),
            (Verdict::Deny | Verdict::Undecided, _) => Some(Weight::Error),
        }
    }

    /// What each of its warnings weighs.
    pub(super) fn weight_of_warnings(&self) -> Weight {
        match (self.answer.verdict, self.counts) {
            (Verdict::Allow | Verdict::NotJudged, Exit::Denied) => Weight::Error,
            _ => Weight::Warning,
        }
    }

    /// Whether it is told where only what does not count as good is.
    pub(super) fn is_bad(&self) -> bool {
        self.answer.verdict == Verdict::Undecided || self.counts != Exit::Good
    }
}

impl<'r> Run<'r> {
    pub(super) fn of(
        args: &CheckArgs,
        gathered: &'r GatheredInputs,
        answers: &'r [Answer],
        troubles: Vec<Trouble>,
    ) -> Self {
        let results = gathered.cases.iter().zip(answers);
        let results = results.map(|(case, answer)| CheckedExtension {
            case,
            answer,
            counts: judged::exit_of(answer, args),
        });
        Self {
            results: results.collect(),
            troubles,
            summary: Summary::of(args, gathered, answers),
            quiet: args.quiet,
        }
    }

    /// What is told to people beside them.
    pub(super) fn troubles_shown(&self) -> impl Iterator<Item = &Trouble> {
        let troubles = self.troubles.iter();
        troubles.filter(|one| !self.quiet || one.weight != Weight::Note)
    }

    /// Those that are told to people.
    pub(super) fn shown(&self) -> impl Iterator<Item = &CheckedExtension<'_>> {
        let shown = self.results.iter();
        shown.filter(|told| !self.quiet || told.is_bad())
    }
}

/// A text of several lines: each as [`one_line`] has it.
pub(super) fn clean(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(one_line).collect();
    lines.join("\n")
}
