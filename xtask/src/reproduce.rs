//! `cargo xtask reproduce`: builds the image of the commit in two new checkouts, and compares the bytes.
//!
//! The checkouts are in directories with different names, so that a path or a time in the program becomes visible.

use std::path::Path;
use std::{fs, io};

use crate::commit::Commit;
use crate::digest::sha256;
use crate::program::{Program, ProgramError, root};
use crate::report::say;

/// The reason why two images are not known to be equal.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReproduceError {
    #[error(
        "the commit is not known: commit or stash the changes, and run this in a checkout of git"
    )]
    NoCommit,
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error("{what}: {source}")]
    File {
        what: &'static str,
        source: io::Error,
    },
    #[error(
        "two builds of {revision} are different: the digests of their images are {first} and {second}"
    )]
    Different {
        revision: String,
        first: String,
        second: String,
    },
}

/// Builds twice, which takes twice as long as a release.
pub(crate) fn run() -> Result<(), ReproduceError> {
    let Commit { revision, .. } = Commit::of_clean_checkout().ok_or(ReproduceError::NoCommit)?;
    let folder = tempfile::tempdir().map_err(cannot("a temporary folder cannot be made"))?;
    let first = digest(&folder.path().join("first"))?;
    let second = digest(&folder.path().join("another/folder"))?;
    if first != second {
        return Err(ReproduceError::Different {
            revision,
            first,
            second,
        });
    }
    say(format_args!(
        "{revision}: two builds make the same image, {first}"
    ));
    Ok(())
}

/// The digest of the image's index, which contains the digests of all its parts.
fn digest(checkout: &Path) -> Result<String, ReproduceError> {
    let clone = Program::new("git").args(["clone", "--quiet"]);
    clone.arg(root()).arg(checkout).run()?;
    let image = checkout.join("target/image");
    let build = Program::cargo("run --quiet --package xtask -- image --output").arg(&image);
    let build = build.env("CARGO_TARGET_DIR", checkout.join("target"));
    build.folder(checkout).run()?;
    let index = fs::read(image.join("index.json")).map_err(cannot("the image cannot be read"))?;
    // Free some gigabytes, which the second build needs.
    fs::remove_dir_all(checkout).map_err(cannot("the checkout cannot be deleted"))?;
    Ok(sha256(&index))
}

fn cannot(what: &'static str) -> impl FnOnce(io::Error) -> ReproduceError {
    move |source| ReproduceError::File { what, source }
}
