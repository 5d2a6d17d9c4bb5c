//! Findings of reports: one model for all rules, and its output as GitHub workflow commands.

use std::fmt::{self, Write as _};

use serde::Serialize;

use crate::text::clean;
use olmguard_catalog::version::go::one_line;

/// A finding of a report, or the reason why it cannot find more.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The id of the rule, or the reason code of an answer.
    pub id: &'static str,
    /// The severity.
    pub severity: Severity,
    /// A short title.
    pub title: String,
    /// The location.
    pub place: Place,
    /// The message, in one or more lines. Each format escapes it.
    pub text: String,
    /// The parts that, with the file and the id, identify the finding after it has moved in its
    /// file.
    pub identity: Option<[String; 2]>,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Information, often intended.
    Note,
    /// Someone is likely to be surprised or to miss upgrades.
    Warning,
    /// The subject is rejected, or cannot be read: the run fails.
    Error,
}

/// The location of a finding.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Place {
    /// No location, because the finding is about the whole run.
    Run,
    /// A file, with line and column, counted from 1, if they are known.
    File(String, Option<(u32, u32)>),
    /// A named item that is not a file.
    Named(String),
}

impl Finding {
    /// Creates a message of the run itself, which is one line in every format.
    pub fn of_run(title: &str, severity: Severity, text: impl Into<String>) -> Self {
        Self {
            id: RUN,
            severity,
            title: title.to_owned(),
            place: Place::Run,
            text: text.into(),
            identity: None,
        }
    }

    /// The text on one line.
    pub fn line(&self) -> String {
        one_line(&self.text)
    }

    /// The text with its line breaks, and without characters that are not printable.
    pub(crate) fn clean(&self) -> String {
        clean(&self.text)
    }
}

impl Severity {
    /// All severities, worst first.
    pub const ALL: [Self; 3] = [Self::Error, Self::Warning, Self::Note];

    /// The name in options and results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The id of messages of the run itself.
const RUN: &str = "run";

/// Formats findings as workflow commands, one per line. GitHub shows them next to the lines of the
/// files.
///
/// Invariant: a command is one line, whatever its parts contain. Nothing else may be printed with
/// the commands, because a runner could read commands in it.
pub fn github<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> String {
    findings.into_iter().map(command).collect()
}

fn command(finding: &Finding) -> String {
    let mut line = match finding.severity {
        Severity::Note => "::notice ".to_owned(),
        severity => format!("::{severity} "),
    };
    // Standard input is not a file of the repository.
    if let Place::File(file, at) = &finding.place
        && file != "-"
    {
        let file = property(in_repository(file));
        write!(line, "file={file},").expect("a String takes everything");
        if let Some((at, column)) = at {
            write!(line, "line={at},col={column},").expect("a String takes everything");
        }
    }
    let message = match finding.id {
        RUN => finding.line(),
        _ => finding.clean(),
    };
    let (title, message) = (property(&finding.title), data(&message));
    line + &format!("title={title}::{message}\n")
}

/// Returns a path as the repository names it, without a leading `./`.
pub(crate) fn in_repository(path: &str) -> &str {
    let rest = path
        .strip_prefix("./")
        .map(|rest| rest.trim_start_matches('/'));
    match rest {
        Some(rest) if !rest.is_empty() => in_repository(rest),
        _ => path,
    }
}

/// Escapes a message. Line breaks are kept.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes a value of a command's property.
fn property(text: &str) -> String {
    data(&one_line(text))
        .replace(':', "%3A")
        .replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_keeps_its_lines_and_what_a_run_says_is_one() {
        let run = Finding::of_run("olmguard check", Severity::Note, "a: 100%\n::error::b");
        let found = Finding {
            id: "Downgrade",
            severity: Severity::Error,
            place: Place::File("./a,b.yaml".to_owned(), Some((1, 2))),
            ..run.clone()
        };
        let expected = "\
::notice title=olmguard check::a: 100%25\\n::error::b
::error file=a%2Cb.yaml,line=1,col=2,title=olmguard check::a: 100%25%0A\\x3a:error::b
";
        assert_eq!(github([&run, &found]), expected);
    }

    #[test]
    fn a_path_is_told_as_it_stands_in_the_repository() {
        for (path, expected) in [
            ("./a.yaml", "a.yaml"),
            ("././/apps/./a.yaml", "apps/./a.yaml"),
            ("../a.yaml", "../a.yaml"),
            (".a.yaml", ".a.yaml"),
            ("./", "./"),
            ("/a.yaml", "/a.yaml"),
        ] {
            assert_eq!(in_repository(path), expected, "{path}");
        }
    }
}
