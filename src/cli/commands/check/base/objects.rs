//! The extensions of a base, and the files of it that could not be read.
//!
//! A base keeps the parsed objects of each file, so an input with the same text is not parsed again. Most files do not
//! change, and parsing is most of the work for both sides.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use serde_json::Value;

use crate::cli::commands::check::base::{PastDoubt, is_about_extensions, may_name, may_name_any};
use crate::cli::commands::check::cases::{CasePlace, deciding_field};
use crate::cli::commands::{BadInput, InputProblem};
use crate::facts::given::{GivenObjects, unrendered};
use crate::manifest::{Document, DocumentErrorKind, ManifestObject, Positions, documents};
use olmguard_engine::extension::{Extension, Filter, RecognisedObject, recognise};
use olmguard_engine::judge::EarlierObject;
use olmguard_preflight::content::NeededObject;

/// The extensions of files of a base.
#[derive(Debug, Default)]
pub(super) struct BaseObjects {
    all: Vec<Rc<Ancestor>>,
    by_key: HashMap<Key, Vec<Rc<Ancestor>>>,
    /// Extensions without a name, the first of each value.
    nameless: HashMap<Value, Rc<Ancestor>>,
    unread: Vec<UnreadFile>,
    /// The size of the unread files that are kept, in bytes.
    kept: usize,
    pub(super) parsed: ParsedFiles,
}

/// A file that is partly unreadable.
#[derive(Debug)]
struct UnreadFile {
    file: String,
    /// The content; `None` if it could not be read, or if there is no room for it. The file may then have any
    /// extension.
    bytes: Option<Vec<u8>>,
    /// Whether the file may have an extension of any name.
    is_any: bool,
}

impl BaseObjects {
    /// Reads the extensions of these files, and returns what cannot be read. A file that is not about extensions is
    /// not parsed. A template is not an error.
    pub(super) fn read<E: Into<InputProblem>>(
        &mut self,
        files: impl Iterator<Item = (String, Result<Vec<u8>, E>)>,
    ) -> Vec<BadInput> {
        let mut errors = Vec::new();
        for (file, bytes) in files {
            match bytes {
                Ok(bytes) if is_about_extensions(&bytes) => self.file(file, bytes, &mut errors),
                Ok(_) => {}
                Err(error) => {
                    errors.push(BadInput::new(&file, error.into()));
                    self.unread.push(UnreadFile {
                        file,
                        bytes: None,
                        is_any: true,
                    });
                }
            }
        }
        errors
    }

    fn file(&mut self, file: String, bytes: Vec<u8>, errors: &mut Vec<BadInput>) {
        let has_room = self.parsed.has_room(bytes.len());
        let (mut is_whole, mut parsed) = (true, Vec::new());
        for document in documents(&bytes) {
            match document {
                Ok(document) => {
                    let objects = self.document(&file, document, &mut is_whole);
                    parsed.extend(objects.into_iter().filter(|_| has_room));
                }
                Err(error) => {
                    is_whole = false;
                    if !matches!(error.kind, DocumentErrorKind::Template { .. }) {
                        errors.push(BadInput::new(&file, InputProblem::Document(error)));
                    }
                }
            }
        }
        if !is_whole {
            self.unread(file, bytes);
        } else if has_room {
            self.parsed.keep(bytes, parsed);
        }
    }

    /// Adds the objects of a document. An object that a tool has yet to render makes the file incomplete.
    fn document(
        &mut self,
        file: &str,
        document: Document,
        is_whole: &mut bool,
    ) -> Vec<ParsedObject> {
        let (mut objects, positions) = document.into_objects();
        let positions = Rc::new(positions);
        let all = objects.len();
        objects.retain(|object| unrendered(object).is_none());
        *is_whole &= objects.len() == all;
        let objects = objects.into_iter();
        objects
            .map(|object| self.object(file, object, &positions))
            .collect()
    }

    fn unread(&mut self, file: String, bytes: Vec<u8>) {
        let is_any = may_name_any(&bytes);
        let bytes = self.keep(bytes);
        self.unread.push(UnreadFile {
            file,
            bytes,
            is_any,
        });
    }

    fn keep(&mut self, bytes: Vec<u8>) -> Option<Vec<u8>> {
        let kept = self.kept + bytes.len();
        let has_room = kept <= MOST_KEPT;
        if has_room {
            self.kept = kept;
        }
        has_room.then_some(bytes)
    }

    /// Adds an object, if it is an extension.
    fn object(
        &mut self,
        file: &str,
        object: ManifestObject,
        positions: &Rc<Positions>,
    ) -> ParsedObject {
        let extension = match recognise(&object.value) {
            RecognisedObject::Other if !is_read_whole(&object) => {
                return ParsedObject::OtherKind(NeededObject::of_manifest(&object.value));
            }
            RecognisedObject::Other => {
                return ParsedObject::Whole(Rc::new(object), Rc::clone(positions));
            }
            RecognisedObject::UnknownVersion => None,
            RecognisedObject::Extension(shape) => Some(Extension::read(shape, &object.value)),
        };
        let object = Rc::new(object);
        self.add(Ancestor::new(
            file,
            Rc::clone(&object),
            positions,
            extension,
        ));
        ParsedObject::Whole(object, Rc::clone(positions))
    }

    fn add(&mut self, ancestor: Ancestor) {
        let ancestor = Rc::new(ancestor);
        self.all.push(Rc::clone(&ancestor));
        if ancestor.key.name.is_none() {
            let value = ancestor.value().clone();
            self.nameless.entry(value).or_insert(ancestor);
        } else {
            let key = ancestor.key.clone();
            self.by_key.entry(key).or_default().push(ancestor);
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Rc<Ancestor>> {
        self.all.iter()
    }

    /// The earlier state of an object that is now in this file. An object without a name is recognized only if it is
    /// unchanged.
    pub(super) fn find(
        &self,
        file: &str,
        object: &ManifestObject,
    ) -> Result<Option<Rc<Ancestor>>, PastDoubt> {
        let key = Key::of(object);
        if key.name.is_none() {
            return Ok(self.nameless.get(&object.value).map(Rc::clone));
        }
        let found = self.by_key.get(&key).map_or(&[][..], Vec::as_slice);
        match likest(found, file).as_slice() {
            [] => self.not_unread(&key).map(|()| None),
            [only] => Ok(Some(Rc::clone(only))),
            [first, others @ ..] => match others.iter().find(|other| !first.asks_as(other)) {
                None => Ok(Some(Rc::clone(first))),
                Some(other) => Err(PastDoubt::Twice(first.place.clone(), other.place.clone())),
            },
        }
    }

    fn not_unread(&self, key: &Key) -> Result<(), PastDoubt> {
        let may_hold = |unread: &&UnreadFile| {
            let bytes = unread.bytes.as_deref();
            unread.is_any || bytes.is_none_or(|bytes| key.may_be_in(bytes))
        };
        match self.unread.iter().find(may_hold) {
            None => Ok(()),
            Some(unread) => Err(PastDoubt::Unread(unread.file.clone())),
        }
    }
}

/// The extensions, of several with one name, whose paths have the longest common end with this file.
fn likest<'a>(found: &'a [Rc<Ancestor>], file: &str) -> Vec<&'a Rc<Ancestor>> {
    let alike = |one: &Rc<Ancestor>| {
        let parts = |path| Path::new(path).components().rev();
        let both = parts(file).zip(parts(&one.place.file));
        both.take_while(|(new, old)| new == old).count()
    };
    let most = found.iter().map(alike).max();
    let found = found.iter();
    found.filter(|one| Some(alike(one)) == most).collect()
}

/// The maximum size of the unreadable files that are kept, in bytes: the size of the largest manifest.
const MOST_KEPT: usize = 32 << 20;

/// The earlier state of an extension.
#[derive(Debug)]
pub(crate) struct Ancestor {
    pub(super) key: Key,
    pub(crate) place: CasePlace,
    /// The whole object. An input with the same text shares it.
    object: Rc<ManifestObject>,
    /// The extension; `None` if its `apiVersion` is unknown.
    pub(crate) extension: Option<Extension>,
}

/// The identity of an object, before the change and after it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Key {
    pub(crate) kind: String,
    pub(crate) name: Option<String>,
}

impl Ancestor {
    pub(super) fn new(
        file: &str,
        object: Rc<ManifestObject>,
        positions: &Positions,
        extension: Option<Extension>,
    ) -> Self {
        Self {
            key: Key::of(&object),
            place: place(file, &object, positions, extension.as_ref()),
            object,
            extension,
        }
    }

    pub(crate) fn kind(&self) -> &str {
        &self.key.kind
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.key.name.as_deref()
    }

    pub(super) fn value(&self) -> &Value {
        &self.object.value
    }

    /// Whether an object is the same, value for value.
    pub(super) fn is_same(&self, object: &ManifestObject) -> bool {
        std::ptr::eq(Rc::as_ptr(&self.object), object) || *self.value() == object.value
    }

    pub(crate) fn before(&self) -> EarlierObject<'_> {
        EarlierObject {
            value: self.value(),
            extension: self.extension.as_ref(),
        }
    }

    /// Whether another extension has the same spec.
    pub(super) fn asks_as(&self, other: &Self) -> bool {
        self.value().get("spec") == other.value().get("spec")
    }

    /// The filter, if it can be read.
    pub(crate) fn filter(&self) -> Option<&Filter> {
        self.extension.as_ref()?.filter.as_ref().ok()
    }
}

impl Key {
    pub(super) fn of(object: &ManifestObject) -> Self {
        Self {
            kind: object.kind.clone(),
            name: object.name.clone(),
        }
    }

    /// Whether a text may contain an object of this name.
    pub(super) fn may_be_in(&self, text: &[u8]) -> bool {
        may_name(text, self.name.as_deref().unwrap_or_default().as_bytes())
    }
}

/// The location of an extension in a file: its deciding field, if its version is known.
fn place(
    file: &str,
    object: &ManifestObject,
    positions: &Positions,
    extension: Option<&Extension>,
) -> CasePlace {
    let path = extension.map(|extension| deciding_field(extension, &object.value, &[]));
    CasePlace {
        file: file.to_owned(),
        document: object.document,
        at: object.position(positions, &path.unwrap_or_default()),
    }
}

/// Whether an object that is not an extension is read, and not only counted.
fn is_read_whole(object: &ManifestObject) -> bool {
    GivenObjects::has_kind_of(object) || is_review(object)
}

pub(in crate::cli::commands::check) fn is_review(object: &ManifestObject) -> bool {
    object.kind == "AdmissionReview" && object.api_version.starts_with("admission.k8s.io/")
}

/// An object, reduced to what an input with the same text needs. Most objects are of other kinds, and keeping all of
/// them takes about as long as parsing them again.
#[derive(Debug)]
pub(in crate::cli::commands::check) enum ParsedObject {
    /// An object that is only counted, with what it provides to an installation.
    OtherKind(Option<NeededObject>),
    /// The object, and the positions in its document.
    Whole(Rc<ManifestObject>, Rc<Positions>),
}

/// The objects of texts, kept until an input takes them.
#[derive(Debug, Default)]
pub(super) struct ParsedFiles {
    by_text: HashMap<Vec<u8>, Vec<ParsedObject>>,
    /// The size of the texts in bytes, including texts that were taken.
    kept: usize,
}

impl ParsedFiles {
    /// Whether there is room for a text of this many bytes.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        self.kept.saturating_add(bytes) <= MOST_TEXT
    }

    /// Keeps the objects of a text. The text must have been read completely.
    pub(super) fn keep(&mut self, text: Vec<u8>, objects: Vec<ParsedObject>) {
        self.kept += text.len();
        self.by_text.insert(text, objects);
    }

    /// Returns the objects of a text to the first caller.
    pub(super) fn take(&mut self, text: &[u8]) -> Option<Vec<ParsedObject>> {
        self.by_text.remove(text)
    }
}

/// The maximum size of the texts whose objects are kept, in bytes. It fits thousands of manifests. Parsed objects use
/// about ten times as much memory.
const MOST_TEXT: usize = 2 << 20;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_is_taken_once() {
        let mut files = ParsedFiles::default();
        files.keep(b"a".to_vec(), Vec::new());
        assert!(files.take(b"b").is_none());
        assert!(files.take(b"a").is_some());
        assert!(files.take(b"a").is_none());
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut files = ParsedFiles::default();
        assert!(files.has_room(MOST_TEXT) && !files.has_room(MOST_TEXT + 1));
        files.keep(vec![b'a'; MOST_TEXT], Vec::new());
        assert!(!files.has_room(1));
    }

    /// A broken file of this length that contains an extension of this name.
    fn broken(name: &str, bytes: usize) -> Vec<u8> {
        let mut text = format!("kind: ClusterExtension\nmetadata: {{name: {name}\n#").into_bytes();
        text.resize(bytes.max(text.len()), b'-');
        text
    }

    fn read(files: Vec<(&str, Vec<u8>)>) -> BaseObjects {
        let mut objects = BaseObjects::default();
        let files = files.into_iter();
        let errors = objects
            .read(files.map(|(file, bytes)| (file.to_owned(), Ok::<_, InputProblem>(bytes))));
        assert_eq!(errors.len(), objects.unread.len());
        objects
    }

    /// Whether an extension of this name is found, or the file because of which this is unknown.
    fn find(objects: &BaseObjects, name: &str) -> Result<bool, String> {
        let text = json!({
            "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
            "metadata": {"name": name},
        });
        let text = text.to_string();
        let document = documents(text.as_bytes()).next().expect("a document");
        let (list, _) = document.expect("JSON").into_objects();
        match objects.find("new.yaml", &list[0]) {
            Ok(found) => Ok(found.is_some()),
            Err(PastDoubt::Unread(file)) => Err(file),
            Err(PastDoubt::Twice(one, _)) => panic!("{one}: twice"),
        }
    }

    #[test]
    fn a_broken_file_leaves_open_what_it_names() {
        let objects = read(vec![("a.yaml", broken("a", 0)), ("b.yaml", broken("b", 0))]);
        let unread = |file: &str| Err(file.to_owned());
        assert_eq!(find(&objects, "a"), unread("a.yaml"));
        assert_eq!(find(&objects, "b"), unread("b.yaml"));
        assert_eq!(find(&objects, "c"), Ok(false));
    }

    #[test]
    fn past_a_bound_broken_files_are_not_kept_and_leave_everything_open() {
        let third = MOST_KEPT / 3 + 1;
        let files = ["a.yaml", "b.yaml", "c.yaml", "d.yaml"];
        let mut objects = read(files.map(|file| (file, broken("a", third))).to_vec());
        assert_eq!(objects.kept, 2 * third);
        assert_eq!(find(&objects, "other"), Err("c.yaml".to_owned()));
        assert_eq!(
            objects.keep(vec![0; 1024]).map(|kept| kept.len()),
            Some(1024)
        );
    }
}
