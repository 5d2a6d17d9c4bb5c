//! The errors of manifests, and the places where two of them differ.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use similar::TextDiff;

/// The reason why manifests could not be rendered, or are not as expected.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RenderError {
    #[error(
        "no {program}: expected it in a folder of OLMGUARD_E2E_BIN or on the PATH; \
         `cargo xtask e2e-assets` makes it"
    )]
    Missing { program: &'static str },
    #[error("{}: {source}", .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("`{line}` does not start: {source}")]
    Start { line: String, source: io::Error },
    #[error("`{line}` ended with {status}\n{said}")]
    Failed {
        line: String,
        status: ExitStatus,
        said: String,
    },
    #[error(
        "{combination} is not the same from both sources: expected the chart in deploy/chart to \
         render what the kustomizations in deploy and certs do\n{difference}"
    )]
    Unlike {
        combination: String,
        difference: String,
    },
    #[error(
        "{} is not what its sources render to; `cargo xtask render` writes it anew\n{difference}",
        .path.display()
    )]
    Stale { path: PathBuf, difference: String },
}

impl RenderError {
    /// Whether this machine lacks a program for rendering, even if the manifests are correct.
    pub(crate) fn is_for_want_of_means(&self) -> bool {
        matches!(self, Self::Missing { .. })
    }

    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

/// The lines that differ, with some context.
pub(super) fn difference(expected: &str, found: &str) -> String {
    let difference = TextDiff::from_lines(expected, found);
    let mut lines = difference.unified_diff();
    lines.header("expected", "found").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_names_both_lines() {
        assert_eq!(
            difference("a\nb\n", "a\nc\n"),
            "--- expected\n+++ found\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
        );
    }
}
