//! The extensions of a base, and what could not be read of it.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::rc::Rc;

use serde_json::Value;

use super::ancestor::{Ancestor, Key};
use super::parsed::{ParsedFiles, ParsedObject};
use super::past::Doubt;
use super::texts::{is_about_extensions, may_name_any};
use crate::cli::commands::check::bad::{BadInput, Problem};
use crate::cli::commands::check::inputs::is_read_whole;
use crate::facts::given::unrendered;
use crate::manifest::{Document, DocumentErrorKind, ManifestObject, Positions, documents};
use olmguard_engine::extension::{Extension, RecognisedObject, recognise};

/// The extensions of some files.
#[derive(Debug, Default)]
pub(super) struct Objects {
    all: Vec<Rc<Ancestor>>,
    by_key: HashMap<Key, Vec<Rc<Ancestor>>>,
    /// Those without a name, of each value the first.
    nameless: HashSet<ByValue>,
    unread: Vec<UnreadFile>,
    /// How many bytes of those are kept.
    kept: usize,
    parsed: ParsedFiles,
}

/// One that is known again by all that it is.
#[derive(Debug)]
struct ByValue(Rc<Ancestor>);

/// A file of which a part could not be read.
#[derive(Debug)]
struct UnreadFile {
    file: String,
    /// Its content; none where nothing of it could be read, or there is no room for it: it may hold
    /// anything then.
    bytes: Option<Vec<u8>>,
    /// Whether it may hold one of any name.
    is_any: bool,
}

impl Objects {
    /// Reads the extensions of these files, and says what cannot be read. A file that is about none is
    /// not looked at any further, and a template is no error.
    pub(super) fn read<E: Into<Problem>>(
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
                        errors.push(BadInput::new(&file, Problem::Document(error)));
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

    /// An object that a tool makes a manifest of was whatever the tool made of it.
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

    /// The objects of a file of this text, if one was read.
    pub(super) fn take_parsed(&mut self, text: &[u8]) -> Option<Vec<ParsedObject>> {
        self.parsed.take(text)
    }

    /// Once there are no more inputs.
    pub(super) fn forget_parsed(&mut self) {
        self.parsed = ParsedFiles::default();
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
            RecognisedObject::Other if !is_read_whole(&object) => return ParsedObject::OtherKind,
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
            self.nameless.insert(ByValue(ancestor));
        } else {
            let key = ancestor.key.clone();
            self.by_key.entry(key).or_default().push(ancestor);
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Rc<Ancestor>> {
        self.all.iter()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.all.iter().map(|one| &one.key)
    }

    /// The one that this object, which now stands in this file, was before. One without a name is known
    /// again only where nothing of it has changed.
    pub(super) fn find(
        &self,
        file: &str,
        object: &ManifestObject,
    ) -> Result<Option<Rc<Ancestor>>, Doubt> {
        let key = Key::of(object);
        if key.name.is_none() {
            let same = self.nameless.get(&object.value);
            return Ok(same.map(|one| Rc::clone(&one.0)));
        }
        let found = self.by_key.get(&key).map_or(&[][..], Vec::as_slice);
        match likest(found, file).as_slice() {
            [] => self.not_unread(&key).map(|()| None),
            [only] => Ok(Some(Rc::clone(only))),
            [first, others @ ..] => match others.iter().find(|other| !first.asks_as(other)) {
                None => Ok(Some(Rc::clone(first))),
                Some(other) => Err(Doubt::Twice(first.place.clone(), other.place.clone())),
            },
        }
    }

    fn not_unread(&self, key: &Key) -> Result<(), Doubt> {
        let may_hold = |unread: &&UnreadFile| {
            let bytes = unread.bytes.as_deref();
            unread.is_any || bytes.is_none_or(|bytes| key.may_be_in(bytes))
        };
        match self.unread.iter().find(may_hold) {
            None => Ok(()),
            Some(unread) => Err(Doubt::Unread(unread.file.clone())),
        }
    }
}

impl Borrow<Value> for ByValue {
    fn borrow(&self) -> &Value {
        self.0.value()
    }
}

impl Hash for ByValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.value().hash(state);
    }
}

impl PartialEq for ByValue {
    fn eq(&self, other: &Self) -> bool {
        self.0.value() == other.0.value()
    }
}

impl Eq for ByValue {}

/// Of several in one name those whose path ends most like this one.
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

/// The most bytes that are kept of files that cannot be read: those of the largest manifest.
const MOST_KEPT: usize = 32 << 20;

#[cfg(test)]
mod tests;
