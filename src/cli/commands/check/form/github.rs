//! Workflow commands of GitHub: a line for each refusal, each warning, and what could not be read, which
//! GitHub shows beside the line of the file.
//!
//! Nothing else is printed: a runner would read commands in it.

use crate::cli::commands::check::form::{CheckedExtension, Run};
use crate::cli::commands::check::trouble::{Trouble, Weight};
use crate::cli::output::workflow::Command;

/// The commands, a line each.
pub(in crate::cli::commands::check) fn github(run: &Run<'_>) -> String {
    let mut text = String::new();
    for trouble in run.troubles_shown() {
        text.push_str(&of_trouble(trouble));
    }
    for told in run.shown() {
        result(&mut text, told);
    }
    text
}

fn of_trouble(trouble: &Trouble) -> String {
    let (file, at) = trouble.place().unzip();
    let command = Command {
        word: word(trouble.weight),
        file,
        at: at.flatten(),
        title: "olmguard check",
    };
    command.line(&trouble.line())
}

fn result(text: &mut String, told: &CheckedExtension<'_>) {
    let title = |what| format!("{}: {what}", told.name());
    let command = |weight, title: &str, message: &str| {
        let command = Command {
            word: word(weight),
            file: Some(told.file()),
            at: Some(told.at()),
            title,
        };
        command.line(message)
    };
    if let Some(weight) = told.weight() {
        text.push_str(&command(weight, &title(told.token()), &told.text()));
    }
    for warning in told.warnings() {
        text.push_str(&command(
            told.weight_of_warnings(),
            &title("warning"),
            &warning,
        ));
    }
}

fn word(weight: Weight) -> &'static str {
    match weight {
        Weight::Error => "error",
        Weight::Warning => "warning",
        Weight::Note => "notice",
    }
}
