//! The answer to each case, and the exit code of the run as a whole.

use crate::cli::Exit;
use crate::cli::commands::check::args::{CheckArgs, CheckPlan};
use crate::cli::commands::check::base::Past;
use crate::cli::commands::check::cases::{Case, Subject};
use crate::cli::commands::check::inputs::GatheredInputs;
use crate::cli::commands::check::installed;
use olmguard_admission::OnUndecided;
use olmguard_engine::explain::{self, Answer, answer_with_successors, not_judged};
use olmguard_engine::extension::Extension;
use olmguard_engine::judge::{Basis, Edit, Verdict};

/// Judges one case. The answer includes the warnings of the run's settings. Also returns the names of all successors.
pub(super) fn judge(
    basis: Basis<'_>,
    case: &Case,
    gathered: &GatheredInputs,
    plan: &CheckPlan<'_>,
) -> (Answer, Option<Vec<String>>) {
    let (mut answer, successors) = match &case.subject {
        Subject::Unknown(exemption) => (not_judged(exemption), None),
        Subject::Review(review) => review.answer_with_successors(basis),
        Subject::Manifest(extension, schema) => {
            let (installed, doubt) = installed::of(basis, case, extension);
            let found = case.past.found();
            let old = found.and_then(|found| found.old(extension, plan.args.all));
            let edit = Edit {
                new: extension,
                old: old.as_ref(),
                installed: &installed,
                schema,
                requester: &plan.requester,
            };
            let (mut answer, successors) = answer_with_successors(basis, &edit);
            if matches!(answer.verdict(), Verdict::Allow | Verdict::Undecided) {
                let renamed = renamed(case, extension, gathered);
                explain::warn_last(&mut answer.warnings, renamed.map(explain::renamed));
            }
            explain::warn_of_base(&mut answer, doubt);
            (answer, successors)
        }
    };
    let on_undecided = plan.args.on_undecided;
    if answer.verdict() == Verdict::Undecided && on_undecided == Some(OnUndecided::Warn) {
        let let_through = explain::let_through(&answer);
        explain::warn_first(&mut answer.warnings, let_through);
    }
    (answer, successors)
}

/// The name of the only removed extension that requested the package of this extension, which is new.
fn renamed<'a>(
    case: &Case,
    extension: &Extension,
    gathered: &'a GatheredInputs,
) -> Option<&'a str> {
    let package = &extension.filter.as_ref().ok()?.package;
    match case.past {
        Past::Added => gathered.renames.only(package),
        _ => None,
    }
}

/// The exit code of the run. If several apply, the order of precedence is 5, 3, 4, 1.
pub(super) fn exit(
    bad: impl Iterator<Item = Exit>,
    gathered: &GatheredInputs,
    answers: &[Answer],
    args: &CheckArgs,
) -> Exit {
    let codes = answers.iter().map(|answer| exit_of(answer, args));
    let has_none = answers.is_empty() && gathered.unchanged == 0;
    let nothing = (args.require_match && has_none).then_some(Exit::BadInput);
    Exit::worst(codes.chain(bad).chain(nothing))
}

/// The exit code of an answer.
pub(super) fn exit_of(answer: &Answer, args: &CheckArgs) -> Exit {
    if is_denied_by_warnings(answer, args) {
        Exit::Denied
    } else {
        exit_without_warnings(answer, args)
    }
}

/// Whether an answer counts as denied only because `--warn-as-error` counts its warnings.
pub(super) fn is_denied_by_warnings(answer: &Answer, args: &CheckArgs) -> bool {
    let is_counted = args.warn_as_error && !answer.warnings.is_empty();
    is_counted && exit_without_warnings(answer, args) == Exit::Good
}

fn exit_without_warnings(answer: &Answer, args: &CheckArgs) -> Exit {
    match answer.verdict() {
        Verdict::Undecided if answer.rests_on_bad_input => Exit::BadInput,
        Verdict::Undecided => undecided(args),
        Verdict::Deny => Exit::Denied,
        Verdict::Allow | Verdict::NotJudged => Exit::Good,
    }
}

/// The exit code of an undecided change.
pub(super) fn undecided(args: &CheckArgs) -> Exit {
    match args.on_undecided {
        None => Exit::Undecided,
        Some(OnUndecided::Deny) => Exit::Denied,
        Some(OnUndecided::Warn) => Exit::Good,
    }
}
