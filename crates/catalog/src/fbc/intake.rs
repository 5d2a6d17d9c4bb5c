//! Intake of the blobs of a file: how a blob is read, who receives it, where it is filed, and whether a fault ends
//! reading.
//!
//! There is one way to read files and two readers of blobs. The index of a catalog takes what
//! decides ([`Decisive`]) and stops where upstream would; `lint` takes what is written
//! ([`raw`](super::raw)), with its place, and goes on.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use unicase::UniCase;

use crate::blob::{BlobFault, BlobKey, Fault, Position, Sink};
use crate::fbc::error::{FbcError, FbcErrorKind, NotAFile};
use crate::fbc::json::{Cursor, CursorResult};
use crate::fbc::meta;
use crate::fbc::meta::{BlobInCatalog, FiledBlob};
use crate::fbc::reader::Places;
use crate::fbc::yaml::YamlMarks;
use crate::heap::allocated;
use crate::memory::Account;

/// Takes the blobs of files, in order.
pub trait Intake {
    /// Result of reading a blob, perhaps on another core.
    type Blob<'a>: Send;

    /// Whether places within blobs are wanted: it costs a little.
    const PLACES: Places;

    /// Reads one blob. It may be called again for a blob that was not there as a whole.
    fn read<'a>(cursor: &mut Cursor<'a>) -> CursorResult<Self::Blob<'a>>;

    /// Takes one blob.
    fn take(&mut self, blob: Self::Blob<'_>, place: &BlobPlace<'_>);

    /// The account that reading is counted in; one without a bound unless there is one.
    fn memory(&self) -> Account {
        Account::default()
    }

    /// Takes a fault; `text` is what is known of the file from `origin` on.
    ///
    /// # Errors
    /// The fault, where reading must stop at it.
    fn fault(
        &mut self,
        file: &str,
        fault: FbcError,
        origin: TextOrigin,
        text: &[u8],
    ) -> Result<(), FbcError>;

    /// Takes what stands in a folder and is no file.
    ///
    /// # Errors
    /// The same, where reading must stop at it.
    fn not_a_file(&mut self, _path: &str, fault: NotAFile) -> Result<(), NotAFile> {
        Err(fault)
    }
}

/// Amount of a file that comes before some text of it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TextOrigin {
    /// Bytes of the file.
    pub bytes: u64,
    /// Whole lines, counted only where places are wanted.
    pub lines: u64,
    /// Bytes of the line that the text begins in.
    pub column: u64,
}

/// Place of a blob.
#[derive(Debug)]
pub struct BlobPlace<'a> {
    /// Path of the file below the root of the catalog.
    pub file: &'a str,
    /// Beginning of the blob, as faults report it.
    pub position: Position,
    /// Beginning of `text`.
    pub origin: TextOrigin,
    /// The blob as it is written, with blanks before it.
    pub text: &'a [u8],
    /// For YAML: where the parts of its JSON stand.
    pub marks: Option<&'a YamlMarks>,
}

impl BlobPlace<'_> {
    /// The fault of the blob that stands here and is filed so.
    pub fn blame(&self, filed: &FiledKey<'_>, fault: Fault) -> BlobFault {
        BlobFault {
            file: self.file.into(),
            position: self.position,
            package: filed.key().folder().into(),
            schema: filed.schema.as_ref().into(),
            name: filed.name.as_ref().into(),
            fault,
        }
    }
}

/// Takes what of each blob decides, for a [`Sink`]; stops at the first fault.
pub struct Decisive<'s>(pub &'s mut dyn Sink);

impl fmt::Debug for Decisive<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Decisive").finish_non_exhaustive()
    }
}

impl Intake for Decisive<'_> {
    type Blob<'a> = BlobInCatalog<'a>;

    const PLACES: Places = Places::Unwanted;

    fn read<'a>(cursor: &mut Cursor<'a>) -> CursorResult<Self::Blob<'a>> {
        meta::read(cursor)
    }

    fn take(&mut self, blob: Self::Blob<'_>, place: &BlobPlace<'_>) {
        match blob {
            BlobInCatalog::Null => {}
            BlobInCatalog::Unfiled(object) => self.0.unfiled(object),
            BlobInCatalog::Blob(FiledBlob { filed, content }) => {
                let content = content.map_err(|fault| place.blame(&filed, fault));
                self.0.blob(filed.key(), content);
            }
        }
    }

    fn memory(&self) -> Account {
        self.0.memory()
    }

    fn fault(&mut self, _: &str, fault: FbcError, _: TextOrigin, _: &[u8]) -> Result<(), FbcError> {
        Err(fault)
    }
}

// The file of operator-controller's cache in which a blob ends up.
//
// The cache joins package, schema and name into a path, as Go's `filepath.Join` does. Names with
// `/` or `..` in them therefore end up elsewhere, perhaps in another package's folder or outside
// the cache; names that cannot name a file make the whole catalog unreadable.
//
// Upstream: operator-controller, [`internal/operator-controller/catalogmetadata/cache/cache.go`],
// `writeFS`. Not followed: a file where another blob needs a folder.
//
// [`internal/operator-controller/catalogmetadata/cache/cache.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/catalogmetadata/cache/cache.go

/// Path under which a blob is filed; the owner of a [`BlobKey`].
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
    /// The key that borrows from it.
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

/// Limit of bytes in the name of a file on Linux.
const NAME_MAX: usize = 255;

/// Characters of a name that an error shows.
const SHOWN: usize = 64;

// The keys of one blob, and whether two of them are spellings of one.
//
// Upstream folds with golang.org/x/text, `cases.Fold`: full Unicode case folding, so `ß` and
// `ss` are one key.

/// The keys of a blob, in the order read.
#[derive(Debug, Default)]
pub(super) struct Keys<'a>(Vec<Cow<'a, str>>);

impl<'a> Keys<'a> {
    /// Memory of one key without its text: a place in the list, and if there are many keys, one in the map
    /// of spellings with a set of its own.
    pub(super) const ROOM: usize = 3 * size_of::<Cow<'_, str>>()
        + 3 * size_of::<(String, BTreeSet<&str>)>()
        + allocated(11 * size_of::<&str>() + 16);

    pub(super) fn insert(&mut self, key: Cow<'a, str>) {
        self.0.push(key);
    }

    /// Whether this is one of them.
    pub(super) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|own| own == key)
    }

    /// The first fault, if keys differ in case only.
    pub(super) fn duplicate(&self) -> Option<FbcErrorKind> {
        self.duplicates().into_iter().next()
    }

    /// A fault for each key of which there are several spellings. Equal keys are none: the last one counts.
    pub(super) fn duplicates(&self) -> Vec<FbcErrorKind> {
        if self.are_plainly_distinct() {
            return Vec::new();
        }
        let mut spellings = BTreeMap::<String, BTreeSet<&str>>::new();
        for key in &self.0 {
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

    /// A quick answer for the few ASCII keys that a blob usually has.
    fn are_plainly_distinct(&self) -> bool {
        let few = self.0.len() <= FEW;
        let distinct = |(n, key): (usize, &Cow<'_, str>)| {
            let earlier = self.0.iter().take(n);
            key.is_ascii()
                && !earlier
                    .into_iter()
                    .any(|other| key.eq_ignore_ascii_case(other))
        };
        few && self.0.iter().enumerate().all(distinct)
    }
}

/// Up to this many keys are compared each with each.
const FEW: usize = 16;
