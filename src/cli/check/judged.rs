//! What became of each case, and of the run as a whole.

use crate::cli::Exit;
use crate::cli::check::args::{CheckArgs, OnUndecided, Plan};
use crate::cli::check::cases::{Case, Subject};
use crate::cli::check::inputs::Gathered;
use crate::explain::{self, Answer, answer, not_judged};
use crate::extension::{Extension, Installed};
use crate::judge::{Edit, Verdict};
use crate::snapshot::Snapshot;

/// The answer to one case, with the warnings of the run's settings.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) answer: Answer,
}

/// Judges one case.
pub(super) fn judge(snapshot: &Snapshot, case: &Case, plan: &Plan) -> Judged {
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
    if answer.verdict == Verdict::Undecided && plan.on_undecided == Some(OnUndecided::Warn) {
        let message = answer.message.as_deref().unwrap_or_default();
        explain::warn_first(&mut answer.warnings, explain::let_through(message));
    }
    Judged { answer }
}

/// The exit code: of several 5 comes before 3, 3 before 4, 4 before 1.
pub(super) fn exit(gathered: &Gathered, judged: &[Judged], args: &CheckArgs) -> Exit {
    let codes = judged.iter().map(|judged| judged.exit(args));
    let nothing = args.require_match && judged.is_empty();
    let bad = (nothing || !gathered.errors.is_empty()).then_some(Exit::BadInput);
    codes
        .chain(bad)
        .max_by_key(|exit| exit.weight())
        .unwrap_or(Exit::Good)
}

impl Judged {
    fn exit(&self, args: &CheckArgs) -> Exit {
        let answer = &self.answer;
        match (answer.verdict, args.on_undecided) {
            (Verdict::Deny, _) => Exit::Denied,
            (Verdict::Undecided, _) if answer.rests_on_bad_input => Exit::BadInput,
            (Verdict::Undecided, None) => Exit::Undecided,
            (Verdict::Undecided, Some(OnUndecided::Deny)) => Exit::Denied,
            _ if args.warn_as_error && !answer.warnings.is_empty() => Exit::Denied,
            _ => Exit::Good,
        }
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
