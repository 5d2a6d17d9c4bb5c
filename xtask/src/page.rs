//! Pages of the documentation with the figures of one commit, between two markers.

use std::path::PathBuf;
use std::{fs, io};

use crate::commit::Commit;
use crate::machine::Facts;
use crate::program::root;
use crate::report::say;

/// A page, and the marker before its figures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FiguresPage {
    pub(crate) file: &'static str,
    pub(crate) start: &'static str,
}

/// The reason why a page is not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    #[error(
        "--write needs a checkout without changes: the page has the figures of one commit, so commit first"
    )]
    Changed,
    #[error("{path}: {source}", path = .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error(
        "{file} has no line {marker:?} where it is expected: the figures are written between two of them"
    )]
    NoMarker {
        file: &'static str,
        marker: &'static str,
    },
}

impl FiguresPage {
    /// The commit of the figures, if the page can be written.
    pub(crate) fn prepare(self) -> Result<Commit, PageError> {
        self.replaced(&self.read()?, "")?;
        Commit::of_clean_checkout().ok_or(PageError::Changed)
    }

    /// The commit and the machine. Call this before measuring, because a checkout can change in the meantime.
    pub(crate) fn facts(self) -> Result<Facts, PageError> {
        self.prepare()?;
        Ok(Facts::gather([].into()))
    }

    /// Writes the figures into the page.
    pub(crate) fn write(self, figures: &str) -> Result<(), PageError> {
        put(self.file, &self.replaced(&self.read()?, figures)?)
    }

    pub(crate) fn read(self) -> Result<String, PageError> {
        let path = root().join(self.file);
        fs::read_to_string(&path).map_err(|source| PageError::File { path, source })
    }

    /// The page with another text between the markers.
    fn replaced(self, page: &str, text: &str) -> Result<String, PageError> {
        let Self { file, start } = self;
        let missing = |marker| PageError::NoMarker { file, marker };
        let (before, rest) = page.split_once(start).ok_or(missing(start))?;
        let (_, after) = rest.split_once(END).ok_or(missing(END))?;
        Ok(format!(
            "{before}{start}\n{}\n{END}{after}",
            text.trim_end()
        ))
    }
}

/// Writes a file of the repository.
pub(crate) fn put(file: &str, text: &str) -> Result<(), PageError> {
    let path = root().join(file);
    fs::write(&path, text).map_err(|source| PageError::File { path, source })?;
    say(format_args!("wrote {file}"));
    Ok(())
}

const END: &str = "<!-- end of what it writes -->";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{bench, faults, mutants, soak};

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let start = "<!-- start -->";
        let page = FiguresPage {
            file: "docs/a.md",
            start,
        };
        let text = format!("before\n{start}\nold\nolder\n{END}\nafter\n");
        let expected = format!("before\n{start}\nnew\n{END}\nafter\n");
        assert_eq!(page.replaced(&text, "new\n").unwrap(), expected);
        for text in [format!("{start}\nold"), format!("{END}\nold\n")] {
            let error = page.replaced(&text, "new").unwrap_err().to_string();
            assert!(
                error.starts_with("docs/a.md has no line \"<!-- "),
                "{error}"
            );
        }
    }

    #[test]
    fn each_page_has_its_markers() {
        for page in [bench::PAGE, faults::PAGE, mutants::PAGE, soak::PAGE] {
            assert!(page.replaced(&page.read().unwrap(), "new").is_ok());
        }
    }
}
