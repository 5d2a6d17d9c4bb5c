//! `--base`: the objects as they were, and which of them each new one comes from.
//!
//! ```text
//! REV --revision--> files \
//!                          +--> Objects, what could not be read --past--> Past of each new object
//! PATH --manifest--> files /                                    '-------> what was removed
//! ```
//!
//! Objects are matched by kind and name, wherever they stand. Those of a revision are looked for in
//! the paths that `-f` names, and then among the files that the work tree does not have any more: so a
//! folder may be renamed, that of `-f` too.

mod asked;
mod objects;
mod past;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use self::asked::Asked;
pub(super) use self::asked::BaseError;
pub(super) use self::objects::Ancestor;
use self::objects::{Key, Objects};
use self::past::Doubt;
pub(super) use self::past::{Found, Past};

use crate::cli::check::bad::BadInput;
use crate::manifest::{Inputs, ManifestObject};
use crate::revision::Revision;

/// What there was before.
#[derive(Debug)]
pub(super) struct Base {
    source: Source,
    objects: Objects,
    /// The objects of files that are gone from the work tree, once they were looked for.
    gone: Option<Objects>,
    /// What the inputs have, or may have.
    there: HashSet<Key>,
}

/// Where it is read from.
#[derive(Debug)]
pub(super) enum Source {
    /// A file or a folder, as the user writes it.
    Path(String),
    Revision {
        /// As the user writes it.
        name: String,
        revision: Revision,
        /// What `-f` names, each as the way from the root of the work tree.
        paths: Vec<PathBuf>,
    },
}

impl Base {
    /// Reads the base of this name for what `-f` names, and what of it cannot be read.
    pub(super) fn read(
        name: &str,
        filenames: &[PathBuf],
    ) -> Result<(Self, Vec<BadInput>), BaseError> {
        let source = match Asked::of(name, filenames)? {
            Asked::Path => Source::Path(name.to_owned()),
            Asked::Revision(revision, paths) => Source::Revision {
                name: name.to_owned(),
                revision,
                paths,
            },
        };
        let mut objects = Objects::default();
        let errors = match &source {
            Source::Path(path) => {
                let files = Inputs::new([PathBuf::from(path)], io::empty());
                objects.read(files.map(|file| (file.path, file.bytes)))
            }
            Source::Revision {
                revision, paths, ..
            } => objects.read(revision.files(paths).map(|file| (file.path, file.bytes))),
        };
        let errors = errors.into_iter();
        let errors = errors.map(|error| error.in_file(|file| source.shown(file)));
        let errors = errors.collect();
        let base = Self {
            source,
            objects,
            gone: None,
            there: HashSet::new(),
        };
        Ok((base, errors))
    }

    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    /// What became of which object to make this one, which stands in this file.
    pub(super) fn past(&mut self, file: &str, object: &ManifestObject) -> Past {
        self.there.insert(Key::of(object));
        match self.find(file, object) {
            Ok(Some(ancestor)) => Past::Found(Found {
                is_same: ancestor.value == object.value,
                breaks: false,
                ancestor,
            }),
            Ok(None) => Past::Added,
            Err(doubt) => Past::Unknown(doubt.told(&self.source)),
        }
    }

    fn find(&mut self, file: &str, object: &ManifestObject) -> Result<Option<Rc<Ancestor>>, Doubt> {
        match self.objects.find(file, object)? {
            None => self.gone().find(file, object),
            found => Ok(found),
        }
    }

    /// What of them cannot be read is of no concern where nothing of it may be meant.
    fn gone(&mut self) -> &Objects {
        let source = &self.source;
        self.gone.get_or_insert_with(|| {
            let mut objects = Objects::default();
            if let Source::Revision {
                revision, paths, ..
            } = source
            {
                drop(objects.read(revision.gone(paths).map(|file| (file.path, file.bytes))));
            }
            objects
        })
    }

    /// Counts the objects as there that an input may hold, of which a part could not be read.
    pub(super) fn spare(&mut self, bytes: &[u8]) {
        let lost = |key: &&Key| !self.there.contains(*key);
        let keys = self.objects.keys().filter(lost);
        let may_be_there = keys.filter(|key| key.may_be_in(bytes)).cloned();
        let may_be_there: Vec<_> = may_be_there.collect();
        self.there.extend(may_be_there);
    }

    /// The same for an input that could not be read at all: a file with this name.
    pub(super) fn spare_file(&mut self, path: &str) {
        let name = |path: &str| Path::new(path).file_name().map(ToOwned::to_owned);
        let within = self
            .objects
            .all()
            .filter(|one| name(&one.place.file) == name(path));
        self.there.extend(within.map(|one| one.key.clone()));
    }

    /// The objects that the inputs do not have any more, in the order of the base. One without a name is
    /// none of them: no one can tell.
    pub(super) fn removed(&self) -> impl Iterator<Item = &Ancestor> {
        let is_named = |one: &&Rc<Ancestor>| one.key.name.is_some();
        let all = self.objects.all().filter(is_named);
        all.filter(|one| !self.there.contains(&one.key))
            .map(Rc::as_ref)
    }
}

impl Source {
    /// A file of it as people are shown it.
    pub(super) fn shown(&self, file: &str) -> String {
        match self {
            Self::Path(_) => file.to_owned(),
            Self::Revision { name, .. } => format!("{name}:{file}"),
        }
    }
}
