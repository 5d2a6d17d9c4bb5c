//! `--installed EXTENSION=VERSION[,bundle=NAME][,release=R]`.

use std::str::FromStr;

use crate::extension::{Filter, Installed, InstalledBundle};
use crate::judge::identify;
use crate::snapshot::Snapshot;

/// What one `--installed` says: one extension or, with commas between them, several.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct InstalledList(pub(super) Vec<InstalledArg>);

/// What is said of one extension.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct InstalledArg {
    pub(super) extension: String,
    version: String,
    bundle: Option<String>,
    /// Given, even empty: explicit.
    release: Option<String>,
}

/// Why an `--installed` is not understood.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum InstalledArgError {
    #[error("{found:?} names no extension or no version: expected EXTENSION=VERSION")]
    Incomplete { found: String },
    #[error("bundle= names no bundle: expected bundle=NAME, or leave it out to have it looked up")]
    EmptyBundle,
    #[error("{part} is given twice: expected it once")]
    Twice { part: &'static str },
}

impl InstalledArg {
    /// The bundle, looked up by its version where no name is given.
    pub(super) fn resolve(&self, snapshot: &Snapshot, filter: Option<&Filter>) -> Installed {
        match (&self.bundle, filter) {
            (None, Some(filter)) => {
                identify(snapshot, filter, &self.version, self.release.as_deref())
            }
            (name, _) => Installed::Bundle(InstalledBundle {
                name: name.clone(),
                version: self.version.clone(),
                release: self.release.clone(),
            }),
        }
    }

    fn set(&mut self, part: &str) -> Result<(), InstalledArgError> {
        let (field, key, value) = match part.split_once('=') {
            Some(("bundle", "")) => return Err(InstalledArgError::EmptyBundle),
            Some(("bundle", name)) => (&mut self.bundle, "bundle=", name),
            Some(("release", release)) => (&mut self.release, "release=", release),
            _ => {
                return Err(InstalledArgError::Incomplete {
                    found: part.to_owned(),
                });
            }
        };
        match field.replace(value.to_owned()) {
            None => Ok(()),
            Some(_) => Err(InstalledArgError::Twice { part: key }),
        }
    }
}

impl FromStr for InstalledList {
    type Err = InstalledArgError;

    fn from_str(text: &str) -> Result<Self, InstalledArgError> {
        let mut list: Vec<InstalledArg> = Vec::new();
        for part in text.split(',') {
            match list.last_mut() {
                Some(extension) if is_part(part) => extension.set(part)?,
                _ => list.push(part.parse()?),
            }
        }
        Ok(Self(list))
    }
}

impl FromStr for InstalledArg {
    type Err = InstalledArgError;

    fn from_str(text: &str) -> Result<Self, InstalledArgError> {
        match text.split_once('=') {
            Some((extension, version)) if !extension.is_empty() && !version.is_empty() => {
                Ok(Self {
                    extension: extension.to_owned(),
                    version: version.to_owned(),
                    bundle: None,
                    release: None,
                })
            }
            _ => Err(InstalledArgError::Incomplete {
                found: text.to_owned(),
            }),
        }
    }
}

/// What follows the version of an extension, and begins no other.
fn is_part(text: &str) -> bool {
    text.starts_with("bundle=") || text.starts_with("release=")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<[String; 4]>, String> {
        let list: InstalledList = text.parse().map_err(|e: InstalledArgError| e.to_string())?;
        let shown = |part: Option<String>| part.unwrap_or_else(|| "-".to_owned());
        let items = list.0.into_iter();
        Ok(items
            .map(|i| [i.extension, i.version, shown(i.bundle), shown(i.release)])
            .collect())
    }

    #[test]
    fn parts_follow_the_version() {
        for (text, expected) in [
            ("a=1.0.0", vec![["a", "1.0.0", "-", "-"]]),
            ("a=1.0.0+2,bundle=p.v1", vec![["a", "1.0.0+2", "p.v1", "-"]]),
            ("a=1.0.0,release=,bundle=p", vec![["a", "1.0.0", "p", ""]]),
            (
                "a=1.0.0,b=2.0.0,release=3",
                vec![["a", "1.0.0", "-", "-"], ["b", "2.0.0", "-", "3"]],
            ),
        ] {
            let parsed = parse(text).unwrap();
            assert_eq!(parsed, expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for (text, expected) in [
            (
                "a",
                "\"a\" names no extension or no version: expected EXTENSION=VERSION",
            ),
            (
                "=1.0.0",
                "\"=1.0.0\" names no extension or no version: expected EXTENSION=VERSION",
            ),
            (
                "a=",
                "\"a=\" names no extension or no version: expected EXTENSION=VERSION",
            ),
            (
                "a=1,b",
                "\"b\" names no extension or no version: expected EXTENSION=VERSION",
            ),
            (
                "a=1,bundle=",
                "bundle= names no bundle: expected bundle=NAME, or leave it out to have it looked up",
            ),
            (
                "a=1,release=2,release=3",
                "release= is given twice: expected it once",
            ),
        ] {
            assert_eq!(parse(text), Err(expected.to_owned()), "{text}");
        }
    }
}
