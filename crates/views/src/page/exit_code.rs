//! What an exit code means and what to do about it: parts of the page `docs/exit-codes.md`.

/// An exit code that the page describes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ExitCode {
    code: u8,
    meaning: &'static str,
    what_to_do: &'static str,
}

impl ExitCode {
    /// What it means for `olmguard check`, and what to do about it, in Markdown.
    pub fn page(self) -> String {
        let Self {
            code,
            meaning,
            what_to_do,
        } = self;
        format!(
            "# Exit code {code}\n\n`olmguard check` exits with {code}: {meaning}.\n\n{what_to_do}\n\n{OTHERS}"
        )
    }

    fn of(code: u8) -> Option<Self> {
        let (_, row) = PAGE.split_once(&format!("\n| {code} | "))?;
        let (_, heading) = PAGE.split_once(&format!("\n## Exit code {code}"))?;
        let (_, section) = heading.split_once("\n\n")?;
        Some(Self {
            code,
            meaning: row.split(" | ").next()?,
            what_to_do: section.split("\n## ").next()?.trim_end(),
        })
    }
}

/// The exit code that a text consists of or ends with, such as `4`, `exit 4`, or what a pipeline prints:
/// `Process completed with exit code 4.`
pub(super) fn named(text: &str) -> Option<ExitCode> {
    let mut words = text.trim_end_matches('.').rsplit(' ');
    let code = words.next()?.parse().ok()?;
    let is_named = words.next().is_none_or(|word| {
        let word = word.trim_end_matches(':');
        BEFORE.iter().any(|name| name.eq_ignore_ascii_case(word))
    });
    ExitCode::of(code).filter(|_| is_named)
}

/// The words before the number.
const BEFORE: [&str; 3] = ["code", "exit", "status"];

const OTHERS: &str = "\
The page `docs/exit-codes.md` describes all exit codes. `olmguard COMMAND --help` lists the exit codes of a command.
";

const PAGE: &str = include_str!("../../../../docs/exit-codes.md");
