//! The members of one blob, and the path that it is filed under. The members that make up the path
//! are read. For the others only the start is recorded, because the schema determines their meaning
//! and can come last.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use unicase::UniCase;

use super::json::{Cursor, CursorResult, JsonKey, fold_of};
use crate::blob::{BlobKey, JsonKind};
use crate::fbc::FbcErrorKind;
use crate::memory::allocated;

/// The members of a blob. If keys are equal, the last one counts.
#[derive(Default)]
pub(super) struct BlobMembers<'a> {
    pub(super) keys: Keys<'a>,
    pub(super) schema: BlobLabel<'a>,
    pub(super) package: BlobLabel<'a>,
    pub(super) name: BlobLabel<'a>,
    /// Start of the blob.
    pub(super) start: usize,
}

/// The value of `schema`, `package` or `name`.
#[derive(Debug, Default)]
pub enum BlobLabel<'a> {
    #[default]
    /// The object has no such key.
    Absent,
    /// A string.
    Text(PlacedText<'a>),
    /// The value is not a string.
    Other {
        /// The key as written.
        key: Cow<'a, str>,
        /// Start of the value, in bytes.
        at: usize,
        /// Type of the value.
        found: JsonKind,
    },
}

/// A string and its position.
#[derive(Clone, Debug, Default)]
pub struct PlacedText<'a> {
    /// Start of the string, in bytes.
    pub at: usize,
    /// The string, decoded.
    pub text: Cow<'a, str>,
}

impl<'a> BlobMembers<'a> {
    /// Reads the members of the object at the cursor. `early` may read the value of a key
    /// immediately, and returns whether it did.
    pub(super) fn read(
        cursor: &mut Cursor<'a>,
        mut early: impl FnMut(&JsonKey<'a>, &mut Cursor<'a>) -> CursorResult<bool>,
    ) -> CursorResult<Self> {
        let mut members = Self {
            start: cursor.at(),
            ..Self::default()
        };
        cursor.each_member(|cursor, key| {
            let at = cursor.start()?;
            if !early(&key, cursor)? {
                members.read_member(&key, cursor)?;
            }
            let key = key.decode();
            cursor.keep()?;
            cursor.hold(Keys::ROOM + 4 * allocated(key.len()))?;
            members.keys.0.push((key, at));
            Ok(())
        })?;
        Ok(members)
    }

    fn read_member(&mut self, key: &JsonKey<'a>, cursor: &mut Cursor<'a>) -> CursorResult<()> {
        let is = |name| key.fold(name).is_some();
        if is("schema") {
            self.schema = BlobLabel::read(key, cursor)?;
        } else if is("package") {
            self.package = BlobLabel::read(key, cursor)?;
        } else if is("name") {
            self.name = BlobLabel::read(key, cursor)?;
        } else {
            cursor.skip()?;
        }
        Ok(())
    }

    /// Reads the value of a field. If it is absent, the result is the default.
    pub(super) fn field<T: Default>(
        &self,
        name: &'static str,
        cursor: &mut Cursor<'a>,
        read: impl FnOnce(&mut Cursor<'a>) -> CursorResult<T>,
    ) -> CursorResult<T> {
        match self.keys.find(name) {
            Some(at) => cursor.within(name, |cursor| cursor.revisit(at, read)),
            None => Ok(T::default()),
        }
    }
}

impl<'a> BlobLabel<'a> {
    fn read(key: &JsonKey<'a>, cursor: &mut Cursor<'a>) -> CursorResult<Self> {
        let found = cursor.kind()?;
        let at = cursor.at();
        if found == JsonKind::String {
            let text = cursor.decoded()?;
            return Ok(Self::Text(PlacedText { at, text }));
        }
        cursor.skip()?;
        let key = key.decode();
        Ok(Self::Other { key, at, found })
    }

    /// The text; empty if there is none.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => &text.text,
            Self::Absent | Self::Other { .. } => "",
        }
    }

    /// Returns the text, or an empty text if the label is absent. A value that is not a string is a
    /// fault.
    pub(super) fn string(self, cursor: &Cursor<'a>) -> CursorResult<Cow<'a, str>> {
        match self {
            Self::Text(text) => Ok(text.text),
            Self::Absent => Ok(Cow::Borrowed("")),
            Self::Other { key, at, found } => {
                let key = key.as_ref().into();
                cursor.malformed_at(at, FbcErrorKind::NotAString { key, found })
            }
        }
    }
}

impl<'a> PlacedText<'a> {
    /// Reads a string and records its position. Null is empty; another type is a fault.
    pub(super) fn read(cursor: &mut Cursor<'a>) -> CursorResult<Self> {
        let at = cursor.start()?;
        let text = cursor.text()?;
        Ok(Self { at, text })
    }
}

// === The path of a blob in operator-controller's cache ===
//
// The cache joins package, schema and name into a path, as Go's `filepath.Join` does. So names with
// `/` or `..` are filed elsewhere, perhaps in the directory of another package or outside the
// cache. Names that cannot name a file make the whole catalog unreadable.
//
// Upstream: operator-controller, [`internal/operator-controller/catalogmetadata/cache/cache.go`],
// `writeFS`. Not mirrored: a file at a path where another blob needs a directory.
//
// [`internal/operator-controller/catalogmetadata/cache/cache.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/catalogmetadata/cache/cache.go

/// Path that a blob is filed under; an owned [`BlobKey`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FiledKey<'a> {
    pub(crate) package: Cow<'a, str>,
    pub(crate) schema: Cow<'a, str>,
    pub(crate) name: Cow<'a, str>,
}

/// Files a blob. Returns `None` if the blob is in no package's directory, so that OLM never reads
/// it.
///
/// For an `olm.package`, `package` is the blob's own name.
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
    let keys = [("package", &package), ("schema", &schema), ("name", &name)];
    let is_simple = keys.iter().all(|(_, text)| is_simple(text));
    let path = (!is_simple).then(|| format!("{package}/{schema}/{name}.json"));
    let path = path.as_deref().map(CleanPath::of);
    for (what, text) in keys {
        check(what, text, path.as_ref())?;
    }
    if let Some(path) = path {
        return Ok(path.key());
    }
    let filed = FiledKey {
        package,
        schema,
        name,
    };
    Ok(filed.is_in_folder().then_some(filed))
}

impl FiledKey<'_> {
    /// Returns the key, borrowed.
    pub fn key(&self) -> BlobKey<'_> {
        BlobKey {
            package: &self.package,
            schema: &self.schema,
            name: &self.name,
        }
    }

    fn is_in_folder(&self) -> bool {
        !self.package.is_empty() || !self.schema.is_empty()
    }
}

/// Whether a text is at most one element of a path.
fn is_simple(text: &str) -> bool {
    !text.contains('/') && text != "." && text != ".."
}

/// Checks the elements of a key, as far as they are in the path.
fn check(what: &'static str, text: &str, path: Option<&CleanPath<'_>>) -> Result<(), FbcErrorKind> {
    let suffix = if what == "name" { ".json" } else { "" };
    let (folders, last) = text.rsplit_once('/').unwrap_or(("", text));
    let folders = folders.split('/').map(|folder| (folder, folder.len()));
    let mut elements = folders.chain([(last, last.len() + suffix.len())]);
    let reason = elements.find_map(|(element, bytes)| {
        let reason = if element.contains('\0') {
            "it contains a NUL byte"
        } else if bytes > NAME_MAX {
            "it is too long for a file name"
        } else {
            return None;
        };
        path.is_none_or(|path| path.has(element)).then_some(reason)
    });
    let Some(reason) = reason else { return Ok(()) };
    let name = text.chars().take(SHOWN).collect::<String>().into();
    Err(FbcErrorKind::Unfilable { what, name, reason })
}

/// The path of a blob with unusual names, as `filepath.Join` cleans it.
struct CleanPath<'p> {
    /// The elements without empty ones, `.`, and those that `..` removes.
    elements: Vec<&'p str>,
    is_in_cache: bool,
}

impl<'p> CleanPath<'p> {
    fn of(path: &'p str) -> Self {
        let (mut elements, mut is_in_cache) = (Vec::new(), true);
        for element in path.split('/') {
            match element {
                "" | "." => {}
                ".." => is_in_cache &= elements.pop().is_some(),
                other => elements.push(other),
            }
        }
        Self {
            elements,
            is_in_cache,
        }
    }

    /// Whether an element of a key is in the path, perhaps with the extension of the file.
    fn has(&self, element: &str) -> bool {
        let mut rests = self
            .elements
            .iter()
            .filter_map(|own| own.strip_prefix(element));
        rests.any(|rest| matches!(rest, "" | ".json"))
    }

    /// Derives package, schema and name.
    fn key(&self) -> Option<FiledKey<'static>> {
        let (name, folders) = self.elements.split_last().filter(|_| self.is_in_cache)?;
        let name = name.strip_suffix(".json")?.to_owned();
        let (package, schema) = match folders.split_first() {
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
}

/// Maximum length of a file name on Linux, in bytes.
const NAME_MAX: usize = 255;

/// Maximum number of characters of a name in an error.
const SHOWN: usize = 64;

// === The keys of one blob, and whether two of them are spellings of the same key ===
//
// Upstream folds with golang.org/x/text, `cases.Fold`. This is full Unicode case folding, so `ß`
// and `ss` are the same key.

/// The keys of a blob in the order of reading, each with the start of its value.
#[derive(Debug, Default)]
pub(super) struct Keys<'a>(pub(super) Vec<(Cow<'a, str>, usize)>);

impl Keys<'_> {
    /// Memory per key without its text: a place in the list, and, if there are many keys, one in
    /// the map of spellings with a set of its own.
    pub(super) const ROOM: usize = 3 * size_of::<(Cow<'_, str>, usize)>()
        + 3 * size_of::<(String, BTreeSet<&str>)>()
        + allocated(11 * size_of::<&str>() + 16);

    /// Start of the value of a field. If several keys match, the last one counts.
    fn find(&self, field: &str) -> Option<usize> {
        let mut keys = self.0.iter().rev();
        keys.find_map(|(key, at)| fold_of(key, field).map(|_| *at))
    }

    /// Whether the blob has this key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(own, _)| own == key)
    }

    /// Returns the first fault, if keys differ only in case.
    pub(super) fn duplicate(&self) -> Option<FbcErrorKind> {
        self.duplicates().into_iter().next()
    }

    /// Returns a fault for each key with several spellings. Equal keys are not a fault, because the
    /// last one counts.
    pub(super) fn duplicates(&self) -> Vec<FbcErrorKind> {
        if self.are_plainly_distinct() {
            return Vec::new();
        }
        let mut spellings = BTreeMap::<String, BTreeSet<&str>>::new();
        for (key, _) in &self.0 {
            let folded = UniCase::unicode(key.as_ref()).to_folded_case();
            spellings.entry(folded).or_default().insert(key);
        }
        let several = spellings.into_iter().filter(|(_, keys)| keys.len() > 1);
        let fault = |(folded, keys): (String, BTreeSet<&str>)| FbcErrorKind::DuplicateKeys {
            folded: folded.into(),
            spellings: keys.into_iter().map(Box::from).collect(),
        };
        several.map(fault).collect()
    }

    /// A quick test for the few ASCII keys that a blob usually has.
    fn are_plainly_distinct(&self) -> bool {
        let few = self.0.len() <= FEW;
        let distinct = |(n, (key, _)): (usize, &(Cow<'_, str>, usize))| {
            let earlier = self.0.iter().take(n);
            key.is_ascii()
                && !earlier
                    .into_iter()
                    .any(|(other, _)| key.eq_ignore_ascii_case(other))
        };
        few && self.0.iter().enumerate().all(distinct)
    }
}

/// Maximum number of keys that are compared pairwise.
const FEW: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_element_of_a_name_has_an_extension() {
        let is_filed = |name: String| file("p".into(), "s".into(), name.into()).is_ok();
        let long = |bytes| "x".repeat(bytes);
        assert!(is_filed(long(250)) && !is_filed(long(251)));
        assert!(is_filed(format!("{}/x", long(255))) && !is_filed(format!("{}/x", long(256))));
        assert!(is_filed(format!("x/{}", long(250))) && !is_filed(format!("x/{}", long(251))));
    }

    #[test]
    fn an_element_that_is_cleaned_away_can_have_any_length() {
        let long = "x".repeat(300);
        let of_name = |name: String| file("p".into(), "s".into(), name.into());
        let filed = of_name(format!("{long}\0/../a")).expect("the path is p/s/a.json");
        assert_eq!(filed.expect("it is in the cache").key().name, "a");
        for path in [format!("a/../{long}"), format!("../../../{long}")] {
            let fault = of_name(path.clone()).expect_err("the path is too long");
            let start = format!("name \"{}", &path[..9]);
            assert!(fault.to_string().starts_with(&start), "{fault}");
        }
    }
}
