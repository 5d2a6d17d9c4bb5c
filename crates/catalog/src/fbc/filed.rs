//! The file of operator-controller's cache in which a blob ends up.
//!
//! The cache joins package, schema and name into a path, as Go's `filepath.Join` does. Names with
//! `/` or `..` in them therefore end up elsewhere, perhaps in another package's folder or outside
//! the cache; names that cannot name a file make the whole catalog unreadable.
//!
//! Upstream: operator-controller, [`internal/operator-controller/catalogmetadata/cache/cache.go`],
//! `writeFS`. Not followed: a file where another blob needs a folder.
//!
//! [`internal/operator-controller/catalogmetadata/cache/cache.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/catalogmetadata/cache/cache.go

use std::borrow::Cow;

use super::error::FbcErrorKind;
use crate::blob::Key;

/// Where a blob is filed; the owner of a [`Key`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FiledKey<'a> {
    pub(crate) package: Cow<'a, str>,
    pub(crate) schema: Cow<'a, str>,
    pub(crate) name: Cow<'a, str>,
}

/// Files a blob; `None` where no package's folder holds it, so that nothing ever reads it.
///
/// `package` is the blob's own name if it is an `olm.package`.
pub(crate) fn file<'a>(
    package: Cow<'a, str>,
    schema: Cow<'a, str>,
    name: Cow<'a, str>,
) -> Result<Option<FiledKey<'a>>, FbcErrorKind> {
    let name = if name.is_empty() {
        schema.clone()
    } else {
        name
    };
    for (what, text) in [("package", &package), ("schema", &schema), ("name", &name)] {
        check(what, text)?;
    }
    if [&package, &schema, &name]
        .into_iter()
        .all(|text| is_simple(text))
    {
        let filed = FiledKey {
            package,
            schema,
            name,
        };
        return Ok(filed.is_in_folder().then_some(filed));
    }
    Ok(refile(&format!("{package}/{schema}/{name}.json")))
}

impl FiledKey<'_> {
    pub fn key(&self) -> Key<'_> {
        Key {
            package: &self.package,
            schema: &self.schema,
            name: &self.name,
        }
    }

    fn is_in_folder(&self) -> bool {
        !self.package.is_empty() || !self.schema.is_empty()
    }
}

/// Whether a text is one element of a path, or none.
fn is_simple(text: &str) -> bool {
    !text.contains('/') && text != "." && text != ".."
}

fn check(what: &'static str, text: &str) -> Result<(), FbcErrorKind> {
    let limit = if what == "name" {
        NAME_MAX - ".json".len()
    } else {
        NAME_MAX
    };
    let reason = if text.contains('\0') {
        "it contains a NUL byte"
    } else if text.split('/').any(|element| element.len() > limit) {
        "it is too long for a file name"
    } else {
        return Ok(());
    };
    let name = text.chars().take(SHOWN).collect::<String>().into();
    Err(FbcErrorKind::Unfilable { what, name, reason })
}

/// Reads package, schema and name from the path that a blob with odd names ends up at.
fn refile(path: &str) -> Option<FiledKey<'static>> {
    let mut elements = Vec::new();
    for element in path.split('/') {
        match element {
            "" | "." => {}
            ".." => drop(elements.pop()?),
            other => elements.push(other),
        }
    }
    let name = elements.pop()?.strip_suffix(".json")?.to_owned();
    let (package, schema) = match elements.split_first() {
        None => return None,
        Some((folder, [])) => ("", (*folder).to_owned()),
        Some((folder, inner)) => (*folder, inner.join("/")),
    };
    Some(FiledKey {
        package: package.to_owned().into(),
        schema: schema.into(),
        name: name.into(),
    })
}

/// How many bytes the name of a file may have on Linux.
const NAME_MAX: usize = 255;

/// How many characters of a name an error shows.
const SHOWN: usize = 64;
