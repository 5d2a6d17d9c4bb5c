//! `VERSION[,bundle=NAME][,release=R]`: an installed bundle, as a user states it. `--installed` states it for
//! extensions.

use std::str::FromStr;

use olmguard_engine::extension::{Filter, Installed};
use olmguard_engine::judge::StatedInstalled;
use olmguard_engine::snapshot::Snapshot;
use olmguard_views::see::nameless;

/// An installed bundle, as a user states it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SaidArg(pub(crate) StatedInstalled);

/// An error in a part of a stated bundle.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum PartError {
    #[error("{found:?} is not a part of an installed version: expected bundle=NAME or release=R")]
    Unknown { found: String },
    #[error("bundle= has no name: write bundle=NAME, or omit it to look up the bundle")]
    EmptyBundle,
    #[error("{part} is given twice: give it once")]
    Twice { part: &'static str },
    #[error("it is empty: expected a version or the name of a bundle")]
    Nothing,
}

impl SaidArg {
    /// A version or a bundle name, without further parts.
    pub(crate) fn of(text: &str) -> Self {
        Self(StatedInstalled {
            text: text.to_owned(),
            ..StatedInstalled::default()
        })
    }

    /// The installed bundle of an extension with this filter.
    ///
    /// # Errors
    /// If the text is neither a version nor the name of a bundle. The message starts with the flag that sets the text.
    pub(crate) fn resolve(
        &self,
        flag: &str,
        snapshot: &Snapshot,
        filter: &Filter,
    ) -> Result<Installed, String> {
        let installed = self.0.installed(snapshot, filter);
        installed.map_err(|why| nameless(flag, &self.0.text, &filter.package, &why))
    }

    /// Adds a further part.
    fn set(&mut self, part: &str) -> Result<(), PartError> {
        let (field, key, value) = match part.split_once('=') {
            Some(("bundle", "")) => return Err(PartError::EmptyBundle),
            Some(("bundle", name)) => (&mut self.0.bundle, "bundle=", name),
            Some(("release", release)) => (&mut self.0.release, "release=", release),
            _ => {
                return Err(PartError::Unknown {
                    found: part.to_owned(),
                });
            }
        };
        match field.replace(value.to_owned()) {
            None => Ok(()),
            Some(_) => Err(PartError::Twice { part: key }),
        }
    }
}

/// Whether a text is a further part of a stated bundle, and does not start the next one.
fn is_part(text: &str) -> bool {
    text.starts_with("bundle=") || text.starts_with("release=")
}

impl FromStr for SaidArg {
    type Err = PartError;

    fn from_str(text: &str) -> Result<Self, PartError> {
        let mut parts = text.split(',');
        let first = parts.next().filter(|first| !first.is_empty());
        let mut said = Self::of(first.ok_or(PartError::Nothing)?);
        parts.try_for_each(|part| said.set(part))?;
        Ok(said)
    }
}

/// The value of an `--installed`: one extension, or several separated by commas.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct InstalledList(pub(crate) Vec<InstalledArg>);

/// The stated bundle of one extension.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct InstalledArg {
    pub(crate) extension: String,
    pub(crate) said: SaidArg,
}

/// An error in a value of `--installed`.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum InstalledArgError {
    #[error("{found:?} has no extension or no version: write EXTENSION=VERSION")]
    Incomplete { found: String },
    #[error(transparent)]
    Part(#[from] PartError),
    #[error("{0}")]
    Nameless(String),
}

impl FromStr for InstalledList {
    type Err = InstalledArgError;

    fn from_str(text: &str) -> Result<Self, InstalledArgError> {
        let mut list: Vec<InstalledArg> = Vec::new();
        for part in text.split(',') {
            match list.last_mut() {
                Some(extension) if is_part(part) => extension.said.set(part)?,
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
                    said: SaidArg::of(version),
                })
            }
            _ => Err(InstalledArgError::Incomplete {
                found: text.to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<[String; 3], String> {
        let said: SaidArg = text.parse().map_err(|e: PartError| e.to_string())?;
        let shown = |part: Option<String>| part.unwrap_or_else(|| "-".to_owned());
        Ok([said.0.text, shown(said.0.bundle), shown(said.0.release)])
    }

    #[test]
    fn a_version_or_a_name_and_its_parts() {
        let ok = |parts: [&str; 3]| Ok(parts.map(str::to_owned));
        assert_eq!(parse("1.0.0"), ok(["1.0.0", "-", "-"]));
        assert_eq!(parse("p.v1"), ok(["p.v1", "-", "-"]));
        assert_eq!(parse("1.0.0,release=,bundle=p"), ok(["1.0.0", "p", ""]));
        for (text, error) in [
            (
                "",
                "it is empty: expected a version or the name of a bundle",
            ),
            (
                "1,x=2",
                "\"x=2\" is not a part of an installed version: expected bundle=NAME or release=R",
            ),
            (
                "1,release=2,release=3",
                "release= is given twice: give it once",
            ),
        ] {
            assert_eq!(parse(text), Err(error.to_owned()), "{text}");
        }
    }

    fn parse_list(text: &str) -> Result<Vec<[String; 4]>, String> {
        let list: InstalledList = text.parse().map_err(|e: InstalledArgError| e.to_string())?;
        let shown = |part: Option<String>| part.unwrap_or_else(|| "-".to_owned());
        let items = list.0.into_iter();
        Ok(items
            .map(|InstalledArg { extension, said }| {
                let StatedInstalled {
                    text,
                    bundle,
                    release,
                } = said.0;
                [extension, text, shown(bundle), shown(release)]
            })
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
            let parsed = parse_list(text).unwrap();
            assert_eq!(parsed, expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for (text, expected) in [
            (
                "a",
                "\"a\" has no extension or no version: write EXTENSION=VERSION",
            ),
            (
                "=1.0.0",
                "\"=1.0.0\" has no extension or no version: write EXTENSION=VERSION",
            ),
            (
                "a=",
                "\"a=\" has no extension or no version: write EXTENSION=VERSION",
            ),
            (
                "a=1,b",
                "\"b\" has no extension or no version: write EXTENSION=VERSION",
            ),
            (
                "a=1,bundle=",
                "bundle= has no name: write bundle=NAME, or omit it to look up the bundle",
            ),
            (
                "a=1,release=2,release=3",
                "release= is given twice: give it once",
            ),
        ] {
            assert_eq!(parse_list(text), Err(expected.to_owned()), "{text}");
        }
    }
}
