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

mod ancestor;
mod asked;
mod lost;
mod objects;
mod parsed;
mod past;
mod renames;
mod texts;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub(super) use self::ancestor::Ancestor;
use self::ancestor::Key;
pub(super) use self::asked::BaseError;
use self::asked::BaseSelection;
use self::lost::LostObjects;
use self::objects::Objects;
pub(super) use self::parsed::ParsedObject;
use self::past::Doubt;
pub(super) use self::past::{EarlierState, Past};
pub(super) use self::renames::Renames;
use self::texts::may_name_any;

use crate::cli::commands::check::ahead::InputsAhead;
use crate::cli::commands::check::bad::BadInput;
use crate::manifest::{Input, Inputs, ManifestObject};
use crate::revision::Revision;

/// What there was before.
#[derive(Debug)]
pub(super) struct Base {
    source: BaseSource,
    objects: Objects,
    /// The objects of files that are gone from the work tree, once they were looked for.
    gone: Option<Objects>,
    /// What the inputs have, or may have.
    there: HashSet<Key>,
    lost: LostObjects,
}

/// Where it is read from.
#[derive(Debug)]
pub(super) enum BaseSource {
    /// A file or a folder, as the user writes it.
    Path(String),
    Revision {
        /// As the user writes it.
        name: String,
        revision: Revision,
        /// What `-f` names, each as the way from the root of the work tree.
        paths: Vec<PathBuf>,
        /// Those of them, as the user writes them, that were there and are there no more.
        emptied: Vec<String>,
    },
}

impl Base {
    /// Reads the base of this name for what `-f` names, and what of it cannot be read. For a revision the inputs
    /// are read ahead.
    pub(super) fn read(
        name: &str,
        filenames: &[PathBuf],
        inputs: &mut InputsAhead<impl Iterator<Item = Input>>,
    ) -> Result<(Self, Vec<BadInput>), BaseError> {
        let source = match BaseSelection::of(name, filenames)? {
            BaseSelection::Path => BaseSource::Path(name.to_owned()),
            BaseSelection::Revision(revision, named) => {
                let gone = named.iter().filter(|one| revision.is_emptied(&one.way));
                BaseSource::Revision {
                    name: name.to_owned(),
                    emptied: gone.map(|one| one.shown.clone()).collect(),
                    paths: named.into_iter().map(|one| one.way).collect(),
                    revision,
                }
            }
        };
        let mut objects = Objects::default();
        let errors = match &source {
            BaseSource::Path(path) => {
                let files = Inputs::new([PathBuf::from(path)], io::empty());
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
            lost: LostObjects::of(lost),
            source,
        };
        Ok((base, errors))
    }

    pub(super) fn source(&self) -> &BaseSource {
        &self.source
    }

    /// What became of which object to make this one, which stands in this file.
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
                if let Doubt::Unread(file) = &doubt {
                    self.lost.miss(file);
                }
                Past::Unknown(doubt.told(&self.source))
            }
        }
    }

    /// The objects of an input, if a file that was within what `-f` names has the same text.
    pub(super) fn take_parsed(&mut self, text: &[u8]) -> Option<Vec<ParsedObject>> {
        self.objects.take_parsed(text)
    }

    /// Once all is asked for: what could not be read of files that are gone, and is missed.
    pub(super) fn settle(&mut self) -> Vec<BadInput> {
        self.objects.forget_parsed();
        self.lost.settle()
    }

    /// The same of what nobody misses.
    pub(super) fn passed_over(&self) -> &[BadInput] {
        self.lost.passed_over()
    }

    fn find(&mut self, file: &str, object: &ManifestObject) -> Result<Option<Rc<Ancestor>>, Doubt> {
        match self.objects.find(file, object)? {
            None => self.gone().find(file, object),
            found => Ok(found),
        }
    }

    fn gone(&mut self) -> &Objects {
        let (source, lost) = (&self.source, &mut self.lost);
        self.gone.get_or_insert_with(|| {
            let mut objects = Objects::default();
            if let BaseSource::Revision {
                revision, paths, ..
            } = source
            {
                let files = revision.gone(paths).map(|file| (file.path, file.bytes));
                let errors = objects.read(files).into_iter();
                lost.add_elsewhere(errors.map(|one| source.told(one)).collect());
            }
            objects
        })
    }

    /// Counts the objects as there that an input may hold, of which a part could not be read.
    pub(super) fn spare(&mut self, bytes: &[u8]) {
        let lost = |key: &&Key| !self.there.contains(*key);
        let keys = self.objects.keys().filter(lost);
        let is_any = may_name_any(bytes);
        let may_be_there = keys.filter(|key| is_any || key.may_be_in(bytes)).cloned();
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

    /// What each of those was called, once all inputs are read.
    pub(super) fn renames(&self) -> Renames {
        Renames::of(self.removed())
    }
}

impl BaseSource {
    /// Whether all that `-f` names so was taken away.
    pub(super) fn is_emptied(&self, filename: &str) -> bool {
        match self {
            Self::Path(_) => false,
            Self::Revision { emptied, .. } => emptied.iter().any(|one| one == filename),
        }
    }

    /// Whether this file of it is there no more; of a folder nobody can tell.
    fn has_gone(&self, file: &str) -> bool {
        match self {
            Self::Path(_) => false,
            Self::Revision { revision, .. } => revision.has_gone(file),
        }
    }

    /// What is wrong with a file of it as people are told, beside the file.
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

    /// A file of it as people are shown it.
    pub(super) fn shown(&self, file: &str) -> String {
        match self {
            Self::Path(_) => file.to_owned(),
            Self::Revision { name, .. } => format!("{name}:{file}"),
        }
    }
}
