//! Why it is not known what is installed.

use crate::explain::refusal::{Detail, detail, names, sentences};
use crate::extension::UnknownCause;

/// The reason, for line 1.
pub(super) fn reason(cause: &UnknownCause) -> &'static str {
    match cause {
        UnknownCause::Condition => "what is installed is not known: condition Installed is Unknown",
        UnknownCause::ImageOnly => "what is installed is not known: the status names an image only",
        UnknownCause::WrongType { .. } => "what is installed is not known: its status is malformed",
        UnknownCause::NoOldObject => {
            "what is installed is not known: the request lacks the object as it was"
        }
        UnknownCause::NotToBeHad { .. } => {
            "what is installed is not known: the cluster does not say"
        }
        UnknownCause::NotInBase { .. } | UnknownCause::BaseUndecided { .. } => {
            "what is installed is not known: the base does not say"
        }
        UnknownCause::Several { .. } => "several bundles have the version that is installed",
    }
}

/// What there is to know besides.
pub(super) fn details(cause: &UnknownCause) -> Vec<Detail> {
    match cause {
        UnknownCause::Several { bundles } => vec![detail("Candidates", names(bundles))],
        UnknownCause::NotToBeHad { why } | UnknownCause::NotInBase { why } => {
            vec![sentences("Cause", vec![why.clone()])]
        }
        UnknownCause::BaseUndecided { reason } => {
            let cause = format!("it is undecided what the base resolves to today [{reason}]");
            vec![sentences("Cause", vec![cause])]
        }
        UnknownCause::WrongType { field } => vec![detail("Field", vec![(*field).to_owned()])],
        UnknownCause::NoOldObject => vec![detail("Field", vec!["request.oldObject".to_owned()])],
        UnknownCause::Condition | UnknownCause::ImageOnly => Vec::new(),
    }
}

/// What would have to change.
pub(super) fn needed(cause: &UnknownCause) -> &'static str {
    match cause {
        UnknownCause::Several { .. } => "the name of the installed bundle",
        UnknownCause::NoOldObject => "an update whose request holds the extension as it was",
        UnknownCause::NotToBeHad { .. } => "a cluster that shows its extensions, or --installed",
        UnknownCause::NotInBase { .. } | UnknownCause::BaseUndecided { .. } => {
            "a base that can be read whole and has it once, or --installed"
        }
        UnknownCause::Condition | UnknownCause::ImageOnly | UnknownCause::WrongType { .. } => {
            "a status that names the installed bundle and its version"
        }
    }
}
