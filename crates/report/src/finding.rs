//! What a report finds: one model for every rule, and GitHub's workflow commands of it.

use std::fmt::{self, Write as _};

use serde::Serialize;

use crate::text::clean;
use olmguard_catalog::version::go::one_line;

/// One thing that a report finds, or that keeps it from finding more.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The rule, or the token of an answer.
    pub id: &'static str,
    /// How much it weighs.
    pub severity: Severity,
    /// What it is about, in a few words.
    pub title: String,
    /// Where it is.
    pub place: Place,
    /// What is found, in a line or more. A form escapes what it must.
    pub text: String,
    /// What else, with the file and the id, makes it the same finding after it has moved in its file.
    pub identity: Option<[String; 2]>,
}

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; often on purpose.
    Note,
    /// Someone is likely to be surprised or left behind.
    Warning,
    /// Something refuses what is found, or cannot be read: the run ends badly.
    Error,
}

/// Where a finding is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Place {
    /// In no place: it is about the run as a whole.
    Run,
    /// In a file, at a line and a column from 1 where they are known.
    File(String, Option<(u32, u32)>),
    /// In what is no file here, by its name.
    Named(String),
}

impl Finding {
    /// What a run says next to its results, which is one line in every form.
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

    /// The text, each of its lines without anything that is not printable.
    pub(crate) fn clean(&self) -> String {
        clean(&self.text)
    }
}

impl Severity {
    /// All of them, the worst first.
    pub const ALL: [Self; 3] = [Self::Error, Self::Warning, Self::Note];

    /// Its name in options and results.
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

/// The id of what a run says next to its results.
const RUN: &str = "run";

/// Findings as workflow commands, a line each, which GitHub shows next to the lines of the files.
///
/// Invariant: a command is one line, whatever its parts hold. Nothing else may be printed with them: a runner would
/// read commands in it.
pub fn github<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> String {
    findings.into_iter().map(command).collect()
}

fn command(finding: &Finding) -> String {
    let mut line = match finding.severity {
        Severity::Note => "::notice ".to_owned(),
        severity => format!("::{severity} "),
    };
    // What is read from standard input is no file of the repository.
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

/// A path as a repository names its files: `./a` is none of them.
pub(crate) fn in_repository(path: &str) -> &str {
    let rest = path
        .strip_prefix("./")
        .map(|rest| rest.trim_start_matches('/'));
    match rest {
        Some(rest) if !rest.is_empty() => in_repository(rest),
        _ => path,
    }
}

/// A message: lines in it are kept.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A value between commas.
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
