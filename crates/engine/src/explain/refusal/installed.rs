//! Why it is not known what is installed.

use crate::explain::refusal::{Detail, detail, names, sentences};
use crate::extension::UnknownCause;

/// The reason, for line 1.
pub(in crate::explain) fn reason(cause: &UnknownCause) -> &'static str {
    match cause {
        UnknownCause::Condition => {
            "the installed version is unknown: condition Installed is Unknown"
        }
        UnknownCause::ImageOnly => {
            "the installed version is unknown: the status names only an image"
        }
        UnknownCause::WrongType { .. } => {
            "the installed version is unknown: the status is malformed"
        }
        UnknownCause::NoOldObject => {
            "the installed version is unknown: the request has no old object"
        }
        UnknownCause::NotToBeHad { .. } => {
            "the installed version is unknown: the cluster does not report it"
        }
        UnknownCause::NotInBase { .. } | UnknownCause::BaseUndecided { .. } => {
            "the installed version is unknown: the base does not show it"
        }
        UnknownCause::Several { .. } => "several bundles have the installed version",
        UnknownCause::Nameless { .. } => "the name of the installed bundle is unknown",
    }
}

/// What there is to know besides.
pub(super) fn details(cause: &UnknownCause) -> Vec<Detail> {
    match cause {
        UnknownCause::Several { bundles } => vec![detail("Candidates", names(bundles))],
        UnknownCause::Nameless { names: fitting } => {
            let cause = "no selected catalog has a bundle of the installed version";
            let cause = sentences("Cause", vec![cause.to_owned()]);
            let names = (!fitting.is_empty()).then(|| detail("Candidates", names(fitting)));
            [cause].into_iter().chain(names).collect()
        }
        UnknownCause::NotToBeHad { why } | UnknownCause::NotInBase { why } => {
            vec![sentences("Cause", vec![why.clone()])]
        }
        UnknownCause::BaseUndecided { reason } => {
            let cause = format!("it is undecided what the base resolves to now [{reason}]");
            vec![sentences("Cause", vec![cause])]
        }
        UnknownCause::WrongType { field } => vec![detail("Field", vec![(*field).to_owned()])],
        UnknownCause::NoOldObject => vec![detail("Field", vec!["request.oldObject".to_owned()])],
        UnknownCause::Condition | UnknownCause::ImageOnly => Vec::new(),
    }
}

/// What is missing, as a sentence.
pub(super) fn needed(cause: &UnknownCause) -> &'static str {
    match cause {
        UnknownCause::Several { .. } | UnknownCause::Nameless { .. } => {
            "Add the name of the installed bundle: --installed EXTENSION=VERSION,bundle=NAME."
        }
        UnknownCause::NoOldObject => "The update request must hold the extension as it was.",
        UnknownCause::NotToBeHad { .. } => {
            "Use a cluster that shows its extensions, or set --installed."
        }
        UnknownCause::NotInBase { .. } | UnknownCause::BaseUndecided { .. } => {
            "Use a base that can be read and has the extension once, or set --installed."
        }
        UnknownCause::Condition | UnknownCause::ImageOnly | UnknownCause::WrongType { .. } => {
            "The status must name the installed bundle and its version."
        }
    }
}
