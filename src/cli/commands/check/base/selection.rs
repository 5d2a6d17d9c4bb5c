//! The selection of a base by `--base`: a file or a directory, or a revision of the repository that the inputs are in.

use std::path::{Path, PathBuf};

use olmguard_engine::nearest::nearest;

use super::BaseSource;
use crate::revision::{Repository, RepositoryError, RevisionError};

/// The reason why `--base` names nothing to compare with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BaseError {
    #[error("--base: {path:?} does not exist: expected a directory, a file or a git revision")]
    NoPath { path: String },
    #[error(
        "--base: {name:?} is both a path and a git revision: write ./{name} for the path, or the \
         full name of the revision, such as refs/heads/{name}"
    )]
    Both { name: String },
    #[error(
        "--base: {name:?} is not a path, and standard input is not in a git repository: expected a \
         directory or a file with the rendered base"
    )]
    StandardInput { name: String },
    #[error("--base: {name:?} is not a path, and {source}")]
    Repository {
        name: String,
        source: RepositoryError,
    },
    #[error(
        "--base: {} and {} are in two git repositories, and a revision belongs to one: check each \
         repository separately",
        .one.display(),
        .other.display()
    )]
    TwoRepositories { one: PathBuf, other: PathBuf },
    #[error("--base: {source}, and there is no such path{}", did_you_mean(near.as_deref()))]
    Revision {
        source: RevisionError,
        /// A branch or a tag with a similar name.
        near: Option<String>,
    },
    /// The revision is ambiguous, regardless of which paths exist.
    #[error("--base: {0}")]
    Ambiguous(RevisionError),
}

/// Selects the base of this name, for these inputs of `-f`.
pub(super) fn select(name: &str, filenames: &[PathBuf]) -> Result<BaseSource, BaseError> {
    let path = || name.to_owned();
    let exists = Path::new(name).exists();
    if is_plainly_a_path(name) {
        let missing = BaseError::NoPath { path: path() };
        return exists.then(|| BaseSource::Path(path())).ok_or(missing);
    }
    match (exists, revision(name, filenames)) {
        (_, Err(error @ BaseError::Ambiguous(_))) => Err(error),
        (true, Err(_)) => Ok(BaseSource::Path(path())),
        (true, Ok(_)) => Err(BaseError::Both { name: path() }),
        (false, revision) => revision,
    }
}

/// Whether a name can only be a path, not a revision.
fn is_plainly_a_path(name: &str) -> bool {
    let begins = ["/", "./", "../"];
    begins.iter().any(|begin| name.starts_with(begin))
        || [".", ".."].contains(&name)
        || name.ends_with('/')
}

fn revision(name: &str, filenames: &[PathBuf]) -> Result<BaseSource, BaseError> {
    let repository = repository(name, filenames)?;
    let revision = repository.revision(name).map_err(|source| match source {
        RevisionError::Ambiguous { .. } => BaseError::Ambiguous(source),
        source => {
            let is_unknown = matches!(source, RevisionError::Unknown { .. });
            let near = is_unknown.then(|| near(name, &repository.names()));
            let near = near.flatten();
            BaseError::Revision { source, near }
        }
    })?;
    let named = filenames.iter();
    let named = named.filter_map(|path| Some((path, repository.within(path)?)));
    let named: Vec<_> = named.collect();
    let gone = named.iter().filter(|(_, way)| revision.is_emptied(way));
    let shown = |(path, _): &(&PathBuf, _)| path.to_string_lossy().into_owned();
    Ok(BaseSource::Revision {
        name: name.to_owned(),
        emptied: gone.map(shown).collect(),
        paths: named.into_iter().map(|(_, way)| way).collect(),
        revision,
    })
}

/// The repository that contains all inputs.
fn repository(name: &str, filenames: &[PathBuf]) -> Result<Repository, BaseError> {
    let mut found: Option<(Repository, &PathBuf)> = None;
    for path in filenames {
        let around = repository_around(name, path)?;
        match &found {
            None => found = Some((around, path)),
            Some((first, _)) if first.root() == around.root() => {}
            Some((_, one)) => {
                return Err(BaseError::TwoRepositories {
                    one: (*one).clone(),
                    other: path.clone(),
                });
            }
        }
    }
    // Unreachable: `check` requires at least one input.
    found
        .map(|(repository, _)| repository)
        .ok_or_else(|| BaseError::NoPath {
            path: name.to_owned(),
        })
}

fn repository_around(name: &str, path: &Path) -> Result<Repository, BaseError> {
    let name = name.to_owned();
    if path.as_os_str() == "-" {
        return Err(BaseError::StandardInput { name });
    }
    Repository::around(path).map_err(|source| BaseError::Repository { name, source })
}

/// A branch or a tag with a similar name. Relative revisions are not names, so they have none.
fn near(name: &str, known: &[String]) -> Option<String> {
    if name.contains(['~', '^', ':', '{']) {
        return None;
    }
    let other = if name.ends_with("master") {
        name.replace("master", "main")
    } else {
        name.replace("main", "master")
    };
    let near = nearest(name, known.iter().map(String::as_str), 1);
    let is_known = |other: &&String| *other != name && known.contains(other);
    let other = Some(&other).filter(is_known).map(String::as_str);
    other.or_else(|| near.first().copied()).map(str::to_owned)
}

fn did_you_mean(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"))
}
