//! The tables of a run in docs/performance.md, between two markers, and the picture next to it.

use std::path::PathBuf;
use std::{fs, io};

use super::picture::picture;
use super::record::Record;
use super::table::{Table, summary, tables};
use crate::commit::Commit;
use crate::program::root;
use crate::report::say;

/// Why the page is not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    #[error(
        "--write needs a checkout without changes: the page has the figures of one commit, so commit first"
    )]
    Changed,
    #[error("{path}: {source}", path = .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error(
        "{PAGE} has no line {marker:?} where it is expected: the figures are written between two of them"
    )]
    NoMarker { marker: &'static str },
}

/// The commit that the figures are of, if the page can be written.
pub(super) fn prepare() -> Result<Commit, PageError> {
    replaced(&read()?, "")?;
    Commit::of_clean_checkout().ok_or(PageError::Changed)
}

/// Writes the page and the picture.
pub(super) fn write(record: &Record, commit: &Commit) -> Result<(), PageError> {
    let text = replaced(&read()?, &section(record, commit))?;
    put(PAGE, &text)?;
    if let Some(picture) = picture(&record.figures) {
        put(PICTURE, &picture)?;
    }
    Ok(())
}

fn section(record: &Record, commit: &Commit) -> String {
    let date = commit.date.split('T').next().unwrap_or_default();
    let tables = tables(record, None);
    let tables = tables.iter().map(Table::markdown).collect::<Vec<_>>();
    let (facts, summary) = (&record.facts, summary(record));
    format!(
        "{facts}; committed on {date}. {summary}. A ratio is how many times better olmguard is.\n\n{}",
        tables.join("\n")
    )
}

fn read() -> Result<String, PageError> {
    let path = root().join(PAGE);
    fs::read_to_string(&path).map_err(|source| PageError::File { path, source })
}

fn put(file: &str, text: &str) -> Result<(), PageError> {
    let path = root().join(file);
    fs::write(&path, text).map_err(|source| PageError::File { path, source })?;
    say(format_args!("wrote {file}"));
    Ok(())
}

/// The page with another text between the markers.
fn replaced(page: &str, text: &str) -> Result<String, PageError> {
    let missing = |marker| PageError::NoMarker { marker };
    let (before, rest) = page.split_once(START).ok_or(missing(START))?;
    let (_, after) = rest.split_once(END).ok_or(missing(END))?;
    Ok(format!(
        "{before}{START}\n{}\n{END}{after}",
        text.trim_end()
    ))
}

const PAGE: &str = "docs/performance.md";
const PICTURE: &str = "docs/growth.svg";
const START: &str = "<!-- written by cargo xtask bench --write -->";
const END: &str = "<!-- end of what it writes -->";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let page = format!("before\n{START}\nold\nolder\n{END}\nafter\n");
        let expected = format!("before\n{START}\nnew\n{END}\nafter\n");
        assert_eq!(replaced(&page, "new\n").unwrap(), expected);
        for page in [format!("{START}\nold"), format!("{END}\nold\n")] {
            let error = replaced(&page, "new").unwrap_err().to_string();
            assert!(
                error.starts_with("docs/performance.md has no line \"<!-- "),
                "{error}"
            );
        }
    }

    #[test]
    fn the_page_has_its_markers() {
        assert!(replaced(&read().unwrap(), "new").is_ok());
    }
}
