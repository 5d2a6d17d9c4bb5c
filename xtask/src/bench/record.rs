//! The figures of a run in a file, as a baseline for comparison.

use std::path::{Path, PathBuf};
use std::{fs, io};

use olmguard_figures::Figure;
use serde::{Deserialize, Serialize};

use super::folder;
use crate::machine::Facts;
use crate::report::say;

/// The figures of a run.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Record {
    pub(super) facts: Facts,
    pub(super) figures: Vec<Figure>,
    /// The same figures for the static program.
    #[serde(default)]
    pub(super) statics: Vec<Figure>,
}

/// The reason why there is no baseline.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordError {
    #[error("{name:?} is not a name for a baseline: use letters, digits, `-` and `_`")]
    Name { name: String },
    #[error("the baseline {path}: {source}", path = .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("there is no baseline {name}: `cargo xtask bench --save {name}` makes it")]
    Missing { name: String },
    #[error("the baseline {path}: {source}", path = .path.display())]
    Json {
        path: PathBuf,
        source: serde_json::Error,
    },
}

impl Record {
    /// Reads the baseline of this name.
    pub(super) fn read(name: &str) -> Result<Self, RecordError> {
        let path = path(name)?;
        let text = fs::read_to_string(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => RecordError::Missing {
                name: name.to_owned(),
            },
            _ => RecordError::File {
                path: path.clone(),
                source,
            },
        })?;
        serde_json::from_str(&text).map_err(|source| RecordError::Json { path, source })
    }

    /// Saves the figures. The file is replaced as a whole.
    pub(super) fn save(&self, path: &Path) -> Result<(), RecordError> {
        let failed = |source| RecordError::File {
            path: path.to_owned(),
            source,
        };
        let text = serde_json::to_string_pretty(self).map_err(|source| RecordError::Json {
            path: path.to_owned(),
            source,
        })?;
        let part = path.with_added_extension("part");
        fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failed)?;
        fs::write(&part, text)
            .and_then(|()| fs::rename(&part, path))
            .map_err(failed)?;
        say(format_args!("saved {}", path.display()));
        Ok(())
    }
}

/// The path of the baseline of this name.
pub(super) fn path(name: &str) -> Result<PathBuf, RecordError> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    if name.is_empty() || !name.chars().all(is_part) {
        return Err(RecordError::Name {
            name: name.to_owned(),
        });
    }
    Ok(folder().join(format!("{name}.json")))
}

#[cfg(test)]
mod tests {
    use olmguard_figures::{Bench, Unit};

    use super::*;

    #[test]
    fn a_name_is_no_path() {
        for name in ["", "../x", "a b", "a.json"] {
            let error = path(name).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("{name:?} is not a name")),
                "{error}"
            );
        }
        assert!(
            path("before-1")
                .unwrap()
                .ends_with("target/bench/before-1.json")
        );
    }

    #[test]
    fn a_record_is_read_as_it_was_saved() {
        let folder = tempfile::tempdir().unwrap();
        let record = Record {
            facts: Facts::default(),
            figures: vec![Figure::new(Bench::Lint, "v4.17", Unit::Milliseconds, 21.4)],
            statics: Vec::new(),
        };
        let path = folder.path().join("new/a.json");
        record.save(&path).unwrap();
        let read: Record = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(read, record);
    }

    #[test]
    fn a_missing_baseline_is_an_error_with_the_way_to_make_it() {
        assert_eq!(
            Record::read("no-such-baseline").unwrap_err().to_string(),
            "there is no baseline no-such-baseline: `cargo xtask bench --save no-such-baseline` makes it"
        );
    }
}
