//! What is installed of an extension: as `--installed EXTENSION=VERSION[,bundle=NAME][,release=R]`
//! says, else as a cluster does, else what the base pins, else what the manifest's own status says,
//! else what a snapshot says, else what the base resolves to.

use std::str::FromStr;

use crate::cli::args::installed::{PartError, SaidArg, is_part};
use crate::cli::commands::check::args::Plan;
use crate::cli::commands::check::base::Past;
use crate::cli::commands::check::cases::{Case, InstalledSource};
use olmguard_engine::extension::{Extension, Filter, Installed, UnknownCause};
use olmguard_engine::judge::{Basis, Token};
use olmguard_engine::snapshot::Snapshot;

/// What is installed and, where the base asks for something and that is not what counts, why not.
pub(super) fn of(
    basis: Basis<'_>,
    case: &Case,
    extension: &Extension,
    plan: &Plan,
) -> (Installed, Option<Token>) {
    let name = extension.identity.name.as_ref();
    let given = name.and_then(|name| plan.installed.get(name));
    let own = || (extension.installed.clone(), None);
    match (given, case.told, &case.past) {
        (Some(given), ..) => {
            let filter = extension.filter.as_ref().ok();
            (given.resolve(basis.snapshot, filter), None)
        }
        (None, InstalledSource::ByCluster, _) | (None, _, Past::NotAsked | Past::Added) => own(),
        (None, InstalledSource::ByManifests, Past::Unknown(why)) => {
            let why = why.clone();
            (Installed::Unknown(UnknownCause::NotInBase { why }), None)
        }
        (None, InstalledSource::ByManifests, Past::Found(found)) => {
            found.ancestor.before().installed(basis, extension)
        }
    }
}

/// What one `--installed` says: one extension or, with commas between them, several.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct InstalledList(pub(super) Vec<InstalledArg>);

/// What is said of one extension.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct InstalledArg {
    pub(super) extension: String,
    said: SaidArg,
}

/// Why an `--installed` is not understood.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum InstalledArgError {
    #[error("{found:?} has no extension or no version: write EXTENSION=VERSION")]
    Incomplete { found: String },
    #[error(transparent)]
    Part(#[from] PartError),
}

impl InstalledArg {
    /// The bundle, looked up by its version where no name is given.
    pub(super) fn resolve(&self, snapshot: &Snapshot, filter: Option<&Filter>) -> Installed {
        self.said.resolve(snapshot, filter)
    }
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
    use olmguard_engine::judge::StatedInstalled;

    fn parse(text: &str) -> Result<Vec<[String; 4]>, String> {
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
            let parsed = parse(text).unwrap();
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
            assert_eq!(parse(text), Err(expected.to_owned()), "{text}");
        }
    }
}
