//! What became of each case, and of the run as a whole.

use crate::admission::OnUndecided;
use crate::cli::Exit;
use crate::cli::check::args::{CheckArgs, Plan};
use crate::cli::check::cases::{Case, Subject};
use crate::explain::{self, Answer, answer, not_judged};
use crate::extension::{Extension, Installed};
use crate::judge::{Edit, Verdict};
use crate::snapshot::Snapshot;

/// Judges one case; the answer has the warnings of the run's settings.
pub(super) fn judge(snapshot: &Snapshot, case: &Case, plan: &Plan, args: &CheckArgs) -> Answer {
    let mut answer = match &case.subject {
        Subject::Unknown(exemption) => not_judged(exemption),
        Subject::Review(review) => review.answer(snapshot),
        Subject::Manifest(extension, schema) => {
            let installed = installed(snapshot, extension, plan);
            answer(
                snapshot,
                &Edit {
                    new: extension,
                    old: None,
                    installed: &installed,
                    schema,
                },
            )
        }
    };
    if answer.verdict == Verdict::Undecided && args.on_undecided == Some(OnUndecided::Warn) {
        let message = answer.message.as_deref().unwrap_or_default();
        explain::warn_first(&mut answer.warnings, explain::let_through(message));
    }
    answer
}

/// The exit code: of several 5 comes before 3, 3 before 4, 4 before 1.
pub(super) fn exit(bad: impl Iterator<Item = Exit>, answers: &[Answer], args: &CheckArgs) -> Exit {
    let codes = answers.iter().map(|answer| exit_of(answer, args));
    let nothing = args.require_match && answers.is_empty();
    let nothing = nothing.then_some(Exit::BadInput);
    codes
        .chain(bad)
        .chain(nothing)
        .max_by_key(|exit| exit.weight())
        .unwrap_or(Exit::Good)
}

/// What one answer counts as.
pub(super) fn exit_of(answer: &Answer, args: &CheckArgs) -> Exit {
    let own = match answer.verdict {
        Verdict::Undecided if answer.rests_on_bad_input => Exit::BadInput,
        Verdict::Undecided => undecided(args),
        Verdict::Deny => Exit::Denied,
        Verdict::Allow | Verdict::NotJudged => Exit::Good,
    };
    match own {
        Exit::Good if args.warn_as_error && !answer.warnings.is_empty() => Exit::Denied,
        own => own,
    }
}

/// What it counts as that something is undecided.
pub(super) fn undecided(args: &CheckArgs) -> Exit {
    match args.on_undecided {
        None => Exit::Undecided,
        Some(OnUndecided::Deny) => Exit::Denied,
        Some(OnUndecided::Warn) => Exit::Good,
    }
}

fn installed(snapshot: &Snapshot, extension: &Extension, plan: &Plan) -> Installed {
    let given = extension
        .identity
        .name
        .as_ref()
        .and_then(|name| plan.installed.get(name));
    match given {
        Some(given) => given.resolve(snapshot, extension.filter.as_ref().ok()),
        None => extension.installed.clone(),
    }
}
