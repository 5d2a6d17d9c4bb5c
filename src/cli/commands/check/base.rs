//! `--base`: the objects before the change, and the earlier state of each new object.
//!
//! ```text
//! REV --revision--> files \
//!                          +--> BaseObjects, what could not be read --past--> Past of each new object
//! PATH --manifest--> files /                                    '-------> what was removed
//! ```
//!
//! Objects are matched by kind and name, wherever they are. The objects of a revision are looked up in the paths of
//! `-f` first, and then in the files that the work tree no longer has. So a directory can be renamed, including the
//! directory of `-f`.

mod objects;
mod selection;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use memchr::memmem;
use objects::{BaseObjects, Key, ParsedFiles};
use selection::select;

use crate::cli::commands::BadInput;
use crate::cli::commands::check::ahead::InputsAhead;
use crate::cli::commands::check::cases::CasePlace;
use crate::manifest::{Input, Inputs, ManifestObject, placeholder};
use crate::revision::Revision;
use olmguard_engine::extension::Extension;

pub(super) use objects::{Ancestor, ParsedObject, is_review};
pub(super) use selection::BaseError;

/// The state before the change.
#[derive(Debug)]
pub(super) struct Base {
    source: BaseSource,
    objects: BaseObjects,
    /// The objects of files that the work tree no longer has, once they are looked up.
    gone: Option<BaseObjects>,
    /// The objects that the inputs contain, or may contain.
    there: HashSet<Key>,
    lost: LostObjects,
}

/// The place that a base is read from.
#[derive(Debug)]
pub(super) enum BaseSource {
    /// A file or a directory, as written by the user.
    Path(String),
    Revision {
        /// The name of the revision, as written by the user.
        name: String,
        revision: Revision,
        /// The inputs of `-f`, each as a path from the root of the work tree.
        paths: Vec<PathBuf>,
        /// The inputs, as written by the user, that the revision has and the work tree does not.
        emptied: Vec<String>,
    },
}

impl Base {
    /// Reads the base of this name for the paths of `-f`. Also returns what could not be read. For a revision, the
    /// inputs are read ahead.
    pub(super) fn read(
        name: &str,
        filenames: &[PathBuf],
        inputs: &mut InputsAhead<impl Iterator<Item = Input>>,
    ) -> Result<(Self, Vec<BadInput>), BaseError> {
        let source = select(name, filenames)?;
        let mut objects = BaseObjects::default();
        let errors = match &source {
            BaseSource::Path(path) => {
                let files = Inputs::of_files([PathBuf::from(path)]);
                objects.read(files.map(|file| (file.path, file.bytes)))
            }
            BaseSource::Revision {
                revision, paths, ..
            } => {
                inputs.read_ahead();
                let files = revision.files(paths, inputs.contents());
                objects.read(files.map(|file| (file.path, file.bytes)))
            }
        };
        let (lost, errors): (Vec<_>, Vec<_>) = errors
            .into_iter()
            .partition(|one| one.problem.ends_with_its_file() && source.has_gone(&one.file));
        let errors = errors.into_iter().map(|one| source.told(one).1).collect();
        let lost = lost.into_iter().map(|one| source.told(one)).collect();
        let base = Self {
            objects,
            gone: None,
            there: HashSet::new(),
            lost: LostObjects {
                asked: lost,
                ..LostObjects::default()
            },
            source,
        };
        Ok((base, errors))
    }

    pub(super) fn source(&self) -> &BaseSource {
        &self.source
    }

    /// The earlier state of an object that is now in this file.
    pub(super) fn past(&mut self, file: &str, object: &ManifestObject) -> Past {
        self.there.insert(Key::of(object));
        match self.find(file, object) {
            Ok(Some(ancestor)) => Past::Found(EarlierState {
                is_same: ancestor.is_same(object),
                breaks: false,
                ancestor,
            }),
            Ok(None) => Past::Added,
            Err(doubt) => {
                if let PastDoubt::Unread(file) = &doubt {
                    self.lost.missed.insert(file.clone());
                }
                Past::Unknown(doubt.told(&self.source))
            }
        }
    }

    /// The parsed objects of an input, if a file of the base within the paths of `-f` has the same text.
    pub(super) fn take_parsed(&mut self, text: &[u8]) -> Option<Vec<ParsedObject>> {
        self.objects.parsed.take(text)
    }

    /// The removed files that could not be read and that may contain an object of an input. Call this after the last
    /// input.
    pub(super) fn settle(&mut self) -> Vec<BadInput> {
        self.objects.parsed = ParsedFiles::default();
        self.lost.settle()
    }

    /// The removed files that could not be read and that no input can come from.
    pub(super) fn passed_over(&self) -> &[BadInput] {
        &self.lost.passed_over
    }

    fn find(
        &mut self,
        file: &str,
        object: &ManifestObject,
    ) -> Result<Option<Rc<Ancestor>>, PastDoubt> {
        match self.objects.find(file, object)? {
            None => self.gone().find(file, object),
            found => Ok(found),
        }
    }

    fn gone(&mut self) -> &BaseObjects {
        let (source, lost) = (&self.source, &mut self.lost);
        self.gone.get_or_insert_with(|| {
            let mut objects = BaseObjects::default();
            if let BaseSource::Revision {
                revision, paths, ..
            } = source
            {
                let files = revision.gone(paths).map(|file| (file.path, file.bytes));
                let errors = objects.read(files).into_iter();
                lost.elsewhere = errors.map(|one| source.told(one)).collect();
            }
            objects
        })
    }

    /// Marks objects as present that a partly unreadable input may contain.
    pub(super) fn spare(&mut self, bytes: &[u8]) {
        let lost = |key: &&Key| !self.there.contains(*key);
        let keys = self.objects.all().map(|one| &one.key).filter(lost);
        let is_any = may_name_any(bytes);
        let may_be_there = keys.filter(|key| is_any || key.may_be_in(bytes)).cloned();
        let may_be_there: Vec<_> = may_be_there.collect();
        self.there.extend(may_be_there);
    }

    /// Marks objects as present that were in a file of this name, because the input could not be read at all.
    pub(super) fn spare_file(&mut self, path: &str) {
        let name = |path: &str| Path::new(path).file_name().map(ToOwned::to_owned);
        let within = self
            .objects
            .all()
            .filter(|one| name(&one.place.file) == name(path));
        self.there.extend(within.map(|one| one.key.clone()));
    }

    /// The objects that the inputs no longer have, in the order of the base. Objects without a name are not included,
    /// because they cannot be recognized.
    pub(super) fn removed(&self) -> impl Iterator<Item = &Ancestor> {
        let is_named = |one: &&Rc<Ancestor>| one.key.name.is_some();
        let all = self.objects.all().filter(is_named);
        all.filter(|one| !self.there.contains(&one.key))
            .map(Rc::as_ref)
    }

    /// The earlier names of objects that may have been renamed. Call this after the last input.
    pub(super) fn renames(&self) -> Renames {
        Renames::of(self.removed())
    }
}

impl BaseSource {
    /// Whether the change removed everything in this input of `-f`.
    pub(super) fn is_emptied(&self, filename: &str) -> bool {
        match self {
            Self::Path(_) => false,
            Self::Revision { emptied, .. } => emptied.iter().any(|one| one == filename),
        }
    }

    /// Whether the work tree no longer has this file of the base. For a directory, this is unknown.
    fn has_gone(&self, file: &str) -> bool {
        match self {
            Self::Path(_) => false,
            Self::Revision { revision, .. } => revision.has_gone(file),
        }
    }

    /// The file of a bad input, and the input with the file name that users see.
    fn told(&self, one: BadInput) -> (String, BadInput) {
        let file = one.file.clone();
        match self {
            Self::Path(_) => (file, one),
            Self::Revision { .. } => {
                let shown = self.shown(&file);
                (file, one.in_revision(&shown))
            }
        }
    }

    /// The name of a file of the base that users see.
    pub(super) fn shown(&self, file: &str) -> String {
        match self {
            Self::Path(_) => file.to_owned(),
            Self::Revision { name, .. } => format!("{name}:{file}"),
        }
    }
}

/// The state of an object in the base.
#[derive(Debug)]
pub(crate) enum Past {
    /// No base is given, or the object contains its earlier state.
    NotAsked,
    /// The base does not have the object.
    Added,
    Found(EarlierState),
    /// The earlier state is unknown, with the reason.
    Unknown(String),
}

/// The earlier state of an object.
#[derive(Debug)]
pub(crate) struct EarlierState {
    pub(crate) ancestor: Rc<Ancestor>,
    /// Whether the object is unchanged, value for value.
    pub(crate) is_same: bool,
    /// Whether the CRD refuses the edit for a reason that it did not have before.
    pub(crate) breaks: bool,
}

/// The reason why the earlier state of an object is unknown.
#[derive(Debug)]
enum PastDoubt {
    /// The object may be in this file, which is partly unreadable.
    Unread(String),
    /// The base defines the object twice, with two specs.
    Twice(CasePlace, CasePlace),
}

impl Past {
    /// The earlier state, if it was found.
    pub(crate) fn found(&self) -> Option<&EarlierState> {
        match self {
            Self::Found(found) => Some(found),
            Self::NotAsked | Self::Added | Self::Unknown(_) => None,
        }
    }

    /// Whether the object is unchanged.
    pub(crate) fn is_same(&self) -> bool {
        self.found().is_some_and(|found| found.is_same)
    }
}

impl EarlierState {
    /// The earlier extension, if the edit may be an exempt update. An update that the CRD refuses is not exempt. If
    /// all extensions are judged, an extension whose request is unchanged is judged without its earlier state.
    pub(crate) fn old(&self, new: &Extension, all: bool) -> Option<Extension> {
        let old = self.ancestor.extension.as_ref()?;
        let filters = new.filter.as_ref().ok().zip(old.filter.as_ref().ok());
        let asks_the_same = filters.is_some_and(|(new, old)| new.asks_the_same_as(old));
        let is_judged_alone = self.breaks || (all && asks_the_same);
        let before = Some(self.ancestor.before()).filter(|_| !is_judged_alone);
        before?.old(new)
    }
}

impl PastDoubt {
    fn told(&self, source: &BaseSource) -> String {
        match self {
            Self::Unread(file) => format!("{} cannot be read completely", source.shown(file)),
            Self::Twice(one, other) => format!(
                "it is defined twice, at {} and at {}",
                source.shown(&one.to_string()),
                source.shown(&other.to_string()),
            ),
        }
    }
}

/// Files of a revision that the work tree no longer has and that cannot be read.
///
/// If no object of such a file is missed, there is nothing to compare, so users who remove a broken file see no error
/// about it. If an extension may come from the file, its earlier state is unknown. The file then counts as an input
/// that could not be read.
#[derive(Debug, Default)]
struct LostObjects {
    /// The files within the inputs of `-f`, each with its name in the revision.
    asked: Vec<(String, BadInput)>,
    elsewhere: Vec<(String, BadInput)>,
    missed: HashSet<String>,
    passed_over: Vec<BadInput>,
}

impl LostObjects {
    /// The files that an extension may come from. The other files are passed over; files outside the inputs are not
    /// even listed. Call this after the last input.
    fn settle(&mut self) -> Vec<BadInput> {
        let mut missed = Vec::new();
        for (file, one) in self.asked.drain(..) {
            if self.missed.contains(&file) {
                missed.push(one);
            } else {
                self.passed_over.push(one);
            }
        }
        let elsewhere = self.elsewhere.drain(..);
        let elsewhere = elsewhere.filter(|(file, _)| self.missed.contains(file));
        missed.extend(elsewhere.map(|(_, one)| one));
        missed
    }
}

/// The name of the removed extension for each package that was requested; `None` if several extensions requested it.
#[derive(Debug, Default)]
pub(crate) struct Renames(HashMap<String, Option<String>>);

impl Renames {
    fn of<'a>(removed: impl Iterator<Item = &'a Ancestor>) -> Self {
        let mut names = HashMap::new();
        for one in removed {
            let Some(filter) = one.filter() else { continue };
            match names.entry(filter.package.clone()) {
                Entry::Vacant(first) => drop(first.insert(one.name().map(str::to_owned))),
                Entry::Occupied(mut several) => drop(several.insert(None)),
            }
        }
        Self(names)
    }

    /// The name of the only removed extension that requested this package.
    pub(crate) fn only(&self, package: &str) -> Option<&str> {
        self.0.get(package)?.as_deref()
    }
}

// === What a text that is not a readable manifest may contain ===

/// Whether a text is about extensions, or may be because it uses escapes.
fn is_about_extensions(text: &[u8]) -> bool {
    let mut words = WORDS.iter();
    words.any(|word| memmem::find(text, word.as_bytes()).is_some()) || spells(text)
}

/// Whether a text contains a name as a whole word, or may contain it because it uses escapes.
fn may_name(text: &[u8], name: &[u8]) -> bool {
    let is_whole = |at: usize| {
        let after = text.get(at + name.len());
        let around = [before(text, at), after.copied()];
        !around.into_iter().flatten().any(is_of_name)
    };
    memmem::find_iter(text, name).any(is_whole) || spells(text)
}

/// Whether a template sets the name, or all metadata, of an extension in a text. The name is then unknown.
fn may_name_any(text: &[u8]) -> bool {
    let is_later = |key: &[u8], at: usize| {
        let is_longer = |byte| is_of_name(byte) || byte == b'/';
        let rest = text.get(at + key.len()..).unwrap_or_default();
        !before(text, at).is_some_and(is_longer) && is_rendered_later(rest)
    };
    let mut keys = [&b"name"[..], b"metadata"].into_iter();
    is_about_extensions(text)
        && keys.any(|key| memmem::find_iter(text, key).any(|at| is_later(key, at)))
}

/// Whether the text after a key has a template as its value.
fn is_rendered_later(rest: &[u8]) -> bool {
    let rest = rest.get(..LONGEST).unwrap_or(rest);
    let quote = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'"));
    let rest = quote.unwrap_or(rest).trim_ascii_start();
    let Some(value) = rest.strip_prefix(b":") else {
        return false;
    };
    let line = value.split(|byte| *byte == b'\n').next();
    let line = line.unwrap_or_default();
    if line.trim_ascii().is_empty() {
        return value.trim_ascii_start().starts_with(b"{{");
    }
    let text = std::str::from_utf8(line).unwrap_or_default();
    memmem::find(line, b"{{").is_some() || placeholder(text).is_some()
}

fn before(text: &[u8], at: usize) -> Option<u8> {
    at.checked_sub(1).and_then(|at| text.get(at)).copied()
}

/// Whether a byte can be part of a name.
fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_')
}

/// Whether a text has an escape that encodes a letter, or that splits a word across two lines.
fn spells(text: &[u8]) -> bool {
    let mut escapes = memchr::memchr_iter(b'\\', text);
    let letter = |at: usize| text.get(at + 1).copied();
    escapes.any(|at| matches!(letter(at), Some(b'x' | b'u' | b'U' | b'\r' | b'\n')))
}

/// The kind of every extension contains one of these words.
const WORDS: [&str; 2] = ["ClusterExtension", "Operator"];

/// The number of bytes after a key that are searched. It exceeds the length of any name.
const LONGEST: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_rendered_later_may_be_any() {
        for (metadata, expected) in [
            ("metadata:\n  name: {{ .Release.Name }}", true),
            ("metadata:\n  name: tower-{{ .Values.stage }}", true),
            (
                "metadata: {labels: {}, \"name\" : \"{{ .Values.name }}\"}",
                true,
            ),
            ("metadata:\n  name:\n    {{ .Release.Name }}", true),
            ("metadata:\n  {{- include \"meta\" . | nindent 2 }}", true),
            ("metadata:\n  name: tower-${STAGE}", true),
            ("metadata:\n  name: <your-name>", true),
            (
                "metadata:\n  name: tower\n  labels: {{ .Values.labels }}",
                false,
            ),
            ("metadata:\n  name: tower\n{{- if .Values.on }}", false),
            (
                "metadata:\n  name: tower\n  labels: {a/name: {{ .Release.Name }}}",
                false,
            ),
            (
                "metadata:\n  name: tower\nspec: {packageName: {{ .Values.package }}}",
                false,
            ),
            (
                "metadata:\n  name: tower\nspec: {hostname: {{ .Values.host }}}",
                false,
            ),
        ] {
            let text = |kind: &str| format!("kind: {kind}\n{metadata}\n").into_bytes();
            assert_eq!(
                may_name_any(&text("ClusterExtension")),
                expected,
                "{metadata}"
            );
            assert!(!may_name_any(&text("Service")), "{metadata}");
        }
    }
}
