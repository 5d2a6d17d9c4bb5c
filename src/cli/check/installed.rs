//! `--installed EXTENSION=VERSION[,bundle=NAME][,release=R]`.

use std::str::FromStr;

use crate::extension::{Filter, Installed, InstalledBundle};
use crate::judge::identify;
use crate::snapshot::Snapshot;

/// What one `--installed` says.
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
    #[error("{found:?} is not understood: expected bundle=NAME or release=R after the version")]
    UnknownPart { found: String },
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
            Some(("bundle", name)) => (&mut self.bundle, "bundle=", name),
            Some(("release", release)) => (&mut self.release, "release=", release),
            _ => {
                return Err(InstalledArgError::UnknownPart {
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

impl FromStr for InstalledArg {
    type Err = InstalledArgError;

    fn from_str(text: &str) -> Result<Self, InstalledArgError> {
        let incomplete = || InstalledArgError::Incomplete {
            found: text.to_owned(),
        };
        let (extension, rest) = text.split_once('=').ok_or_else(incomplete)?;
        let mut parts = rest.split(',');
        let version = parts
            .next()
            .filter(|version| !version.is_empty())
            .ok_or_else(incomplete)?;
        if extension.is_empty() {
            return Err(incomplete());
        }
        let mut read = Self {
            extension: extension.to_owned(),
            version: version.to_owned(),
            bundle: None,
            release: None,
        };
        parts.try_for_each(|part| read.set(part))?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(String, String, Option<String>, Option<String>), String> {
        let read: InstalledArg = text.parse().map_err(|e: InstalledArgError| e.to_string())?;
        Ok((read.extension, read.version, read.bundle, read.release))
    }

    #[test]
    fn parts_follow_the_version() {
        let some = |text: &str| Some(text.to_owned());
        let owned = |a: &str, b: &str, c, d| Ok((a.to_owned(), b.to_owned(), c, d));
        assert_eq!(parse("a=1.0.0"), owned("a", "1.0.0", None, None));
        assert_eq!(
            parse("a=1.0.0+2,bundle=p.v1"),
            owned("a", "1.0.0+2", some("p.v1"), None)
        );
        assert_eq!(
            parse("a=1.0.0,release=,bundle=p"),
            owned("a", "1.0.0", some("p"), some(""))
        );
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
                "a=1,b=2",
                "\"b=2\" is not understood: expected bundle=NAME or release=R after the version",
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
